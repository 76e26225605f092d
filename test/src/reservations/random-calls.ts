/** Random bodies for each call of the catalogue whose body names a model. */
import fc, { type Arbitrary } from 'fast-check';
import { complete, hostedMessages, messages, messagesInput } from './anthropic-bodies.js';
import { type Body, merged } from './arbitraries.js';
import {
  audioCompletions,
  chatCompletions,
  completions,
  editsForm,
  editsJson,
  embeddings,
  generations,
  hearing,
  hostedResponses,
  moderations,
  responses,
  responsesInput,
  searchCompletions,
  speech,
  variations,
  videos,
} from './openai-bodies.js';
import { TRANSCRIPTION } from './vendor-limits.js';

interface CallBodies {
  readonly vendor: 'openai' | 'anthropic';
  readonly path: string;
  readonly as: 'json' | 'form';
  readonly bodies: Arbitrary<Body>;
}

const openai = (path: string, as: CallBodies['as'], bodies: Arbitrary<Body>): CallBodies => ({
  vendor: 'openai',
  path,
  as,
  bodies,
});
const anthropic = (path: string, bodies: Arbitrary<Body>): CallBodies => ({
  vendor: 'anthropic',
  path,
  as: 'json',
  bodies,
});

/** Every call of the catalogue whose body names a model. */
export const RANDOM_CALLS: readonly CallBodies[] = [
  openai(
    '/v1/chat/completions',
    'json',
    fc.oneof(
      { weight: 4, arbitrary: chatCompletions },
      { weight: 1, arbitrary: fc.oneof(audioCompletions, searchCompletions) },
    ),
  ),
  openai(
    '/v1/responses',
    'json',
    fc.oneof({ weight: 4, arbitrary: responses }, { weight: 1, arbitrary: hostedResponses }),
  ),
  openai('/v1/responses/input_tokens', 'json', merged(responsesInput)),
  openai('/v1/responses/compact', 'json', merged(responsesInput)),
  openai('/v1/completions', 'json', completions),
  openai('/v1/embeddings', 'json', embeddings),
  openai('/v1/moderations', 'json', moderations),
  openai('/v1/images/generations', 'json', generations),
  openai('/v1/images/edits', 'json', editsJson),
  openai('/v1/images/edits', 'form', editsForm),
  openai('/v1/images/variations', 'form', variations),
  openai('/v1/audio/speech', 'json', speech),
  openai('/v1/audio/transcriptions', 'form', hearing('whisper-1', ...Object.keys(TRANSCRIPTION))),
  openai('/v1/audio/translations', 'form', hearing('whisper-1')),
  openai('/v1/videos', 'json', videos),
  openai('/v1/videos', 'form', videos),
  anthropic('/v1/messages', fc.oneof({ weight: 4, arbitrary: messages }, { weight: 1, arbitrary: hostedMessages })),
  anthropic('/v1/messages/count_tokens', merged(messagesInput)),
  anthropic('/v1/complete', complete),
];

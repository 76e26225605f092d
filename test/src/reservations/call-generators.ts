/** Random bodies for each call of the catalogue whose body names a model. */
import fc, { type Arbitrary } from 'fast-check';
import { complete, hostedMessages, messages, messagesInput } from './anthropic-body-generators.js';
import { type Body, mergedObjects } from './arbitraries.js';
import {
  audioCompletions,
  chatCompletions,
  completions,
  editsForm,
  editsJson,
  embeddings,
  generations,
  hostedResponses,
  moderations,
  responses,
  responsesInput,
  searchCompletions,
  speech,
  transcriptions,
  variations,
  videos,
} from './openai-body-generators.js';
import { TRANSCRIPTION } from './vendor-limits.js';

interface CallGenerator {
  readonly vendor: 'openai' | 'anthropic';
  readonly path: string;
  readonly encoding: 'json' | 'form';
  readonly bodies: Arbitrary<Body>;
}

const openai = (path: string, as: CallGenerator['encoding'], bodies: Arbitrary<Body>): CallGenerator => ({
  vendor: 'openai',
  path,
  encoding: as,
  bodies,
});
const anthropic = (path: string, bodies: Arbitrary<Body>): CallGenerator => ({
  vendor: 'anthropic',
  path,
  encoding: 'json',
  bodies,
});

/** Every call of the catalogue whose body names a model. */
export const CALL_GENERATORS: readonly CallGenerator[] = [
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
  openai('/v1/responses/input_tokens', 'json', mergedObjects(responsesInput)),
  openai('/v1/responses/compact', 'json', mergedObjects(responsesInput)),
  openai('/v1/completions', 'json', completions),
  openai('/v1/embeddings', 'json', embeddings),
  openai('/v1/moderations', 'json', moderations),
  openai('/v1/images/generations', 'json', generations),
  openai('/v1/images/edits', 'json', editsJson),
  openai('/v1/images/edits', 'form', editsForm),
  openai('/v1/images/variations', 'form', variations),
  openai('/v1/audio/speech', 'json', speech),
  openai('/v1/audio/transcriptions', 'form', transcriptions('whisper-1', ...Object.keys(TRANSCRIPTION))),
  openai('/v1/audio/translations', 'form', transcriptions('whisper-1')),
  openai('/v1/videos', 'json', videos),
  openai('/v1/videos', 'form', videos),
  anthropic('/v1/messages', fc.oneof({ weight: 4, arbitrary: messages }, { weight: 1, arbitrary: hostedMessages })),
  anthropic('/v1/messages/count_tokens', mergedObjects(messagesInput)),
  anthropic('/v1/complete', complete),
];

/** Random bodies of OpenAI's priced calls: what multiplies a price is frequent in them. */
import fc, { type Arbitrary } from 'fast-check';
import {
  address,
  type Body,
  base64,
  id,
  merged,
  of,
  optional,
  pages,
  picture,
  repeated,
  sized,
  smallPicture,
  some,
  text,
  tokenIds,
  tokensMax,
} from './arbitraries.js';
import { flac, wav } from './sample-files.js';
import {
  ANSWERS,
  DRAWING,
  EMBEDDINGS,
  OPENAI_AUDIO_CHAT,
  OPENAI_CHAT,
  OPENAI_COMPLETIONS,
  OPENAI_SEARCH_CHAT,
  SPEECH,
} from './vendor-limits.js';

const detail = optional({ detail: of('low', 'high', 'auto') });
const pictureAddress = fc.oneof(
  picture.map((file) => `data:image/png;base64,${base64(file)}`),
  address,
);
const pdfData = pages.map((file) => `data:application/pdf;base64,${base64(file)}`);
const chatFile = fc.oneof(
  id('file-').map((file_id) => ({ file_id })),
  pdfData.map((file_data) => ({ file_data, filename: 'a.pdf' })),
);
const chatPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  fc.tuple(pictureAddress, detail).map(([url, more]) => ({ type: 'image_url', image_url: { url, ...more } })),
  chatFile.map((file) => ({ type: 'file', file })),
);
const audioPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  of(1, 3).map((seconds) => ({ type: 'input_audio', input_audio: { data: base64(wav(seconds)), format: 'wav' } })),
);
const functionTool: Arbitrary<object> = fc
  .record({ name: id('tool_'), description: text })
  .map((tool) => ({ type: 'function', function: { ...tool, parameters: { type: 'object', properties: {} } } }));
const openAiTier = optional({ service_tier: of('auto', 'default', 'flex', 'priority', 'fast', 'ultrafast') });

const userMessage = (part: Arbitrary<object>): Arbitrary<object> =>
  fc.oneof(text, repeated(part, 8)).map((content) => ({ role: 'user', content }));
export const chatCompletions: Arbitrary<Body> = merged(
  sized(OPENAI_CHAT).map((model) => ({ model })),
  some(
    fc.oneof(
      userMessage(chatPart),
      text.map((content) => ({ role: 'developer', content })),
    ),
  ).map((messages) => ({
    messages,
  })),
  fc.oneof(
    tokensMax(4_000).map((max_completion_tokens) => ({ max_completion_tokens })),
    tokensMax(4_000).map((max_tokens) => ({ max_tokens })),
    fc.constant({}),
  ),
  optional({ n: fc.integer({ min: 1, max: ANSWERS.chatMax }), tools: some(functionTool), stream: fc.boolean() }),
  openAiTier,
);
export const audioCompletions: Arbitrary<Body> = merged(
  sized(OPENAI_AUDIO_CHAT).map((model) => ({
    model,
    modalities: ['text', 'audio'],
    audio: { voice: 'a', format: 'mp3' },
  })),
  some(
    fc.oneof(
      userMessage(audioPart),
      id('audio_').map((audio) => ({ role: 'assistant', audio: { id: audio } })),
    ),
  ).map((messages) => ({ messages })),
  tokensMax(4_000).map((max_completion_tokens) => ({ max_completion_tokens })),
);

export const searchCompletions: Arbitrary<Body> = merged(
  sized(OPENAI_SEARCH_CHAT).map((model) => ({ model, web_search_options: {} })),
  text.map((content) => ({ messages: [{ role: 'user', content }] })),
  tokensMax(4_000).map((max_tokens) => ({ max_tokens })),
);

const inputPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'input_text', text: value })),
  fc.tuple(pictureAddress, detail).map(([image_url, more]) => ({ type: 'input_image', image_url, ...more })),
  id('file-').map((file_id) => ({ type: 'input_image', file_id, detail: 'auto' })),
  fc.oneof(
    id('file-').map((file_id) => ({ type: 'input_file', file_id })),
    address.map((file_url) => ({ type: 'input_file', file_url })),
    pdfData.map((file_data) => ({ type: 'input_file', filename: 'a.pdf', file_data })),
  ),
);
const plainItem: Arbitrary<object> = text.map((content) => ({ role: 'user', content }));
const inputItem: Arbitrary<object> = fc.oneof(
  { weight: 3, arbitrary: plainItem },
  { weight: 2, arbitrary: repeated(inputPart, 8).map((content) => ({ role: 'user', content })) },
  {
    weight: 2,
    arbitrary: fc
      .oneof(text, repeated(inputPart, 4))
      .map((output) => ({ type: 'function_call_output', call_id: 'call_1', output })),
  },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        pictureAddress.map((image_url) => ({ type: 'computer_screenshot', image_url })),
        id('file-').map((file_id) => ({ type: 'computer_screenshot', file_id })),
      )
      .map((output) => ({ type: 'computer_call_output', call_id: 'call_2', output })),
  },
  { weight: 1, arbitrary: id('msg_').map((item) => ({ type: 'item_reference', id: item })) },
  { weight: 1, arbitrary: id('rs_').map((item) => ({ type: 'reasoning', id: item, summary: [] })) },
);
const storedPrompt = fc.oneof(
  id('pmpt_').map((prompt) => ({ prompt: { id: prompt } })),
  text.map((value) => ({ prompt: { id: 'pmpt_1', version: '2', variables: { a: value } } })),
);
export const responsesInput: Arbitrary<object> = merged(
  sized(OPENAI_CHAT).map((model) => ({ model })),
  fc.oneof(text, some(inputItem)).map((input) => ({ input })),
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: id('resp_').map((previous_response_id) => ({ previous_response_id })) },
  ),
  optional({ instructions: text }),
);
export const responses: Arbitrary<Body> = merged(
  responsesInput,
  optional({ max_output_tokens: tokensMax(8_000), stream: fc.boolean(), store: fc.boolean() }),
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: storedPrompt },
    { weight: 1, arbitrary: id('conv_').map((conversation) => ({ conversation })) },
    { weight: 1, arbitrary: id('conv_').map((conversation) => ({ conversation: { id: conversation } })) },
  ),
  optional({ tools: some(text.map((description) => ({ type: 'function', name: 'f', description, parameters: {} }))) }),
  openAiTier,
);

const hostedTool: Arbitrary<object> = fc.oneof(
  fc.constant({ type: 'web_search' }),
  fc.constant({ type: 'file_search', vector_store_ids: ['vs_1'] }),
  of('1g', '4g', '64g').map((memory_limit) => ({
    type: 'code_interpreter',
    container: { type: 'auto', memory_limit },
  })),
  of('image_generation', 'mcp').map((type) => ({ type })),
);
export const hostedResponses: Arbitrary<Body> = merged(
  responsesInput,
  tokensMax(8_000).map((max_output_tokens) => ({ max_output_tokens })),
  fc.oneof(
    { weight: 4, arbitrary: some(hostedTool, 2).map((tools) => ({ tools })) },
    {
      weight: 1,
      arbitrary: of('gpt-6-luna', 'gpt-6.1-sol').map((model) => ({
        model,
        multi_agent: { enabled: true, max_concurrent_subagents: 1 },
      })),
    },
  ),
  optional({ max_tool_calls: fc.integer({ min: 1, max: 20 }) }),
  openAiTier,
);

export const completions: Arbitrary<Body> = merged(
  sized(OPENAI_COMPLETIONS).map((model) => ({ model })),
  fc
    .oneof(text, fc.array(text, { minLength: 1, maxLength: 60 }), tokenIds, some(tokenIds, 20))
    .map((prompt) => ({ prompt })),
  optional({ max_tokens: tokensMax(4_000), echo: fc.boolean(), suffix: text }),
  fc.integer({ min: 1, max: ANSWERS.bestOfMax }).chain((best_of) =>
    fc.oneof(
      fc.constant({}),
      fc.constant({ n: best_of }),
      fc.integer({ min: 1, max: best_of }).map((n) => ({ n, best_of })),
    ),
  ),
);

export const embeddings: Arbitrary<Body> = merged(
  of(...EMBEDDINGS.models).map((model) => ({ model })),
  fc
    .oneof(
      text,
      fc.array(text, { minLength: 1, maxLength: 100 }),
      tokenIds,
      some(tokenIds, 60),
      fc.integer({ min: 2, max: EMBEDDINGS.inputsMax }).map((count) => Array(count).fill('one two three')),
    )
    .map((input) => ({ input })),
);

const drawings: Arbitrary<object> = merged(
  fc.oneof(
    merged(
      of(...Object.keys(DRAWING.tokensPerImage)).map((model) => ({ model, quality: 'high' })),
      optional({ size: of('1024x1024', '1024x1536'), partial_images: fc.nat(DRAWING.partialImagesMax) }),
    ),
    merged(
      fc.constant({ model: 'gpt-image-2', quality: 'high' }),
      optional({ size: of('1024x1024', '2880x2880', '3840x2160'), partial_images: fc.nat(DRAWING.partialImagesMax) }),
    ),
    merged(fc.constant({ model: 'dall-e-2' }), optional({ size: of('256x256', '512x512', '1024x1024') })),
  ),
  text.map((prompt) => ({ prompt })),
  optional({ n: fc.integer({ min: 1, max: DRAWING.imagesMax }) }),
);
const dallE3: Arbitrary<Body> = merged(
  text.map((prompt) => ({ model: 'dall-e-3', prompt })),
  optional({ n: fc.constant(1), size: of('1024x1024', '1792x1024'), quality: of('standard', 'hd') }),
);
export const generations: Arbitrary<Body> = fc.oneof(merged(drawings), dallE3);
export const editsForm: Arbitrary<Body> = merged(
  drawings,
  fc
    .array(smallPicture, { minLength: 1, maxLength: 4 })
    .map((files) => Object.fromEntries(files.map((file, at) => [`image[${at}]`, file]))),
  optional({ mask: smallPicture }),
);
export const editsJson: Arbitrary<Body> = merged(
  drawings,
  fc
    .array(
      fc.oneof(
        id('file-').map((file_id) => ({ file_id })),
        pictureAddress.map((image_url) => ({ image_url })),
      ),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((images) => ({ images })),
);
export const variations: Arbitrary<Body> = merged(
  smallPicture.map((image) => ({ model: 'dall-e-2', image })),
  optional({ n: fc.integer({ min: 1, max: DRAWING.imagesMax }), size: of('256x256', '1024x1024') }),
);

export const speech: Arbitrary<Body> = merged(
  of('tts-1', 'tts-1-hd', 'gpt-4o-mini-tts').map((model) => ({ model, voice: 'alloy' })),
  fc.integer({ min: 1, max: Math.floor(SPEECH.charactersMax / 5) }).map((words) => ({ input: 'word '.repeat(words) })),
  optional({ response_format: of('mp3', 'wav', 'pcm') }),
);
export const hearing = (...models: string[]): Arbitrary<Body> =>
  merged(
    of(...models).map((model) => ({ model })),
    fc.oneof(
      of(1, 5).map((seconds) => ({ file: wav(seconds) })),
      of(1, 60, 3_600).map((seconds) => ({ file: flac(seconds) })),
    ),
  );
export const videos: Arbitrary<Body> = merged(
  of('sora-2', 'sora-2-pro').map((model) => ({ model })),
  text.map((prompt) => ({ prompt })),
  optional({ seconds: of('4', '8', '12'), size: of('1280x720', '1792x1024') }),
);
export const moderations: Arbitrary<Body> = merged(
  fc.constant({ model: 'omni-moderation-latest' }),
  fc.oneof(text, some(text)).map((input) => ({ input })),
);

/** Random bodies of OpenAI's priced calls. Fields that multiply the price are frequent in them. */
import fc, { type Arbitrary } from 'fast-check';
import {
  type Body,
  base64,
  imageUrl,
  maxTokens,
  mergedObjects,
  modelWithKnownLimits,
  nonEmptyArray,
  oneOf,
  optionalFields,
  pdfFile,
  pngFile,
  prefixedId,
  repeatedItem,
  smallPngFile,
  text,
  tokenIds,
} from './arbitraries.js';
import { createFlac, createWav } from './sample-files.js';
import {
  EMBEDDINGS,
  IMAGE_GENERATION,
  MAX_ANSWERS,
  OPENAI_AUDIO_CHAT,
  OPENAI_CHAT,
  OPENAI_COMPLETIONS,
  OPENAI_SEARCH_CHAT,
  SPEECH,
} from './vendor-limits.js';

const detail = optionalFields({ detail: oneOf('low', 'high', 'auto') });
const pictureAddress = fc.oneof(
  pngFile.map((file) => `data:image/png;base64,${base64(file)}`),
  imageUrl,
);
const pdfData = pdfFile.map((file) => `data:application/pdf;base64,${base64(file)}`);
const chatFile = fc.oneof(
  prefixedId('file-').map((file_id) => ({ file_id })),
  pdfData.map((file_data) => ({ file_data, filename: 'a.pdf' })),
);
const chatPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  fc.tuple(pictureAddress, detail).map(([url, more]) => ({ type: 'image_url', image_url: { url, ...more } })),
  chatFile.map((file) => ({ type: 'file', file })),
);
const audioPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  oneOf(1, 3).map((seconds) => ({
    type: 'input_audio',
    input_audio: { data: base64(createWav(seconds)), format: 'wav' },
  })),
);
const functionTool: Arbitrary<object> = fc
  .record({ name: prefixedId('tool_'), description: text })
  .map((tool) => ({ type: 'function', function: { ...tool, parameters: { type: 'object', properties: {} } } }));
const openAiTier = optionalFields({ service_tier: oneOf('auto', 'default', 'flex', 'priority', 'fast', 'ultrafast') });

const userMessage = (part: Arbitrary<object>): Arbitrary<object> =>
  fc.oneof(text, repeatedItem(part, 8)).map((content) => ({ role: 'user', content }));
export const chatCompletions: Arbitrary<Body> = mergedObjects(
  modelWithKnownLimits(OPENAI_CHAT).map((model) => ({ model })),
  nonEmptyArray(
    fc.oneof(
      userMessage(chatPart),
      text.map((content) => ({ role: 'developer', content })),
    ),
  ).map((messages) => ({
    messages,
  })),
  fc.oneof(
    maxTokens(4_000).map((max_completion_tokens) => ({ max_completion_tokens })),
    maxTokens(4_000).map((max_tokens) => ({ max_tokens })),
    fc.constant({}),
  ),
  optionalFields({
    n: fc.integer({ min: 1, max: MAX_ANSWERS.chatMax }),
    tools: nonEmptyArray(functionTool),
    stream: fc.boolean(),
  }),
  openAiTier,
);
export const audioCompletions: Arbitrary<Body> = mergedObjects(
  modelWithKnownLimits(OPENAI_AUDIO_CHAT).map((model) => ({
    model,
    modalities: ['text', 'audio'],
    audio: { voice: 'a', format: 'mp3' },
  })),
  nonEmptyArray(
    fc.oneof(
      userMessage(audioPart),
      prefixedId('audio_').map((audio) => ({ role: 'assistant', audio: { id: audio } })),
    ),
  ).map((messages) => ({ messages })),
  maxTokens(4_000).map((max_completion_tokens) => ({ max_completion_tokens })),
);

export const searchCompletions: Arbitrary<Body> = mergedObjects(
  modelWithKnownLimits(OPENAI_SEARCH_CHAT).map((model) => ({ model, web_search_options: {} })),
  text.map((content) => ({ messages: [{ role: 'user', content }] })),
  maxTokens(4_000).map((max_tokens) => ({ max_tokens })),
);

const inputPart: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'input_text', text: value })),
  fc.tuple(pictureAddress, detail).map(([image_url, more]) => ({ type: 'input_image', image_url, ...more })),
  prefixedId('file-').map((file_id) => ({ type: 'input_image', file_id, detail: 'auto' })),
  fc.oneof(
    prefixedId('file-').map((file_id) => ({ type: 'input_file', file_id })),
    imageUrl.map((file_url) => ({ type: 'input_file', file_url })),
    pdfData.map((file_data) => ({ type: 'input_file', filename: 'a.pdf', file_data })),
  ),
);
const plainItem: Arbitrary<object> = text.map((content) => ({ role: 'user', content }));
const inputItem: Arbitrary<object> = fc.oneof(
  { weight: 3, arbitrary: plainItem },
  { weight: 2, arbitrary: repeatedItem(inputPart, 8).map((content) => ({ role: 'user', content })) },
  {
    weight: 2,
    arbitrary: fc
      .oneof(text, repeatedItem(inputPart, 4))
      .map((output) => ({ type: 'function_call_output', call_id: 'call_1', output })),
  },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        pictureAddress.map((image_url) => ({ type: 'computer_screenshot', image_url })),
        prefixedId('file-').map((file_id) => ({ type: 'computer_screenshot', file_id })),
      )
      .map((output) => ({ type: 'computer_call_output', call_id: 'call_2', output })),
  },
  { weight: 1, arbitrary: prefixedId('msg_').map((item) => ({ type: 'item_reference', id: item })) },
  { weight: 1, arbitrary: prefixedId('rs_').map((item) => ({ type: 'reasoning', id: item, summary: [] })) },
);
const storedPrompt = fc.oneof(
  prefixedId('pmpt_').map((prompt) => ({ prompt: { id: prompt } })),
  text.map((value) => ({ prompt: { id: 'pmpt_1', version: '2', variables: { a: value } } })),
);
export const responsesInput: Arbitrary<object> = mergedObjects(
  modelWithKnownLimits(OPENAI_CHAT).map((model) => ({ model })),
  fc.oneof(text, nonEmptyArray(inputItem)).map((input) => ({ input })),
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: prefixedId('resp_').map((previous_response_id) => ({ previous_response_id })) },
  ),
  optionalFields({ instructions: text }),
);
export const responses: Arbitrary<Body> = mergedObjects(
  responsesInput,
  optionalFields({ max_output_tokens: maxTokens(8_000), stream: fc.boolean(), store: fc.boolean() }),
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: storedPrompt },
    { weight: 1, arbitrary: prefixedId('conv_').map((conversation) => ({ conversation })) },
    { weight: 1, arbitrary: prefixedId('conv_').map((conversation) => ({ conversation: { id: conversation } })) },
  ),
  optionalFields({
    tools: nonEmptyArray(text.map((description) => ({ type: 'function', name: 'f', description, parameters: {} }))),
  }),
  openAiTier,
);

const hostedTool: Arbitrary<object> = fc.oneof(
  fc.constant({ type: 'web_search' }),
  fc.constant({ type: 'file_search', vector_store_ids: ['vs_1'] }),
  oneOf('1g', '4g', '64g').map((memory_limit) => ({
    type: 'code_interpreter',
    container: { type: 'auto', memory_limit },
  })),
  oneOf('image_generation', 'mcp').map((type) => ({ type })),
);
export const hostedResponses: Arbitrary<Body> = mergedObjects(
  responsesInput,
  maxTokens(8_000).map((max_output_tokens) => ({ max_output_tokens })),
  fc.oneof(
    { weight: 4, arbitrary: nonEmptyArray(hostedTool, 2).map((tools) => ({ tools })) },
    {
      weight: 1,
      arbitrary: oneOf('gpt-6-luna', 'gpt-6.1-sol').map((model) => ({
        model,
        multi_agent: { enabled: true, max_concurrent_subagents: 1 },
      })),
    },
  ),
  optionalFields({ max_tool_calls: fc.integer({ min: 1, max: 20 }) }),
  openAiTier,
);

export const completions: Arbitrary<Body> = mergedObjects(
  modelWithKnownLimits(OPENAI_COMPLETIONS).map((model) => ({ model })),
  fc
    .oneof(text, fc.array(text, { minLength: 1, maxLength: 60 }), tokenIds, nonEmptyArray(tokenIds, 20))
    .map((prompt) => ({ prompt })),
  optionalFields({ max_tokens: maxTokens(4_000), echo: fc.boolean(), suffix: text }),
  fc.integer({ min: 1, max: MAX_ANSWERS.bestOfMax }).chain((best_of) =>
    fc.oneof(
      fc.constant({}),
      fc.constant({ n: best_of }),
      fc.integer({ min: 1, max: best_of }).map((n) => ({ n, best_of })),
    ),
  ),
);

export const embeddings: Arbitrary<Body> = mergedObjects(
  oneOf(...EMBEDDINGS.models).map((model) => ({ model })),
  fc
    .oneof(
      text,
      fc.array(text, { minLength: 1, maxLength: 100 }),
      tokenIds,
      nonEmptyArray(tokenIds, 60),
      fc.integer({ min: 2, max: EMBEDDINGS.inputsMax }).map((count) => Array(count).fill('one two three')),
    )
    .map((input) => ({ input })),
);

const imageSettings: Arbitrary<object> = mergedObjects(
  fc.oneof(
    mergedObjects(
      oneOf(...Object.keys(IMAGE_GENERATION.tokensPerImage)).map((model) => ({ model, quality: 'high' })),
      optionalFields({
        size: oneOf('1024x1024', '1024x1536'),
        partial_images: fc.nat(IMAGE_GENERATION.partialImagesMax),
      }),
    ),
    mergedObjects(
      fc.constant({ model: 'gpt-image-2', quality: 'high' }),
      optionalFields({
        size: oneOf('1024x1024', '2880x2880', '3840x2160'),
        partial_images: fc.nat(IMAGE_GENERATION.partialImagesMax),
      }),
    ),
    mergedObjects(
      fc.constant({ model: 'dall-e-2' }),
      optionalFields({ size: oneOf('256x256', '512x512', '1024x1024') }),
    ),
  ),
  text.map((prompt) => ({ prompt })),
  optionalFields({ n: fc.integer({ min: 1, max: IMAGE_GENERATION.imagesMax }) }),
);
const dallE3: Arbitrary<Body> = mergedObjects(
  text.map((prompt) => ({ model: 'dall-e-3', prompt })),
  optionalFields({ n: fc.constant(1), size: oneOf('1024x1024', '1792x1024'), quality: oneOf('standard', 'hd') }),
);
export const generations: Arbitrary<Body> = fc.oneof(mergedObjects(imageSettings), dallE3);
export const editsForm: Arbitrary<Body> = mergedObjects(
  imageSettings,
  fc
    .array(smallPngFile, { minLength: 1, maxLength: 4 })
    .map((files) => Object.fromEntries(files.map((file, at) => [`image[${at}]`, file]))),
  optionalFields({ mask: smallPngFile }),
);
export const editsJson: Arbitrary<Body> = mergedObjects(
  imageSettings,
  fc
    .array(
      fc.oneof(
        prefixedId('file-').map((file_id) => ({ file_id })),
        pictureAddress.map((image_url) => ({ image_url })),
      ),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((images) => ({ images })),
);
export const variations: Arbitrary<Body> = mergedObjects(
  smallPngFile.map((image) => ({ model: 'dall-e-2', image })),
  optionalFields({ n: fc.integer({ min: 1, max: IMAGE_GENERATION.imagesMax }), size: oneOf('256x256', '1024x1024') }),
);

export const speech: Arbitrary<Body> = mergedObjects(
  oneOf('tts-1', 'tts-1-hd', 'gpt-4o-mini-tts').map((model) => ({ model, voice: 'alloy' })),
  fc.integer({ min: 1, max: Math.floor(SPEECH.charactersMax / 5) }).map((words) => ({ input: 'word '.repeat(words) })),
  optionalFields({ response_format: oneOf('mp3', 'wav', 'pcm') }),
);
export const transcriptions = (...models: string[]): Arbitrary<Body> =>
  mergedObjects(
    oneOf(...models).map((model) => ({ model })),
    fc.oneof(
      oneOf(1, 5).map((seconds) => ({ file: createWav(seconds) })),
      oneOf(1, 60, 3_600).map((seconds) => ({ file: createFlac(seconds) })),
    ),
  );
export const videos: Arbitrary<Body> = mergedObjects(
  oneOf('sora-2', 'sora-2-pro').map((model) => ({ model })),
  text.map((prompt) => ({ prompt })),
  optionalFields({ seconds: oneOf('4', '8', '12'), size: oneOf('1280x720', '1792x1024') }),
);
export const moderations: Arbitrary<Body> = mergedObjects(
  fc.constant({ model: 'omni-moderation-latest' }),
  fc.oneof(text, nonEmptyArray(text)).map((input) => ({ input })),
);

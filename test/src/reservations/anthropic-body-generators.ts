/** Random bodies of Anthropic's priced calls. Fields that multiply the price are frequent in them. */
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
  prefixedId,
  repeatedItem,
  smallPngFile,
  text,
} from './arbitraries.js';
import { ANTHROPIC_COMPLETE, ANTHROPIC_MESSAGES } from './vendor-limits.js';

const cacheControl = optionalFields({ cache_control: oneOf({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }) });
const imageSource: Arbitrary<object> = fc.oneof(
  smallPngFile.map((file) => ({ type: 'base64', media_type: 'image/png', data: base64(file) })),
  imageUrl.map((url) => ({ type: 'url', url })),
  prefixedId('file_').map((file_id) => ({ type: 'file', file_id })),
);
const documentSource: Arbitrary<object> = fc.oneof(
  pdfFile.map((file) => ({ type: 'base64', media_type: 'application/pdf', data: base64(file) })),
  text.map((data) => ({ type: 'text', media_type: 'text/plain', data })),
  text.map((value) => ({ type: 'content', content: [{ type: 'text', text: value }] })),
  imageSource.map((source) => ({ type: 'content', content: [{ type: 'image', source }] })),
  imageUrl.map((url) => ({ type: 'url', url })),
  prefixedId('file_').map((file_id) => ({ type: 'file', file_id })),
);
const leafBlock: Arbitrary<object> = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  imageSource.map((source) => ({ type: 'image', source })),
  documentSource.map((source) => ({ type: 'document', source })),
  text.map((value) => ({ type: 'search_result', source: 'a', title: 'b', content: [{ type: 'text', text: value }] })),
);
const block: Arbitrary<object> = mergedObjects(
  fc.oneof(
    leafBlock,
    fc
      .oneof(text, nonEmptyArray(leafBlock, 3))
      .map((content) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content })),
  ),
  cacheControl,
);
const anthropicTool: Arbitrary<object> = fc.oneof(
  fc
    .record({ name: prefixedId('tool_'), description: text })
    .map((tool) => ({ ...tool, input_schema: { type: 'object' } })),
  fc.constant({ type: 'bash_20250124', name: 'bash' }),
  fc.constant({ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }),
);
export const messagesInput: Arbitrary<object> = mergedObjects(
  modelWithKnownLimits(ANTHROPIC_MESSAGES).map((model) => ({ model })),
  nonEmptyArray(fc.oneof(text, repeatedItem(block, 8)).map((content) => ({ role: 'user', content }))).map(
    (messages) => ({
      messages,
    }),
  ),
  optionalFields({
    system: fc.oneof(text, nonEmptyArray(text.map((value) => ({ type: 'text', text: value })))),
    tools: nonEmptyArray(anthropicTool, 3),
  }),
  cacheControl,
);
export const messages: Arbitrary<Body> = mergedObjects(
  messagesInput,
  maxTokens(8_000).map((max_tokens) => ({ max_tokens })),
  optionalFields({ speed: oneOf('fast', 'standard'), inference_geo: oneOf('us', 'global'), stream: fc.boolean() }),
);
const serverTool: Arbitrary<object> = fc.oneof(
  mergedObjects(
    oneOf('web_search_20250305', 'web_fetch_20250910').map((type) => ({
      type,
      name: type.slice(0, -'_20250305'.length),
    })),
    optionalFields({ max_uses: fc.integer({ min: 1, max: 10 }) }),
  ),
  fc.constant({ type: 'code_execution_20250825', name: 'code_execution' }),
);
export const hostedMessages: Arbitrary<Body> = mergedObjects(
  messages,
  fc
    .uniqueArray(serverTool, { minLength: 1, maxLength: 2, selector: ({ name }: { name?: string }) => name })
    .map((tools) => ({ tools })),
);
export const complete: Arbitrary<Body> = mergedObjects(
  modelWithKnownLimits(ANTHROPIC_COMPLETE).map((model) => ({ model })),
  text.map((prompt) => ({ prompt })),
  maxTokens(4_096).map((max_tokens_to_sample) => ({ max_tokens_to_sample })),
);

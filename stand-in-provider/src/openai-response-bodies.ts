/** Bodies of the Responses API, whole and streamed. */
import { datedModelName } from './openai-chat-bodies.js';

const RESPONSE_USAGE = {
  input_tokens: 19,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 29,
} as const;

const ITEM_ID = 'msg_stand_in';

const message = (status: string, content: readonly object[]): object => ({
  id: ITEM_ID,
  type: 'message',
  status,
  content,
  role: 'assistant',
});

const textPart = (value: string): object => ({ type: 'output_text', annotations: [], logprobs: [], text: value });

function response(model: string, status: string, output: readonly object[], usage: object | null): object {
  return {
    id: 'resp_stand_in',
    object: 'response',
    created_at: 1_767_225_600,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: datedModelName(model),
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage,
    metadata: {},
  };
}

export const completedResponse = (model: string, content: string): object =>
  response(model, 'completed', [message('completed', [textPart(content)])], RESPONSE_USAGE);

export function responseEvents(model: string, words: readonly string[]): string[] {
  const content = words.join('');
  const at = { item_id: ITEM_ID, output_index: 0, content_index: 0 };
  const events: object[] = [
    { type: 'response.created', response: response(model, 'in_progress', [], null) },
    { type: 'response.in_progress', response: response(model, 'in_progress', [], null) },
    { type: 'response.output_item.added', output_index: 0, item: message('in_progress', []) },
    { type: 'response.content_part.added', ...at, part: textPart('') },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text: content, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: textPart(content) },
    { type: 'response.output_item.done', output_index: 0, item: message('completed', [textPart(content)]) },
    { type: 'response.completed', response: completedResponse(model, content) },
  ];
  return events.map((event, index) => {
    const { type } = event as { type: string };
    return `event: ${type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`;
  });
}

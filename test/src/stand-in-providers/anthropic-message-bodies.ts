/**
 * Message bodies, whole and streamed. Stream usage is cumulative and repeats the input usage
 * (docs/contract.md#provider-specific-rules).
 */

const INPUT_USAGE = {
  input_tokens: 11,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 3,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 0 },
} as const;

export const MESSAGE_USAGE = { ...INPUT_USAGE, output_tokens: 9, service_tier: 'standard' } as const;

const datedModelName = (model: string): string => (model === 'claude-haiku-4-5' ? 'claude-haiku-4-5-20251001' : model);

const base = (model: string, content: readonly object[], stop: string | null, usage: object): object => ({
  model: datedModelName(model),
  id: 'msg_stand_in',
  type: 'message',
  role: 'assistant',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage,
});

export const completedMessage = (model: string, content: string): object =>
  base(model, [{ type: 'text', text: content }], 'end_turn', MESSAGE_USAGE);

export function messageEvents(model: string, words: readonly string[]): string[] {
  const started = { ...INPUT_USAGE, output_tokens: 1, service_tier: 'standard' };
  const events: object[] = [
    { type: 'message_start', message: base(model, [], null, started) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...words.map((word) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 11, cache_creation_input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
}

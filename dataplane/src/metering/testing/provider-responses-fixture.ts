/** Responses in the providers' exact wire format, for tests and benchmarks. */

const CHUNK_HEAD =
  '{"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1763600000,';

interface ChatStreamOptions {
  readonly texts: readonly string[];
  /** As with `stream_options.include_usage`: `usage:null` in every chunk, and one more chunk with the usage. */
  readonly includeUsage: boolean;
  readonly obfuscation?: boolean;
  readonly newline?: string;
}

const CHAT_USAGE =
  '{"prompt_tokens":2006,"completion_tokens":300,"total_tokens":2306,' +
  '"prompt_tokens_details":{"cached_tokens":1920,"audio_tokens":0},' +
  '"completion_tokens_details":{"reasoning_tokens":128,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}';

/** OpenAI's chat completion stream. */
export function chatStream(options: ChatStreamOptions): Buffer {
  const newline = options.newline ?? '\n';
  const nullUsage = options.includeUsage ? ',"usage":null' : '';
  const head = `${CHUNK_HEAD}"model":"gpt-5-mini-2025-08-07","service_tier":"default","system_fingerprint":"fp_44709d6fcb"`;
  const events: string[] = [];
  const chunk = (delta: string, finish: string, n: number): void => {
    const padding = options.obfuscation ? `,"obfuscation":"${'aBc3dEfGh1'.slice(n % 10)}"` : '';
    const choices = `"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}]`;
    events.push(`data: ${head},${choices}${nullUsage}${padding}}`);
  };
  chunk('{"role":"assistant","content":"","refusal":null}', 'null', 0);
  for (const [n, text] of options.texts.entries()) chunk(`{"content":${JSON.stringify(text)}}`, 'null', n);
  chunk('{}', '"stop"', 3);
  if (options.includeUsage) events.push(`data: ${head},"choices":[],"usage":${CHAT_USAGE}}`);
  events.push('data: [DONE]');
  return Buffer.from(events.map((event) => event + newline + newline).join(''));
}

/** The same response unstreamed. */
export function chatBody(text: string): Buffer {
  return Buffer.from(
    '{\n  "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",\n  "object": "chat.completion",\n  "created": 1763600000,\n' +
      '  "model": "gpt-5-mini-2025-08-07",\n  "choices": [\n    {\n      "index": 0,\n      "message": {\n' +
      `        "role": "assistant",\n        "content": ${JSON.stringify(text)},\n        "refusal": null\n      },\n` +
      `      "finish_reason": "stop"\n    }\n  ],\n  "usage": ${CHAT_USAGE},\n  "service_tier": "default"\n}\n`,
  );
}

export const RESPONSES_USAGE =
  '{"input_tokens":2006,"input_tokens_details":{"cached_tokens":1920},"output_tokens":300,' +
  '"output_tokens_details":{"reasoning_tokens":128},"total_tokens":2306}';

const responseObject = (status: string, output: string, usage: string, suffix = ''): string =>
  `{"id":"resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654","object":"response","created_at":1763600000,` +
  `"status":"${status}","background":false,"error":null,"incomplete_details":null,"instructions":"Say \\"usage\\": {}",` +
  `"model":"gpt-5-mini-2025-08-07","output":${output},"service_tier":"default","usage":${usage}${suffix}}`;

const messageOutput = (text: string): string =>
  `[{"type":"web_search_call","id":"ws_1","status":"completed"},{"id":"msg_1","type":"message","status":"completed",` +
  `"role":"assistant","content":[{"type":"output_text","text":${JSON.stringify(text)},"annotations":[]}]}]`;

/** A Responses API stream (`event:` lines, no [DONE]) with one web search. */
export function responsesStream(texts: readonly string[]): Buffer {
  const events: [string, string][] = [
    ['response.created', `"response":${responseObject('in_progress', '[]', 'null')}`],
    ['response.in_progress', `"response":${responseObject('in_progress', '[]', 'null')}`],
  ];
  for (const text of texts) {
    events.push(['response.output_text.delta', `"item_id":"msg_1","output_index":0,"delta":${JSON.stringify(text)}`]);
  }
  events.push(['response.output_text.done', `"item_id":"msg_1","text":${JSON.stringify(texts.join(''))}`]);
  const final = responseObject('completed', messageOutput(texts.join('')), RESPONSES_USAGE);
  events.push(['response.completed', `"response":${final}`]);
  return Buffer.from(
    events
      .map(([type, rest], n) => `event: ${type}\ndata: {"type":"${type}","sequence_number":${n},${rest}}\n\n`)
      .join(''),
  );
}

export function responsesBody(text: string): Buffer {
  return Buffer.from(responseObject('completed', messageOutput(text), RESPONSES_USAGE));
}

export function backgroundBody(status: string, usage: string): Buffer {
  return Buffer.from(responseObject(status, '[]', usage).replace('"background":false', '"background":true'));
}

/** Anthropic's message stream: input figures in message_start, cumulative output in message_delta. */
export function messagesStream(texts: readonly string[], newline = '\n'): Buffer {
  const events: [string, string][] = [
    [
      'message_start',
      '"message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001","content":[],' +
        '"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":400,' +
        '"cache_read_input_tokens":3000,"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":100},' +
        '"output_tokens":1,"service_tier":"standard","inference_geo":"not_available"}}',
    ],
    ['content_block_start', '"index":0,"content_block":{"type":"text","text":""}'],
    ['ping', '"x":0'],
  ];
  for (const text of texts) {
    events.push(['content_block_delta', `"index":0,"delta":{"type":"text_delta","text":${JSON.stringify(text)}}`]);
  }
  events.push(['content_block_stop', '"index":0']);
  events.push([
    'message_delta',
    '"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":25,"cache_creation_input_tokens":400,' +
      '"cache_read_input_tokens":3000,"output_tokens":503,"output_tokens_details":{"thinking_tokens":200},' +
      '"server_tool_use":{"web_search_requests":2,"web_fetch_requests":0}}',
  ]);
  events.push(['message_stop', '"x":0']);
  return Buffer.from(
    events
      .map(([type, rest]) => `event: ${type}${newline}data: {"type":"${type}",${rest}}${newline}${newline}`)
      .join(''),
  );
}

export function messagesBody(text: string): Buffer {
  return Buffer.from(
    '{"id":"msg_01","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001",' +
      `"content":[{"type":"text","text":${JSON.stringify(text)}}],"stop_reason":"end_turn","stop_sequence":null,` +
      '"usage":{"input_tokens":25,"cache_creation_input_tokens":400,"cache_read_input_tokens":3000,' +
      '"cache_creation":{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":100},"output_tokens":503,' +
      '"output_tokens_details":{"thinking_tokens":200},"server_tool_use":{"web_search_requests":2,"web_fetch_requests":0},' +
      '"service_tier":"standard","inference_geo":"not_available"}}',
  );
}

/** Responses of Google, Amazon Bedrock and Cohere in their wire formats, for tests. */
import { encodeEventStreamFrame } from '../../scan/aws-event-stream-parser.js';

const HEADERS = (type: string): string[] => [
  ':event-type',
  type,
  ':content-type',
  'application/json',
  ':message-type',
  'event',
];

/** One frame of an AWS event stream. */
export const awsEvent = (type: string, payload: object): Buffer =>
  encodeEventStreamFrame(HEADERS(type), JSON.stringify(payload));

/** A frame of InvokeModelWithResponseStream with an event of the model. */
export const modelEvent = (event: object): Buffer =>
  awsEvent('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdefghij' });

export const awsException = (type: string, message: string): Buffer =>
  encodeEventStreamFrame(
    [':exception-type', type, ':content-type', 'application/json', ':message-type', 'exception'],
    JSON.stringify({ message }),
  );

/** ConverseStream; the usage comes in the last frame. */
export const converseStream = (texts: readonly string[], usage: object, more: object = {}): Buffer =>
  Buffer.concat([
    awsEvent('messageStart', { role: 'assistant', p: 'abcd' }),
    ...texts.map((text) => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: 'abcdefgh' })),
    awsEvent('contentBlockStop', { contentBlockIndex: 0, p: 'abc' }),
    awsEvent('messageStop', { stopReason: 'end_turn', p: 'ab' }),
    awsEvent('metadata', { usage, metrics: { latencyMs: 800 }, ...more, p: 'a' }),
  ]);

/** The same response unstreamed. */
export const converseBody = (text: string, usage: object, more: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      metrics: { latencyMs: 800 },
      output: { message: { content: [{ text }], role: 'assistant' } },
      stopReason: 'end_turn',
      usage,
      ...more,
    }),
  );

/** Anthropic's events on Bedrock. */
export const claudeOnBedrockStream = (texts: readonly string[], input: object, output: object): Buffer =>
  Buffer.concat([
    modelEvent({
      type: 'message_start',
      message: { model: 'claude-sonnet-4-5-20250929', role: 'assistant', content: [], usage: input },
    }),
    modelEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...texts.map((text) => modelEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    modelEvent({ type: 'content_block_stop', index: 0 }),
    modelEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: output }),
    modelEvent({ type: 'message_stop' }),
  ]);

const candidate = (text: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
});

/** One response of generateContent. */
export const geminiBody = (
  text: string,
  usageMetadata: object,
  model = 'gemini-2.5-flash',
  more: object = {},
): Buffer =>
  Buffer.from(
    `${JSON.stringify(
      { ...candidate(text, { finishReason: 'STOP', ...more }), usageMetadata, modelVersion: model, responseId: 'r1' },
      null,
      2,
    )}\n`,
  );

/** Events of streamGenerateContent, each with the totals so far; the last one has `usageMetadata`. */
function geminiEvents(texts: readonly string[], usageMetadata: object, model: string, more: object): object[] {
  return texts.map((text, n) => {
    const isLast = n === texts.length - 1;
    const soFar = { promptTokenCount: 10, candidatesTokenCount: n + 1, totalTokenCount: 11 + n };
    return {
      ...candidate(text, isLast ? { finishReason: 'STOP', ...more } : {}),
      usageMetadata: isLast ? usageMetadata : soFar,
      modelVersion: model,
      responseId: 'r1',
    };
  });
}

/** With `alt=sse`. */
export const geminiStream = (
  texts: readonly string[],
  usageMetadata: object,
  model = 'gemini-2.5-flash',
  more: object = {},
): Buffer =>
  Buffer.from(
    geminiEvents(texts, usageMetadata, model, more)
      .map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
      .join(''),
  );

/** Without `alt=sse`: one JSON array. */
export const geminiArray = (
  texts: readonly string[],
  usageMetadata: object,
  model = 'gemini-2.5-flash',
  more: object = {},
): Buffer =>
  Buffer.from(
    `[${geminiEvents(texts, usageMetadata, model, more)
      .map((event) => JSON.stringify(event, null, 2))
      .join('\n,\r\n')}\n]\n`,
  );

/** Cohere's chat of version 2. */
export const cohereStream = (texts: readonly string[], usage: object, finish = 'COMPLETE'): Buffer => {
  const events: object[] = [
    { id: 'c1', type: 'message-start', delta: { message: { role: 'assistant', content: [], tool_calls: [] } } },
    { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
    ...texts.map((text) => ({ type: 'content-delta', index: 0, delta: { message: { content: { text } } } })),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: finish, usage } },
  ];
  return Buffer.from(
    events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  );
};

/** A stream of version 1, one event a line. */
export const cohereLineStream = (texts: readonly string[], meta: object): Buffer => {
  const events = [
    { is_finished: false, event_type: 'stream-start', generation_id: 'g1' },
    ...texts.map((text) => ({ is_finished: false, event_type: 'text-generation', text })),
    {
      is_finished: true,
      event_type: 'stream-end',
      finish_reason: 'COMPLETE',
      response: { text: texts.join(''), meta },
    },
  ];
  return Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
};

export const cohereBody = (text: string, usage: object): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: 'c1',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
      finish_reason: 'COMPLETE',
      usage,
    }),
  );

/** A chat completion of a vendor with OpenAI's format. */
export const chatBodyOf = (model: string, usage: object, more: object = {}): Buffer =>
  Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_763_600_000,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage,
      ...more,
    }),
  );

/** The same as a stream. `last`: members of the last chunk beside its envelope. */
export const chatStreamOf = (model: string, texts: readonly string[], last: object): Buffer => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_763_600_000, model };
  const chunks = texts.map((content) => ({
    ...head,
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }));
  return Buffer.from(
    [...chunks, { ...head, choices: [], ...last }].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') +
      'data: [DONE]\n\n',
  );
};

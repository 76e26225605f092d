/** A hard budget reserves the most that a call can cost, and admits ordinary calls. */
import { expect, test } from 'vitest';
import { computeReservationFor, type ReservationRequest } from '../call/testing/compute-reservation-fixture.js';
import { createTestPdf } from '../scan/media/testing/pdf-fixture.js';

const DOLLAR = 1_000_000_000;

const openai = (path: string, body: object | string): ReservationRequest => ({ provider: 'openai', path, body });
const messages = (content: unknown, more: object = {}): ReservationRequest => ({
  provider: 'anthropic',
  path: '/v1/messages',
  body: { model: 'claude-sonnet-4-6', max_tokens: 1_000, messages: [{ role: 'user', content }], ...more },
});
const chat = (content: unknown, more: object = {}): ReservationRequest =>
  openai('/v1/chat/completions', {
    model: 'gpt-5-mini',
    max_completion_tokens: 1_000,
    messages: [{ role: 'user', content }],
    ...more,
  });
const responses = (input: unknown, more: object = {}): ReservationRequest =>
  openai('/v1/responses', { model: 'gpt-5', max_output_tokens: 1_000, input, ...more });

/** Price of a full context window of input tokens, nano-dollars. */
const GPT_5_WINDOW = 400_000 * 1_250;
const SONNET_WINDOW = 1_000_000 * 3_000;

const text = (chars: number): string => 'word '.repeat(Math.ceil(chars / 5));
const pixels = Buffer.alloc(300, 1).toString('base64');
const packed = Buffer.alloc(6_000, 1).toString('base64');

test.each<[string, ReservationRequest, number]>([
  [
    'an answer for each prompt',
    openai('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: Array(200).fill('x'), max_tokens: 4_000 }),
    200 * 4_000 * 2_000,
  ],
  [
    'an answer for each prompt of tokens, the best of many',
    openai('/v1/completions', {
      model: 'gpt-3.5-turbo-instruct',
      prompt: Array(50).fill([1, 2, 3]),
      max_tokens: 100,
      n: 2,
      best_of: 5,
    }),
    50 * 5 * 100 * 2_000,
  ],
  [
    'a text to embed is no window for all of them',
    openai('/v1/embeddings', { model: 'text-embedding-3-small', input: Array(100).fill(text(12_000)) }),
    100 * 3_000 * 20,
  ],
  [
    'an output that holds a file',
    responses([{ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'f' }] }]),
    GPT_5_WINDOW,
  ],
  [
    'a file by its address',
    responses([{ role: 'user', content: [{ type: 'input_file', file_url: 'https://a/b' }] }]),
    GPT_5_WINDOW,
  ],
  ['an item that is stored', responses([{ id: 'msg_1', type: 'item_reference' }]), GPT_5_WINDOW],
  ['reasoning that is stored', responses([{ id: 'rs_1', type: 'reasoning', summary: [] }]), GPT_5_WINDOW],
  ['an answer that is stored', responses('go on', { previous_response_id: 'resp_1' }), GPT_5_WINDOW],
  ['a conversation that is stored', responses('go on', { conversation: { id: 'conv_1' } }), GPT_5_WINDOW],
  ['a compaction', responses([{ type: 'compaction', encrypted_content: 'x' }]), GPT_5_WINDOW],
  [
    'a recording that is stored',
    chat('x', { model: 'gpt-audio', messages: [{ role: 'assistant', audio: { id: 'a' } }] }),
    128_000 * 2_500,
  ],
  [
    'a document in the result of a tool',
    messages([
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ type: 'document', source: { type: 'url', url: 'https://a/b.pdf' } }],
      },
    ]),
    SONNET_WINDOW,
  ],
  [
    'a document of the system',
    messages('x', { system: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }),
    SONNET_WINDOW,
  ],
  [
    'a PDF that cannot be read here',
    messages([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: packed } }]),
    SONNET_WINDOW,
  ],
  [
    'a PDF of OpenAI',
    chat([{ type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${packed}` } }], {
      model: 'gpt-5',
    }),
    GPT_5_WINDOW,
  ],
  [
    'small images of a model that counts much for each',
    chat(Array(20).fill({ type: 'image_url', image_url: { url: `data:image/png;base64,${pixels}` } }), {
      model: 'gpt-4o-mini',
    }),
    128_000 * 150,
  ],
  [
    'one of those',
    chat([{ type: 'image_url', image_url: { url: `data:image/png;base64,${pixels}` } }], { model: 'gpt-4o-mini' }),
    48_169 * 150,
  ],
  [
    'an image of Anthropic',
    messages([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixels } }]),
    4_784 * 3_000,
  ],
  [
    'an output image',
    responses([{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } }]),
    1_500 * 1_250,
  ],
  [
    'a prediction, which is billed where it is wrong',
    chat('x', { model: 'gpt-4o', prediction: { type: 'content', content: text(40_000) } }),
    10_000 * 10_000,
  ],
  [
    'an image that is drawn, in the best quality',
    openai('/v1/images/generations', { model: 'gpt-image-1', prompt: 'x', n: 3 }),
    3 * 6_240 * 40_000,
  ],
  [
    'an image of the small model, in the best quality',
    openai('/v1/images/generations', { model: 'gpt-image-1-mini', prompt: 'x' }),
    52_000_000,
  ],
  ['an image of any size', openai('/v1/images/generations', { model: 'gpt-image-2', prompt: 'x' }), 23_719 * 30_000],
  [
    'an image that the model does not scale down',
    chat([{ type: 'image_url', image_url: { url: 'https://a/b' } }], { model: 'gpt-6.1-sol' }),
    36_000 * 2_000,
  ],
  ['an image in a part that is not documented', chat([{ image: pixels }], { model: 'gpt-4o-mini' }), 48_169 * 150],
  [
    'a suffix behind each prompt',
    openai('/v1/completions', {
      model: 'gpt-3.5-turbo-instruct',
      prompt: Array(100).fill('x'),
      suffix: text(2_000),
      max_tokens: 16,
    }),
    100 * (2_000 * 1_500 + 16 * 2_000),
  ],
  ['the dearest tier', chat('x', { service_tier: 'ultrafast' }), 6 * 1_000 * 2_000],
  ['a tier that is not known', chat('x', { service_tier: 'new' }), 6 * 1_000 * 2_000],
  [
    'a maximum that its call does not know',
    openai('/v1/images/generations', { model: 'gpt-image-1', prompt: 'x', max_tokens: 1 }),
    6_240 * 40_000,
  ],
  ['a maximum of another call', openai('/v1/responses', { model: 'gpt-5', input: 'x', max_tokens: 1 }), 4_096 * 10_000],
  [
    'searches, after each of which all is read again',
    responses('x', { tools: [{ type: 'web_search' }], max_tool_calls: 3 }),
    4 * GPT_5_WINDOW + 3 * 10_000_000,
  ],
  [
    'searches of Anthropic',
    messages('x', { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }] }),
    3 * SONNET_WINDOW,
  ],
])('reservation: %s', (_what, call, nanosMin) => {
  expect(computeReservationFor(call)).toBeGreaterThanOrEqual(nanosMin);
});

test.each([
  ['the fast tier', chat('x'), chat('x', { service_tier: 'priority' })],
  ['the fast speed', messages('x'), messages('x', { speed: 'fast' })],
])('reservation: %s costs the same in any JSON spelling', (_what, usual, fast) => {
  const body = JSON.stringify(fast.body);
  const spelled = body.replace(
    /"(priority|fast)"/,
    (_all, word: string) => `"\\u00${word.charCodeAt(0).toString(16)}${word.slice(1)}"`,
  );
  expect(spelled).toContain('\\u00');
  expect(computeReservationFor(fast)).toBeGreaterThan(1.9 * Number(computeReservationFor(usual)));
  expect(computeReservationFor({ ...fast, body: spelled })).toBeGreaterThanOrEqual(Number(computeReservationFor(fast)));
});

test('reservation: reads a member in any JSON spelling', () => {
  const body =
    '{"model":"gpt-5","max_output_tokens":9,"input":[{"role":"user","content":[{"type":"input_file","FILE\\u005fid":"f"}]}]}';
  expect(computeReservationFor(openai('/v1/responses', body))).toBeGreaterThanOrEqual(GPT_5_WINDOW);
  expect(computeReservationFor(chat('x', { MAX_COMPLETION_TOKENS: 1_000_000 }))).toBe('bad_request');
});

test.each([
  ['a stored prompt, which can bring tools', responses('x', { prompt: { id: 'pmpt_1' } })],
  ['searches without a maximum', responses('x', { tools: [{ type: 'web_search' }] })],
  [
    'searches of Anthropic without a maximum',
    messages('x', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }),
  ],
  ['code without a maximum', messages('x', { tools: [{ type: 'code_execution_20250825', name: 'code' }] })],
  ['images that a tool draws', responses('x', { tools: [{ type: 'image_generation' }], max_tool_calls: 1 })],
  ['tools of other servers', messages('x', { mcp_servers: [{ type: 'url', url: 'https://a', name: 'a' }] })],
  ['an unknown tool', responses('x', { tools: [{ type: 'new' }], max_tool_calls: 1 })],
  ['a maximum that only Anthropic knows', responses('x', { tools: [{ type: 'web_search', max_uses: 1 }] })],
  ['a maximum that only OpenAI knows', messages('x', { tools: [{ type: 'web_search_20250305' }], max_tool_calls: 1 })],
  ['agents that create agents', responses('x', { multi_agent: { enabled: true } })],
  ['an answer later', responses('x', { background: true })],
  ['an answer later, of xAI', chat('x', { deferred: true })],
  ['stored settings, which can bring tools', chat('x', { preset: 'p' })],
  ['stored settings, named by the model', chat('x', { model: 'openai/gpt-5@preset/p' })],
])('reservation: rejects an unbounded call: %s', (_what, call) => {
  expect(computeReservationFor(call)).toBe('unmetered');
});

const PHOTO = Buffer.alloc(1_500_000, 7).toString('base64');
const PDF = createTestPdf({ pages: 10, charsPerPage: 3_000 }).toString('base64');
const weather = {
  name: 'weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { url: { type: 'string' }, id: { type: 'string' } } },
};
const photo = { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${PHOTO}` } };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PHOTO } };
const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } };
const file = { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } };
const toolLoop = [
  { role: 'user', content: text(2_000) },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"url":"https://a"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: text(2_000) },
];
const useLoop = [
  { role: 'user', content: text(2_000) },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: text(500), signature: packed.slice(0, 800) },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { url: 'https://a', id: '7', data: 'x' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: text(2_000) }] },
];
const itemLoop = [
  { role: 'user', content: text(2_000) },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: packed.slice(0, 2_000) },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: text(2_000) },
];

/** Ordinary calls; the test logs the reservation of each. */
const ORDINARY: readonly [string, ReservationRequest][] = [
  ...[
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4.1',
    'gpt-5',
    'gpt-5-mini',
    'gpt-5.4',
    'gpt-5.5',
    'gpt-6-sol',
    'gpt-6.1-sol',
  ].flatMap((model): [string, ReservationRequest][] => [
    [`${model}: 2 000 words, 1 000 tokens out`, chat(text(10_000), { model })],
    [`${model}: a photo of 1.5 MB`, chat([photo, { type: 'text', text: 'What is it?' }], { model })],
    [
      `${model}: a photo by its address`,
      chat([{ type: 'image_url', image_url: { url: 'https://a/b.jpg' } }], { model }),
    ],
    [`${model}: a PDF of ten pages`, chat([file], { model })],
    [
      `${model}: a chat with tools`,
      chat('', { model, messages: toolLoop, tools: [{ type: 'function', function: weather }] }),
    ],
    [`${model}: a response with tools`, responses(itemLoop, { model, tools: [{ type: 'function', ...weather }] })],
  ]),
  ...[
    'claude-haiku-4-5',
    'claude-haiku-5-5',
    'claude-sonnet-4-5',
    'claude-sonnet-4-6',
    'claude-sonnet-5-5',
    'claude-opus-4-7',
    'claude-opus-5-5',
  ].flatMap((model): [string, ReservationRequest][] => [
    [`${model}: 2 000 words, 1 000 tokens out`, messages(text(10_000), { model })],
    [`${model}: a photo of 1.5 MB`, messages([image], { model })],
    [
      `${model}: a photo by its address`,
      messages([{ type: 'image', source: { type: 'url', url: 'https://a/b' } }], { model }),
    ],
    [`${model}: a PDF of ten pages`, messages([pdf], { model })],
    [
      `${model}: a chat with tools`,
      messages('', {
        model,
        messages: useLoop,
        tools: [{ name: 'weather', description: 'x', input_schema: weather.parameters }],
      }),
    ],
  ]),
  [
    '100 embeddings of 200 tokens',
    openai('/v1/embeddings', { model: 'text-embedding-3-small', input: Array(100).fill(text(800)) }),
  ],
  [
    '100 embeddings of 200 tokens, large',
    openai('/v1/embeddings', { model: 'text-embedding-3-large', input: Array(100).fill(text(800)) }),
  ],
  [
    'a completion',
    openai('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: text(2_000), max_tokens: 500 }),
  ],
  ['an image', openai('/v1/images/generations', { model: 'gpt-image-1', prompt: text(500) })],
  [
    'speech of 500 characters',
    openai('/v1/audio/speech', { model: 'gpt-4o-mini-tts', input: text(500), voice: 'alloy' }),
  ],
];

test('reservation: ordinary calls reserve less than a dollar', () => {
  const table = ORDINARY.map(([what, call]) => [what, computeReservationFor(call)] as const);
  if (process.env.SHOW_RESERVATIONS) {
    for (const [what, nanos] of table) console.log(`$${(Number(nanos) / DOLLAR).toFixed(4)}  ${what}`);
  }
  expect(table.filter(([, nanos]) => typeof nanos !== 'number' || nanos > DOLLAR || nanos <= 0)).toEqual([]);
});

test('reservation: prices images by any name of the model, and each PDF page as a full one', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a/b' } };
  const nanos = (model: string): number => Number(computeReservationFor(chat([image], { model })));
  expect(nanos('ft:gpt-4o-mini:acme::1')).toBeGreaterThanOrEqual(48_169 * 300);
  expect(nanos('gpt-5.5')).toBeGreaterThanOrEqual(24_600 * 5_000);
  expect(nanos('gpt-5.5')).toBeLessThan(30_000 * 6_250);
  expect(nanos('gpt-5')).toBeLessThan(20_000 * 1_250);
  const data = createTestPdf({ pages: 10, charsPerPage: 10 }).toString('base64');
  const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
  expect(computeReservationFor(messages([document]))).toBeGreaterThanOrEqual(10 * (3_000 + 4_784) * 3_000);
});

test('reservation: adds the framing of each tool', () => {
  const tools = Array.from({ length: 100 }, (_, i) => ({ name: `t${i}`, input_schema: {} }));
  const more =
    Number(computeReservationFor(messages('x', { tools }))) -
    Number(computeReservationFor(messages('x', { tools: [tools[0]] })));
  expect(more).toBeGreaterThanOrEqual(99 * 64 * 3_000);
});

const sound = (model: string, file: string): ReservationRequest => ({
  provider: 'openai',
  path: '/v1/audio/transcriptions',
  body: {
    form: Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n` +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n${file}\r\n--b--\r\n`,
      'latin1',
    ),
    contentType: 'multipart/form-data; boundary=b',
  },
});

test('reservation: prices recordings by their length; one without a length is never affordable at a price per second', () => {
  const mp3 = `\xff\xfb\x90\x64${'\0'.repeat(413)}`.repeat(2_300); // a minute
  expect(computeReservationFor(sound('whisper-1', mp3))).toBeGreaterThanOrEqual(6_000_000);
  expect(computeReservationFor(sound('whisper-1', mp3))).toBeLessThan(7_000_000);
  expect(computeReservationFor(sound('whisper-1', 'fLaC'))).toBe(Number.MAX_SAFE_INTEGER);
  expect(computeReservationFor(sound('gpt-4o-transcribe', 'fLaC'))).toBeLessThan(DOLLAR);
});

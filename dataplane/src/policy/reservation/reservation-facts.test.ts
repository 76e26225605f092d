import { expect, test } from 'vitest';
import { createTestPdf } from '../../scan/media/testing/pdf-fixture.js';
import { readFormReservationFacts } from './form-reservation-facts.js';
import { readReservationFacts } from './reservation-facts.js';

const CHAT = '/v1/chat/completions';
const callOf = (path: string) => ({ format: 'openai', path, model: 'gpt-5', ignoredToolMaxima: [] }) as const;
const of = (body: object, path = CHAT) => readReservationFacts(Buffer.from(JSON.stringify(body)), callOf(path));

test.each([
  [CHAT, { max_tokens: 5 }, { outputTokensMax: 5, answerCount: 1, inputCount: 1 }],
  [CHAT, { max_completion_tokens: 7, n: 3 }, { outputTokensMax: 7, answerCount: 3 }],
  [CHAT, { max_tokens: null }, { outputTokensMax: null }],
  [CHAT, { max_output_tokens: 7 }, { outputTokensMax: null }],
  ['/v1/responses', { max_output_tokens: 0, max_tokens: 5 }, { outputTokensMax: 0 }],
  ['/v1/complete', { max_tokens_to_sample: 9 }, { outputTokensMax: 9 }],
  ['/other/answer', { max_output_tokens: 9 }, { outputTokensMax: 9 }],
  ['/v1/embeddings', { input: ['a', 'b'], max_tokens: 5 }, { outputTokensMax: null, answerCount: 1, inputCount: 2 }],
  ['/v1/embeddings', { input: [1, 2, 3] }, { inputCount: 1 }],
  ['/v1/embeddings', { input: [[1], [2, 3]] }, { inputCount: 2 }],
  ['/v1/completions', { prompt: 'x', n: 2, best_of: 4 }, { answerCount: 4, inputCount: 1 }],
  ['/v1/completions', { prompt: [1, 2, 3], n: 2 }, { answerCount: 2, inputCount: 1 }],
  ['/v1/completions', { prompt: [[1], 'x,[', [2, 3]], n: 2 }, { answerCount: 6, inputCount: 3 }],
  [
    CHAT,
    {},
    {
      outputTokensMax: null,
      answerCount: 1,
      hasExternalContent: false,
      speed: 'usual',
      cacheTtl: 'none',
      inputImages: 0,
    },
  ],
  [CHAT, { background: false }, { hasExternalContent: false }],
  [CHAT, { service_tier: 'priority' }, { speed: 'fast' }],
  [CHAT, { service_tier: 'flex' }, { speed: 'usual' }],
  [CHAT, { service_tier: 'ultrafast' }, { speed: 'dearest' }],
  [CHAT, { service_tier: 7, speed: 'fast' }, { speed: 'dearest' }],
  [CHAT, { messages: [{ content: [{ image: 'AAAA' }] }] }, { inputImages: 1 }],
  [CHAT, { tools: [{ function: { parameters: { image: 'AAAA' } } }] }, { inputImages: 0 }],
  [CHAT, { multi_agent: { enabled: false } }, { answerCount: 1 }],
  [CHAT, { previous_response_id: 'resp_1' }, { hasExternalContent: true }],
  [
    CHAT,
    { messages: [{ content: [{ image_url: { url: 'https://a/b.png' } }] }] },
    { hasExternalContent: false, inputImages: 1 },
  ],
  [CHAT, { messages: [{ content: [{ image_url: { url: 'data:text/html,x' } }] }] }, { hasExternalContent: true }],
  [
    CHAT,
    { messages: [{ content: [{ type: 'video_url', video_url: { url: 'https://a' } }] }] },
    { hasExternalContent: true },
  ],
  [
    CHAT,
    { messages: [{ content: [{ type: 'input_audio', input_audio: { data: 'AA' } }] }] },
    { hasExternalContent: true },
  ],
  [
    CHAT,
    { tools: [{ type: 'function', function: { parameters: { url: 'x', id: 'y' } } }] },
    { hasExternalContent: false },
  ],
  [
    CHAT,
    { messages: [{ content: [{ annotations: [{ type: 'url_citation', url: 'https://a' }] }] }] },
    { hasExternalContent: false },
  ],
  [CHAT, { messages: [{ cache_control: { type: 'ephemeral' } }] }, { cacheTtl: '5m' }],
  [CHAT, { tools: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }, { cache_control: {} }] }, { cacheTtl: '1h' }],
  [CHAT, { input: [{ content: [{ file_id: 'file_1' }] }] }, { hasExternalContent: true }],
  // A case-sensitive provider reads a reference here.
  ['/v1/responses', { input: [{ Type: 'message', id: 'msg_1' }] }, { hasExternalContent: true }],
  ['/v1/responses', { input: [{ Role: 'user', id: 'msg_1' }] }, { hasExternalContent: true }],
  [
    '/v1/responses',
    { input: [{ type: 'reasoning', id: 'rs_1', Encrypted_Content: 'x' }] },
    { hasExternalContent: true },
  ],
])('%s %j gives %j', (path, body, facts) => {
  expect(of(body, path)).toMatchObject(facts);
});

test('counts images in the body as images, and opaque text four times', () => {
  const url = `data:image/png;base64,${'A'.repeat(8_000)}`;
  expect(of({ input: [{ type: 'input_image', image_url: url }] })).toMatchObject({ inputImages: 1, textTokens: 47 });
  const signed = { messages: [{ content: [{ type: 'thinking', signature: 'A'.repeat(998) }] }] };
  expect(of(signed)).toMatchObject({ textTokens: JSON.stringify(signed).length + 3 * 1_000 });
});

test('reads a smaller container only in its exact spelling', () => {
  const container = (limit: object) => ({ max_tool_calls: 1, tools: [{ type: 'code_interpreter', container: limit }] });
  expect(of(container({ memory_limit: '4g' }))).toMatchObject({ hostedTools: { containers: 4 } });
  expect(of(container({ Memory_Limit: '4g' }))).toMatchObject({ hostedTools: { containers: 64 } });
});

test('accepts names that differ only in case where no provider reads them', () => {
  const properties = { id: {}, ID: {}, type: {}, Type: {} };
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', input: { url: 'x', URL: 'y' } }] };
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties } } }];
  const body = { max_tokens: 5, messages: [call], tools, metadata: { id: '1', ID: '2' } };
  expect(of(body, '/v1/messages')).toMatchObject({ outputTokensMax: 5 });
});

test('counts the suffix once for each prompt', () => {
  const body = { prompt: ['a', 'b', 'c'], suffix: 'x'.repeat(98) };
  expect(of(body, '/v1/completions')).toMatchObject({ textTokens: JSON.stringify(body).length + 2 * 100 });
});

test('counts a text document as text, and twice with citations', () => {
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'word '.repeat(100) } };
  const bodies = [document, { ...document, citations: { enabled: true } }].map((block) => ({ messages: [block] }));
  expect(bodies.map((body) => of(body))).toMatchObject([
    { hasExternalContent: false, textTokens: JSON.stringify(bodies[0]).length },
    { hasExternalContent: false, textTokens: 2 * JSON.stringify(bodies[1]).length },
  ]);
});

test('rejects more tools than any vendor accepts', () => {
  const tools = (count: number) => ({ tools: Array.from({ length: count }, () => ({ name: 'x' })) });
  expect(of(tools(10_000))).toMatchObject({ hasExternalContent: false });
  expect(of(tools(10_001))).toBe('invalid');
});

test('does not inflate a small body to megabytes', () => {
  const data = createTestPdf({ pages: 1, charsPerPage: 1_000_000 }).toString('base64');
  const source = { type: 'base64', media_type: 'application/pdf', data };
  expect(of({ messages: [{ content: [{ type: 'document', source }] }] }, '/v1/messages')).toMatchObject({
    hasExternalContent: true,
  });
});

test.each([
  [{ max_tokens: 5, max_completion_tokens: 5 }],
  [{ max_tokens: 5, Max_Tokens: 6 }],
  [{ max_tokens: '5' }],
  [{ max_tokens: 5.5 }],
  [{ max_tokens: -1 }],
  [{ n: '2' }],
  [{ n: 1, N: 2 }],
  [{ MAX_TOKENS: 5 }],
  [{ ' max_tokens': 5 }],
  // A case-sensitive provider reads the second spelling.
  [
    {
      max_tool_calls: 1,
      tools: [{ type: 'code_interpreter', container: { MEMORY_LIMIT: '1g', memory_limit: '64g' } }],
    },
  ],
  [{ messages: [{ content: [{ type: 'document', source: { Type: 'text', type: 'url', url: 'https://a' } }] }] }],
  [{ input: [{ Type: 'message', type: 'item_reference', id: 'msg_1' }] }],
  [{ messages: [{ content: [{ text: 'x', cache_control: { TTL: '5m', ttl: '1h' } }] }] }],
  [['max_tokens']],
])('rejects %j as invalid', (body) => {
  expect(of(body)).toBe('invalid');
});

test.each([
  [{ background: true }],
  [{ fallbacks: [{ model: 'x' }] }],
  [{ plugins: [{ id: 'web' }] }],
  [{ mcp_servers: [{}] }],
  [{ tools: [{ type: 7 }] }],
  [{ tools: [{ TYPE: 'function' }] }],
  [{ tools: [{ Type: 'function', type: 'image_generation' }] }],
  [{ prompt: { id: 'pmpt_1' } }],
  [{ multi_agent: { enabled: true } }],
  [{ multi_agent: { max_concurrent_subagents: 1 } }],
  [{ multi_agent: true }],
  [{ multi_agent: { ENABLED: false } }],
  [{ multi_agent: { Enabled: false, enabled: true } }],
  [{ MAX_TOOL_CALLS: 1, tools: [{ type: 'web_search' }] }],
  [{ tools: [{ type: 'web_search_20250305', Max_Uses: 1 }] }],
])('reports %j as unbounded', (body) => {
  expect(of(body)).toBe('unbounded');
});

test('rejects a body with too many strings and objects', () => {
  const items = (count: number, item: string): Buffer =>
    Buffer.from(`{"metadata":[${`${item},`.repeat(count - 1)}${item}]}`);
  for (const item of ['{}', '""']) {
    expect(readReservationFacts(items(249_990, item), callOf(CHAT))).toMatchObject({ hasExternalContent: false });
    expect(readReservationFacts(items(250_000, item), callOf(CHAT))).toBe('invalid');
  }
});

test('counts containers of code tools and uses of search tools', () => {
  const code = (container: unknown) => ({ max_tool_calls: 2, tools: [{ type: 'code_interpreter', container }] });
  expect(of(code({ type: 'auto', memory_limit: '4g' }))).toMatchObject({ hostedTools: { turnsMax: 3, containers: 4 } });
  expect(of(code('cntr_1'))).toMatchObject({ hostedTools: { containers: 64 } });
  expect(of({ web_search_options: {} })).toMatchObject({
    hasExternalContent: true,
    hostedTools: { turnsMax: 1, usesMax: 1 },
  });
  const searches = [5, 2].map((max_uses) => ({ type: 'web_search_20250305', max_uses }));
  const message = (body: object) =>
    readReservationFacts(Buffer.from(JSON.stringify(body)), { ...callOf('/v1/messages'), format: 'anthropic' });
  expect(message({ tools: searches })).toMatchObject({ hostedTools: { turnsMax: 8, usesMax: 7 } });
  // The context can be compacted before each turn.
  for (const compacting of [{ context_management: { edits: [] } }, { compaction: {} }]) {
    expect(message({ tools: searches, ...compacting })).toMatchObject({ hostedTools: { turnsMax: 16, usesMax: 7 } });
  }
});

const TYPE = ['x-note', 'content-type', 'content-type', 'multipart/form-data; boundary=b'];
const form = (fields: Readonly<Record<string, string>>): Buffer =>
  Buffer.from(
    Object.entries(fields)
      .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name=${name}\r\n\r\n${value}\r\n`)
      .join('') + '--b--\r\n',
  );

test('readFormReservationFacts counts requested and sent images', () => {
  const body = form({ '"n"': '3', '"prompt"': 'a cat', '"image"; filename="a.png"': 'PNG' });
  expect(readFormReservationFacts(body, TYPE, '/v1/images/edits')).toMatchObject({
    answerCount: 3,
    inputImages: 1,
    hasExternalContent: false,
  });
  expect(readFormReservationFacts(body, TYPE, '/v1/audio/transcriptions')).toMatchObject({
    answerCount: 1,
    hasExternalContent: true,
    audioSeconds: null,
  });
  for (const fields of [{ '"n"': 'many' }, { '"n"': '1', '"N"': '9' }, { '"n"': '1', '"n[]"': '9' }]) {
    expect(readFormReservationFacts(form(fields), TYPE, '/v1/images/edits')).toBe('invalid');
  }
});

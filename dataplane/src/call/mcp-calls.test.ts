/** Calls to MCP servers, over the wire: rejections as JSON-RPC errors, reduced lists, sessions, listening streams. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CallPolicy, McpNameRules } from '@acg/base/policy/call-rule-source';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { waitUntil } from './testing/raw-peer-fixture.js';

const KIB = 1024;
const OPTIONS = { editedBodyBytesMax: 64 * KIB, editedBodiesBytesMax: 16 * KIB * KIB, inflightMax: 32 };
const SESSION = 'server-session-1';

interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let origin: string;
let seen: SeenRequest[];
let openStreams: ServerResponse[];
let answer: (request: SeenRequest, res: ServerResponse) => void;
let gateway: ProxyFixture;

const respond = (res: ServerResponse, body: unknown, headers: Record<string, string> = {}): void => {
  res.writeHead(200, { 'content-type': 'application/json', ...headers });
  res.end(typeof body === 'string' ? body : JSON.stringify(body));
};
const resultOf = (body: string, result: unknown) => ({ jsonrpc: '2.0', id: JSON.parse(body).id, result });

beforeEach(async () => {
  seen = [];
  openStreams = [];
  answer = ({ body }, res) => respond(res, resultOf(body, { content: [] }));
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const request = { method: req.method!, headers: req.headers, body: Buffer.concat(chunks).toString() };
      seen.push(request);
      answer(request, res);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = await ProxyFixture.start(createContext([]), OPTIONS);
  allow(null);
});

afterEach(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

function createMeteringWithToolPrices(): ProviderMetering {
  const prices = new CallCostCalculator(Date.now);
  prices.replaceOverrides({
    prices: [
      { provider: 'mcp/openai', model: 'delete_issue', perRequestNanos: 20_000_000, chargesErrors: false },
      { provider: 'mcp/openai', model: '*', perRequestNanos: 1_000_000, chargesErrors: false },
    ],
  });
  return new ProviderMetering(prices, { appendDeferredUsage: () => undefined }, 1000);
}

function allow(
  rules: Partial<McpNameRules> | null,
  agentId = 'agent-1',
  more: Pick<CallPolicy, 'toolLimits'> = {},
): void {
  const mcp = rules === null ? {} : { mcp: { tools: null, resources: null, prompts: null, ...rules } };
  const upstream = createUpstream(origin, {
    usageFormat: 'mcp',
    policy: { closed: false, calls: null, models: null, ...mcp, ...more },
  });
  const mcpSessionKey = `key of ${agentId}`;
  gateway.lookup = { context: createContext([upstream], { agentId, mcpSessionKey }), rejection: null };
}
const READ_ONLY = { tools: { allow: ['read_*'], deny: [] } };

const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}/v1/proxy/openai/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${GATEWAY_TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const get = (headers: Record<string, string> = {}, method = 'GET', signal?: AbortSignal): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}/v1/proxy/openai/mcp`, {
    method,
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, accept: 'text/event-stream', ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
const callTool = (name: string, id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const listTools = (id: unknown = 1) => ({ jsonrpc: '2.0', id, method: 'tools/list' });
const TOOLS = { tools: [{ name: 'read_issue' }, { name: 'delete_issue' }], cacheScope: 'public', ttlMs: 5 };
const REDUCED = { tools: [{ name: 'read_issue' }], cacheScope: 'private', ttlMs: 5 };

test('mcp call: an allowed tool is forwarded byte for byte, a denied one looks unknown and is booked', async () => {
  allow(READ_ONLY);
  const body = ' {"jsonrpc":"2.0", "id":"a", "method":"tools/call","params":{"name":"read_\\u0069ssue"}}';
  expect(await (await post(body)).json()).toEqual({ jsonrpc: '2.0', id: 'a', result: { content: [] } });
  expect(seen[0]!.body).toBe(body);
  const denied = await post(callTool('delete_issue', 'b'));
  expect(denied.status).toBe(200);
  expect(await denied.json()).toEqual({
    jsonrpc: '2.0',
    id: 'b',
    error: { code: -32602, message: 'Unknown tool: delete_issue' },
  });
  const { id: _, ...notification } = callTool('delete_issue');
  expect((await post(notification)).status).toBe(202);
  expect(seen).toHaveLength(1);
  expect(gateway.admissions).toHaveLength(1);
  expect(gateway.rejections).toEqual(['openai denied_tool', 'openai denied_tool']);
});

test('mcp call: a tool is admitted under its limit and booked at its price, other requests are not', async () => {
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([]), OPTIONS, createMeteringWithToolPrices());
  allow(null, 'agent-1', { toolLimits: [{ tool: 'delete_*', rpm: 2 }] });
  answer = ({ body }, res) => {
    const isError = JSON.parse(body).params?.name === 'broken';
    respond(res, resultOf(body, isError ? { content: [], isError } : { content: [] }));
  };
  for (const body of [callTool('Delete_Issue'), callTool('read_issue'), callTool('broken'), listTools()])
    await (await post(body)).text();
  await waitUntil(() => gateway.records.length === 4);
  expect(gateway.admissions.map(({ toolRate }) => toolRate)).toEqual([
    { pattern: 'delete_*', rpm: 2 },
    null,
    null,
    null,
  ]);
  expect(
    gateway.records.map(({ tool, costNanos, priceSource, model }) => [tool, costNanos, priceSource, model]),
  ).toEqual([
    ['Delete_Issue', 20_000_000, 'per_request', ''],
    ['read_issue', 1_000_000, 'per_request', ''],
    ['broken', 0, 'none', ''],
    ['', 0, 'none', ''],
  ]);
});

test.each([
  ['no JSON', '{"jsonrpc":', {}, 400, -32700, null],
  ['two objects', '{}{}', {}, 400, -32700, null],
  ['a batch', JSON.stringify([callTool('read_issue')]), {}, 400, -32600, null],
  ['a repeated id', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', {}, 400, -32600, null],
  ['a missing id', '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read_issue"}}', {}, 400, -32600, null],
  ['a wrong version', '{"jsonrpc":"1","id":5,"method":"ping"}', {}, 400, -32600, 5],
  ['another media type', JSON.stringify(callTool('read_issue')), { 'content-type': 'text/plain' }, 400, -32600, null],
  ['an encoded body', JSON.stringify(callTool('read_issue')), { 'content-encoding': 'gzip' }, 400, -32600, null],
  [
    'arguments beyond the bound',
    JSON.stringify({ ...callTool('read_issue'), a: 'x'.repeat(70_000) }),
    {},
    413,
    -32600,
    null,
  ],
  [
    'another tool in the header',
    JSON.stringify(callTool('read_issue')),
    { 'mcp-name': 'delete_issue' },
    200,
    -32602,
    1,
  ],
  [
    'another tool in the header of a version with headers',
    JSON.stringify(callTool('read_issue')),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'delete_issue' },
    400,
    -32020,
    1,
  ],
] as const)('mcp call: %s is a JSON-RPC error', async (_what, body, headers, status, code, id) => {
  allow(READ_ONLY);
  const response = await post(body, headers as Record<string, string>);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id, error: { code } });
  expect(seen).toEqual([]);
  expect(gateway.rejections).toHaveLength(1);
});

test('mcp call: the response of a client to a server request passes', async () => {
  allow(READ_ONLY);
  answer = (_request, res) => res.writeHead(202).end();
  expect((await post({ jsonrpc: '2.0', id: 3, result: { action: 'accept' } })).status).toBe(202);
});

/** Sends each byte in a write of its own. */
function drip(res: ServerResponse, text: string, type: string): void {
  res.writeHead(200, { 'content-type': type });
  const bytes = Buffer.from(text);
  const next = (at: number): void => {
    if (at === bytes.length) res.end();
    else res.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
  };
  next(0);
}

test('mcp lists: an agent sees only the tools that it may call, in JSON and in events, in single bytes', async () => {
  allow(READ_ONLY);
  answer = ({ body }, res) => drip(res, JSON.stringify(resultOf(body, TOOLS)), 'application/json');
  expect(await (await post(listTools())).json()).toEqual({ jsonrpc: '2.0', id: 1, result: REDUCED });
  const progress = ': hi\r\nevent: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n';
  answer = ({ body }, res) => {
    const [first, second] = JSON.stringify(resultOf(body, TOOLS), null, 1).split('\n', 2);
    const rest = JSON.stringify(resultOf(body, TOOLS), null, 1)
      .split('\n')
      .slice(2)
      .map((line) => `data: ${line}\n`);
    drip(
      res,
      `id: 1\ndata:\n\n${progress}id: 2\ndata: ${first}\ndata:${second}\n${rest.join('')}\n`,
      'text/event-stream',
    );
  };
  const text = await (await post(listTools())).text();
  const reduced = JSON.stringify({ jsonrpc: '2.0', id: 1, result: REDUCED });
  expect(text).toBe(`id: 1\ndata:\n\n${progress}id: 2\ndata: ${reduced}\n\n`);
});

test('mcp lists: without a rule the bytes pass', async () => {
  answer = ({ body }, res) => respond(res, ` ${JSON.stringify(resultOf(body, TOOLS))}\n`);
  expect(await (await post(listTools())).text()).toBe(` ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: TOOLS })}\n`);
});

const secretList = JSON.stringify({ jsonrpc: '2.0', id: 1, result: TOOLS });
test.each([
  ['text/plain', secretList, {}],
  ['application/json', `${secretList}x`, {}],
  ['application/json', `[${secretList}]`, {}],
  ['application/json', secretList.padEnd(4 * KIB * KIB + 1, ' '), {}],
  ['application/json', secretList, { 'content-encoding': 'gzip' }],
  ['text/event-stream', `data: ${secretList}x\n\n`, {}],
  ['text/event-stream', `\ufeffDATA: ${secretList}\n\n`, {}],
  ['text/event-stream', `data: ${secretList.padEnd(4 * KIB * KIB + 1, ' ')}\n\n`, {}],
  ['text/event-stream', `data: ${secretList}\n\n`, { 'content-encoding': 'br' }],
])('mcp lists: one that cannot be read is refused (%s, case %#)', async (type, body, headers) => {
  allow(READ_ONLY);
  answer = (_request, res) => respond(res, body, { 'content-type': type, ...headers } as Record<string, string>);
  const response = await post(listTools());
  const text = await response.text();
  expect(text).not.toContain('delete_issue');
  expect(text).toContain('"code":-32603');
  expect(text).toContain('"id":1');
});

test('mcp lists: an event after a byte order mark, and one without its last blank line, are reduced, too', async () => {
  allow(READ_ONLY);
  answer = (_request, res) => respond(res, `\ufeffdata: ${secretList}`, { 'content-type': 'text/event-stream' });
  const text = await (await post(listTools())).text();
  expect(text).not.toContain('delete_issue');
  expect(text).toContain('read_issue');
});

test('mcp answers: a cut stream, another id and a missing answer become errors with the id of the request', async () => {
  const failure = { jsonrpc: '2.0', id: 9, error: { code: -32603 } };
  answer = (_request, res) => respond(res, { jsonrpc: '2.0', id: 8, result: {} });
  expect(await (await post(callTool('a', 9))).json()).toMatchObject(failure);
  const events = { 'content-type': 'text/event-stream' };
  const dataOf = (text: string): unknown => JSON.parse(text.slice(text.lastIndexOf('data: ') + 6));
  answer = (_request, res) => respond(res, 'data: {"jsonrpc":"2.0","id":8,"result":{}}\n\n', events);
  expect(dataOf(await (await post(callTool('a', 9))).text())).toMatchObject(failure);
  answer = (_request, res) => {
    res.writeHead(200, events);
    res.write('data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: {"jsonrpc"', () => res.destroy());
  };
  expect(dataOf(await (await post(callTool('a', 9))).text())).toMatchObject(failure);
  answer = (_request, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.write('{"jsonrpc":"2.0"', () => res.destroy());
  };
  expect(await (await post(callTool('a', 9))).json()).toMatchObject(failure);
  expect(gateway.records.map(({ error }) => error)).toEqual(['', '', 'upstream_cut', 'upstream_cut']);
});

test('mcp answers: a server that never answers, or never ends its answer, becomes an error with the id', async () => {
  await gateway.stop();
  const context = createContext([]);
  gateway = await ProxyFixture.start(context, OPTIONS, null, { headersTimeoutMs: 300, bodyTimeoutMs: 300 });
  allow(null);
  const failure = { jsonrpc: '2.0', id: 9, error: { code: -32603 } };
  answer = (_request, res) => openStreams.push(res);
  const silent = await post(callTool('a', 9));
  expect([silent.status, await silent.json()]).toEqual([
    504,
    expect.objectContaining({ id: 9, error: expect.objectContaining(failure.error) }),
  ]);
  for (const type of ['application/json', 'text/event-stream']) {
    answer = (_request, res) =>
      res.writeHead(200, { 'content-type': type }).write(type.endsWith('json') ? '{' : ': wait\n\n');
    const text = await (await post(callTool('a', 9))).text();
    expect(JSON.parse(text.slice(text.lastIndexOf('{"jsonrpc"')))).toMatchObject(failure);
  }
  await waitUntil(() => gateway.records.length === 3);
  expect(gateway.records.map(({ error }) => error)).toEqual(['timeout', 'timeout', 'timeout']);
  // The server is away.
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const away = await post(callTool('a', 9));
  expect([away.status, await away.json()]).toEqual([
    502,
    expect.objectContaining({ id: 9, error: expect.objectContaining(failure.error) }),
  ]);
});

test('mcp answers: a stream that the client can resume ends as the server ended it', async () => {
  answer = (_request, res) => respond(res, 'id: 4\ndata:\n\n', { 'content-type': 'text/event-stream' });
  expect(await (await post(callTool('a'))).text()).toBe('id: 4\ndata:\n\n');
});

test('mcp session: the agent gets a signed id, the server its own, and no other agent can use it', async () => {
  answer = ({ body }, res) => respond(res, resultOf(body, {}), { 'mcp-session-id': SESSION });
  const signed = (await post({ jsonrpc: '2.0', id: 1, method: 'initialize' })).headers.get('mcp-session-id')!;
  expect(signed).toMatch(/^server-session-1\.[\w-]{22}$/);
  await post(callTool('a'), { 'mcp-session-id': signed });
  expect(seen[1]!.headers['mcp-session-id']).toBe(SESSION);
  for (const forged of [SESSION, `${SESSION}.${'A'.repeat(22)}`, signed.replace('session', 'Session'), '.']) {
    const response = await post(callTool('a'), { 'mcp-session-id': forged });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: -32001 } });
  }
  allow(null, 'agent-2');
  expect((await post(callTool('a'), { 'mcp-session-id': signed })).status).toBe(404);
  expect((await get({ 'mcp-session-id': signed }, 'DELETE')).status).toBe(404);
  expect(seen).toHaveLength(2);
});

test('mcp origin: a page of another origin is rejected, and the server never sees the header', async () => {
  expect((await post(callTool('a'), { origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(callTool('a'), { origin: `http://127.0.0.1:${gateway.port}` })).status).toBe(200);
  expect(seen.map(({ headers }) => headers.origin)).toEqual([undefined]);
});

test('mcp login: the server cannot send the agent to a login', async () => {
  answer = (_request, res) =>
    res.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://x"' }).end('{}');
  const response = await post(callTool('a'));
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([403, null]);
  expect(gateway.records.map(({ status, responseStatus }) => [status, responseStatus])).toEqual([[401, 403]]);
});

test.each([
  ['http://169.254.169.254/latest', null],
  ['//evil.example/mcp', null],
  ['/\\evil.example/mcp', '/v1/proxy/openai/\\evil.example/mcp'],
  ['https:evil.example', null],
  ['ORIGIN/mcp/', '/v1/proxy/openai/mcp/'],
  ['/mcp/', '/v1/proxy/openai/mcp/'],
])('mcp redirect: a redirect to %s is %j for the agent', async (location, expected) => {
  answer = (_request, res) =>
    res.writeHead(307, { location: location.replace('ORIGIN', origin), 'www-authenticate': 'Bearer' }).end();
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/proxy/openai/mcp`, {
    method: 'POST',
    redirect: 'manual',
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(callTool('a')),
  });
  const seenByAgent = response.headers.get('location')?.replace(`http://127.0.0.1:${gateway.port}`, '') ?? null;
  expect([response.status, seenByAgent, response.headers.get('www-authenticate')]).toEqual([307, expected, null]);
});

test('mcp lists: an event whose lines are no JSON together becomes an error', async () => {
  allow(READ_ONLY);
  answer = (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end('data: {"jsonrpc":"2.0","id":1,"result":{"to\ndata: ols":[]}}\n\n');
  };
  const response = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(await response.text()).toContain('-32603');
});

test('mcp policy: streams are not resumed and other methods are rejected where a policy applies', async () => {
  allow(READ_ONLY);
  expect((await get({ 'last-event-id': '7' })).status).toBe(405);
  expect((await get({}, 'PUT')).status).toBe(405);
  expect(seen).toEqual([]);
});

test('mcp listening: the head arrives at once, lists are reduced, streams are bounded and end with their access', async () => {
  allow(READ_ONLY);
  answer = (_request, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    openStreams.push(res);
  };
  const streams = await Promise.all(Array.from({ length: 7 }, () => get()));
  expect(streams.map(({ status }) => status)).toEqual(Array(7).fill(200));
  expect((await get()).status).toBe(503);
  openStreams[0]!.write(`data: ${secretList}\n\n`);
  const received: string[] = [];
  const reading = streams.map(async (stream) => {
    const text = new TextDecoder();
    for await (const chunk of stream.body!) received.push(text.decode(chunk as Uint8Array));
  });
  await waitUntil(() => received.join('').includes('read_issue'));
  expect(received.join('')).not.toContain('delete_issue');
  gateway.server.sessionRevoker.revokeMatching(() => true);
  expect((await Promise.allSettled(reading)).map(({ status }) => status)).toEqual(Array(7).fill('rejected'));
  await waitUntil(() => gateway.records.length === 7);
  const listen = answer;
  answer = ({ body }, res) => respond(res, resultOf(body, {}));
  expect((await post(callTool('read_issue'))).status).toBe(200);
  answer = listen;
  const again = new AbortController();
  expect((await get({}, 'GET', again.signal)).status).toBe(200);
  again.abort();
});

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { contextOf, Fixture, GATEWAY_TOKEN, PROVIDER_KEY, upstreamOf } from '../proxy-fixture.js';
import { eventually } from '../raw-peer-fixture.js';
import { replaceAll } from './session.js';

let http: Server;
let sockets: WebSocketServer;
let gateway: Fixture;
let provider: WebSocket | null;
let handshake: IncomingMessage | null;

beforeEach(async () => {
  provider = null;
  handshake = null;
  http = createServer();
  sockets = new WebSocketServer({
    server: http,
    handleProtocols: (offered) => [...offered].at(-1) ?? false,
    verifyClient: ({ req }, done) => done(!req.url!.includes('forbidden'), 403, 'no entry'),
  });
  sockets.on('connection', (socket, request) => {
    provider = socket;
    handshake = request;
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  gateway = await Fixture.start(contextOf([upstreamOf(origin, { websocket: true })]));
});

afterEach(async () => {
  await gateway.stop();
  for (const client of sockets.clients) client.terminate();
  http.closeAllConnections();
  http.close();
});

function dial(path: string, protocols: string[] = []): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/proxy/openai${path}`, protocols, {
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}` },
  });
}

/** An open connection with what its agent received. */
async function opened(path: string, protocols: string[] = []): Promise<{ agent: WebSocket; received: string[] }> {
  const agent = dial(path, protocols);
  const received: string[] = [];
  agent.on('message', (data) => void received.push(data.toString()));
  await new Promise((resolve, reject) => {
    agent.once('open', resolve);
    agent.once('error', reject);
  });
  return { agent, received };
}

const closeOf = (socket: WebSocket): Promise<[code: number, reason: string]> =>
  new Promise((resolve) => socket.once('close', (code, reason) => resolve([code, reason.toString()])));

test('websocket: target, subprotocol and credential go up; messages go both ways; one record at the end', async () => {
  const { agent, received } = await opened('/live?a=%2F&b', ['one', 'two']);
  expect(handshake!.url).toBe('/live?a=%2F&b');
  expect(handshake!.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  expect(handshake!.headers['sec-websocket-protocol']).toBe('one,two');
  expect(agent.protocol).toBe('two');
  const fromAgent: [string, boolean][] = [];
  provider!.on('message', (data, isBinary) => void fromAgent.push([data.toString(), isBinary]));
  agent.send('hello');
  agent.send(Buffer.from('bytes'));
  provider!.send('welcome');
  await eventually(() => fromAgent.length === 2 && received.length === 1);
  expect(fromAgent).toEqual([
    ['hello', false],
    ['bytes', true],
  ]);
  expect(received).toEqual(['welcome']);
  expect(gateway.admissions).toHaveLength(1);
  expect(gateway.server.sessions.size).toBe(1);
  expect(gateway.records).toHaveLength(0);
  const closed = closeOf(provider!);
  agent.close(4001, 'done');
  expect(await closed).toEqual([4001, 'done']);
  await eventually(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({
    status: 101,
    websocket: true,
    bytesIn: 10,
    bytesOut: 7,
    error: '',
    circuitOutcome: 1,
  });
  expect(gateway.server.sessions.size).toBe(0);
  expect(gateway.server.inflight).toBe(0);
});

test('websocket: the credential is masked, and a gateway token inside a message becomes the secret', async () => {
  const { agent, received } = await opened('/live');
  const fromAgent: string[] = [];
  provider!.on('message', (data) => void fromAgent.push(data.toString()));
  agent.send(`{"access_token":"${GATEWAY_TOKEN}"}`);
  provider!.send(`you are ${PROVIDER_KEY}`);
  await eventually(() => fromAgent.length === 1 && received.length === 1);
  expect(fromAgent[0]).toBe(`{"access_token":"${PROVIDER_KEY}"}`);
  expect(received[0]).toBe(`you are ${'*'.repeat(PROVIDER_KEY.length)}`);
});

test('websocket: the upstream’s close reaches the agent', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  provider!.close(4002, 'enough');
  expect(await closed).toEqual([4002, 'enough']);
  await eventually(() => gateway.records.length === 1);
});

test('websocket: an upstream that breaks off is booked as cut', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  provider!.terminate();
  expect((await closed)[0]).toBe(1011);
  await eventually(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'upstream_cut', circuitOutcome: 2 });
});

test('websocket: revocation ends the session, and only the revoked one', async () => {
  const { agent } = await opened('/live');
  gateway.server.sessions.endRevoked(() => false);
  expect(gateway.server.sessions.size).toBe(1);
  const closed = closeOf(agent);
  gateway.server.sessions.endRevoked((context, slug) => context.agentId === 'agent-1' && slug === 'openai');
  expect(await closed).toEqual([1008, 'access was revoked']);
  await eventually(() => gateway.records.length === 1);
});

test('websocket: a drain ends sessions and books them as shutdown', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  await gateway.server.drain(1_000);
  expect((await closed)[0]).toBe(1001);
  expect(gateway.records[0]).toMatchObject({ error: 'shutdown', websocket: true });
});

test('websocket: a refusal of the upstream passes on with its status, masked', async () => {
  const agent = dial('/forbidden');
  const status = await new Promise((resolve) => {
    agent.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(403);
  expect(gateway.records[0]).toMatchObject({ status: 403, websocket: true });
});

test.each([
  ['a provider without WebSockets', 501, { websocket: false }],
  ['an unassigned account', 403, { accountStatus: 'needs_credentials' }],
] as const)('websocket: %s is %i before anything goes upstream', async (_name, expected, changes) => {
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  gateway.lookup = { context: contextOf([upstreamOf(origin, { websocket: true, ...changes })]), refusal: null };
  const agent = dial('/live');
  const status = await new Promise((resolve) => {
    agent.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(expected);
  expect(handshake).toBeNull();
  expect(gateway.admissions).toHaveLength(0);
});

test('websocket: a slow agent pauses the upstream', async () => {
  const { agent, received } = await opened('/live');
  agent.pause();
  const message = 'm'.repeat(1024 * 1024);
  for (let i = 0; i < 64; i++) provider!.send(message);
  let before = -1;
  while (before !== provider!.bufferedAmount) {
    before = provider!.bufferedAmount;
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(provider!.bufferedAmount).toBeGreaterThan(32 * 1024 * 1024);
  agent.resume();
  await eventually(() => received.length === 64);
});

test('websocket: replaceAll replaces each occurrence and copies nothing when there is none', () => {
  const bytes = Buffer.from('a-b-c');
  expect(replaceAll(bytes, Buffer.from('x'), Buffer.from('y'))).toBe(bytes);
  expect(replaceAll(bytes, Buffer.from('-'), Buffer.from('++')).toString()).toBe('a++b++c');
});

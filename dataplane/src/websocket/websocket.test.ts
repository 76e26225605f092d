import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  createContext,
  createUpstream,
  GATEWAY_TOKEN,
  PROVIDER_KEY,
  ProxyFixture,
} from '../call/testing/proxy-fixture.js';
import { connectRaw, waitUntil } from '../call/testing/raw-peer-fixture.js';
import type { HeaderInjection } from '../context/agent-context.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';

let http: Server;
let sockets: WebSocketServer;
let gateway: ProxyFixture;
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
  gateway = await ProxyFixture.start(createContext([createUpstream(origin, { allowsWebSocket: true })]));
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

/** An open connection and the messages that its agent received. */
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

test('websocket: an open session uses a call slot until it ends', async () => {
  await gateway.stop();
  const { port } = http.address() as AddressInfo;
  const context = createContext([createUpstream(`http://127.0.0.1:${port}`, { allowsWebSocket: true })]);
  gateway = await ProxyFixture.start(context, { inflightMax: 1, inflightPerOrgMax: 10 });
  const { agent } = await opened('/live');
  const refused = dial('/more');
  const [, response] = await new Promise<[unknown, IncomingMessage]>((resolve) =>
    refused.once('unexpected-response', (request, answer) => resolve([request, answer])),
  );
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
  const body = await new Promise<string>((resolve) => response.setEncoding('utf8').once('data', resolve));
  expect(body).toContain('"reason":"overload"');
  refused.on('error', () => {});
  agent.close();
  await waitUntil(() => gateway.server.sessions.size === 0);
  await opened('/again');
});

test('websocket: rejects a metered WebSocket with a hard budget, as its usage would not be seen', async () => {
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const terms = createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true });
  const upgrade = (usageFormat: 'openai' | 'none') => {
    const upstream = createUpstream(origin, { allowsWebSocket: true, usageFormat });
    gateway.lookup = { context: createContext([upstream], { agentLimits: terms }), rejection: null };
    return dial('/v1/responses');
  };
  const [status, body] = await refusalOf(upgrade('openai'));
  expect([status, JSON.parse(body)]).toMatchObject([403, { denied: 'unmetered' }]);
  expect(gateway.admissions).toHaveLength(0);
  const free = upgrade('none');
  await new Promise((resolve) => free.once('open', resolve));
  free.close();
});

test('websocket: rejects every WebSocket with a rule for models, as the gateway does not read the models in messages', async () => {
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const policy = { closed: false, calls: null, models: { allow: ['*'], deny: [] } };
  const modelCalls = [{ call: '* /v1/realtime', at: 'free' }];
  gateway.lookup = {
    context: createContext([createUpstream(origin, { allowsWebSocket: true, policy, modelCalls })]),
    rejection: null,
  };
  const [status, body] = await refusalOf(dial('/v1/realtime'));
  expect([status, JSON.parse(body)]).toMatchObject([403, { denied: 'call' }]);
  expect([gateway.admissions.length, provider]).toEqual([0, null]);
});

test('websocket: rejects an agent that is paused while it waits for a probe lease, and releases the lease', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const held: ((lease: string | null) => void)[] = [];
  gateway.pendingProbes = held;
  const refused = refusalOf(dial('/live'));
  await waitUntil(() => held.length === 1);
  gateway.lookup = { context: createContext([], { agentStatus: 'paused' }), rejection: null };
  held[0]!('lease-1');
  expect((await refused)[0]).toBe(403);
  expect([gateway.admissions.length, gateway.releasedProbes, provider]).toEqual([0, ['lease-1'], null]);
});

test('websocket: stops counting the connection of an ended session, whichever side ended it', async () => {
  const { connections } = gateway.server;
  const ends: ((agent: WebSocket) => void)[] = [
    (agent) => agent.close(),
    (agent) => agent.terminate(),
    () => provider!.close(),
    () => gateway.server.sessionRevoker.revokeMatching(() => true),
  ];
  for (const end of ends) {
    const { agent } = await opened('/live');
    expect(gateway.server.connections).toBe(connections + 1);
    const closed = closeOf(agent);
    end(agent);
    await closed;
    await waitUntil(() => gateway.server.connections === connections);
  }
});

test('websocket: open sessions count towards their organization’s concurrency limit', async () => {
  await gateway.stop();
  const { port } = http.address() as AddressInfo;
  const context = createContext([createUpstream(`http://127.0.0.1:${port}`, { allowsWebSocket: true })]);
  gateway = await ProxyFixture.start(context, { inflightMax: 3, inflightPerOrgMax: 1 });
  const first = await opened('/1');
  const refused = dial('/2');
  const body = await new Promise<string>((resolve) =>
    refused.once('unexpected-response', (_request, answer) => {
      answer.setEncoding('utf8').once('data', resolve);
    }),
  );
  refused.on('error', () => {});
  expect(body).toContain('"reason":"org_inflight"');
  first.agent.close();
  await waitUntil(() => gateway.server.sessions.size === 0);
  await opened('/3');
});

test.each([
  ['close', false],
  ['keep-alive', false],
  ['close\r\nConnection: Upgrade', false],
  ['Upgrade\r\nConnection: close', true],
  ['keep-alive, Upgrade', true],
])('websocket: a request that says `Connection: %s` is a handshake: %s', async (connection, isHandshake) => {
  http.on('request', (_request, response) => response.end('plain'));
  const agent = await connectRaw(gateway.port);
  agent.send(
    `GET /v1/proxy/openai/live HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      `Connection: ${connection}\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  await agent.waitForText('\r\n\r\n');
  expect(agent.text).toMatch(isHandshake ? /^HTTP\/1\.1 101 / : /^HTTP\/1\.1 200 /);
  if (isHandshake) {
    provider!.send('welcome');
    await agent.waitForText('\x81\x07welcome');
  }
  agent.socket.destroy();
});

test('websocket: forwards target, subprotocol and credential, carries messages both ways, and writes one record', async () => {
  const { agent, received } = await opened('/live?a=%2F&b', ['one', 'two']);
  expect(handshake!.url).toBe('/live?a=%2F&b');
  expect(handshake!.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
  expect(handshake!.headers['sec-websocket-protocol']).toBe('one,two');
  expect(agent.protocol).toBe('two');
  expect(handshake!.headers).not.toHaveProperty('sec-websocket-extensions'); // Although the agent offered some.
  const fromAgent: [string, boolean][] = [];
  provider!.on('message', (data, isBinary) => void fromAgent.push([data.toString(), isBinary]));
  agent.send('hello');
  agent.send(Buffer.from('bytes'));
  provider!.send('welcome');
  await waitUntil(() => fromAgent.length === 2 && received.length === 1);
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
  await waitUntil(() => gateway.records.length === 1);
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

test('websocket: forwards each valid subprotocol of an agent once', async () => {
  const agent = await connectRaw(gateway.port);
  agent.send(
    `GET /v1/proxy/openai/live HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: one, o(ne, , one,two\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  await agent.waitForText('\r\n\r\n');
  expect(agent.text).toMatch(/^HTTP\/1\.1 101 /);
  expect(handshake!.headers['sec-websocket-protocol']).toBe('one,two');
  agent.socket.destroy();
});

test('websocket: masks the credential in whole messages, fragments and close reasons', async () => {
  const { agent, received } = await opened('/live');
  provider!.send(`you are ${PROVIDER_KEY}`);
  provider!.send(`you are ${PROVIDER_KEY.slice(0, 5)}`, { fin: false });
  provider!.send(`${PROVIDER_KEY.slice(5)}!`, { fin: true });
  provider!.send(Buffer.from(`\0${PROVIDER_KEY}\xff`, 'latin1'), { binary: true });
  await waitUntil(() => received.length === 3);
  const stars = '*'.repeat(PROVIDER_KEY.length);
  expect(received).toEqual([
    `you are ${stars}`,
    `you are ${stars}!`,
    Buffer.from(`\0${stars}\xff`, 'latin1').toString(),
  ]);
  const closed = closeOf(agent);
  provider!.close(4001, `bye ${PROVIDER_KEY}`);
  expect(await closed).toEqual([4001, `bye ${stars}`]);
});

/** Returns what the provider receives of an agent's messages. */
async function sentUp(agent: WebSocket, messages: readonly (string | Buffer)[]): Promise<string[]> {
  const got: string[] = [];
  provider!.on('message', (data) => void got.push(data.toString()));
  for (const message of messages) agent.send(message);
  await waitUntil(() => got.length === messages.length);
  return got;
}

const JOIN = JSON.stringify(['1', '2', 'realtime:a', 'phx_join', { access_token: GATEWAY_TOKEN }]);
const BROADCAST = JSON.stringify(['1', '3', 'realtime:a', 'broadcast', { access_token: GATEWAY_TOKEN }]);

test('websocket: leaves a gateway token in messages to other providers than supabase unchanged', async () => {
  const { agent } = await opened('/live');
  expect(await sentUp(agent, [JOIN, BROADCAST])).toEqual([JOIN, BROADCAST]);
});

test('websocket: a supabase join carries the provider credential; broadcasts and binary messages never do', async () => {
  const { context } = gateway.lookup;
  const upstream = context!.upstreams.get('openai')!;
  const injection = { ...(upstream.injection as HeaderInjection), bearerUnlessUserJwt: `Bearer ${PROVIDER_KEY}` };
  gateway.lookup = { context: createContext([{ ...upstream, injection }]), rejection: null };
  const { agent } = await opened('/live');
  const got = await sentUp(agent, [JOIN, BROADCAST, Buffer.from(JOIN)]);
  expect(got).toEqual([JOIN.replace(GATEWAY_TOKEN, PROVIDER_KEY), BROADCAST, JOIN]);
});

test('websocket: forwards the upstream’s close to the agent', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  provider!.close(4002, 'enough');
  expect(await closed).toEqual([4002, 'enough']);
  await waitUntil(() => gateway.records.length === 1);
});

test('websocket: books a session as upstream_cut when the upstream aborts', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  provider!.terminate();
  expect((await closed)[0]).toBe(1011);
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'upstream_cut', circuitOutcome: 2 });
});

test('websocket: a revocation closes the revoked session only', async () => {
  const { agent } = await opened('/live');
  gateway.server.sessionRevoker.revokeMatching(() => false);
  expect(gateway.server.sessions.size).toBe(1);
  const closed = closeOf(agent);
  gateway.server.sessionRevoker.revokeMatching(
    (context, { providerSlug }) => context.agentId === 'agent-1' && providerSlug === 'openai',
  );
  expect(await closed).toEqual([1008, 'access was revoked']);
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ status: 101, error: 'revoked' });
});

test('websocket: a revocation during the upstream’s handshake aborts it, and no session opens', async () => {
  http.removeAllListeners('upgrade');
  const handshakes: Duplex[] = [];
  let left = 0;
  http.on('upgrade', (_request, socket) => {
    handshakes.push(socket);
    socket.resume().on('error', () => {});
    socket.once('end', () => void left++);
  });
  const agent = dial('/live');
  const ended = new Promise((resolve) => agent.once('error', resolve));
  await waitUntil(() => handshakes.length === 1);
  gateway.server.sessionRevoker.revokeMatching(() => true);
  await ended;
  await waitUntil(() => gateway.records.length === 1 && left === 1);
  expect(gateway.records[0]).toMatchObject({ websocket: true, error: 'revoked', circuitOutcome: 0 });
  expect([gateway.server.sessions.size, gateway.server.inflight]).toEqual([0, 0]);
});

test('websocket: rejects a call that was revoked while the limits were checked, and sends nothing upstream', async () => {
  const held: (() => void)[] = [];
  gateway.pendingAdmissions = held;
  const refused = refusalOf(dial('/live'));
  await waitUntil(() => held.length === 1);
  gateway.server.sessionRevoker.revokeMatching(() => true);
  held[0]!();
  expect((await refused)[0]).toBe(403);
  expect([handshake, gateway.server.sessions.size, gateway.server.inflight]).toEqual([null, 0, 0]);
});

test('websocket: dials a tenant’s address through the egress guard, which rejects private ones', async () => {
  const { port } = http.address() as AddressInfo;
  const upstream = createUpstream(`http://127.0.0.1:${port}`, { allowsWebSocket: true, isTenantAddress: true });
  gateway.lookup = { context: createContext([upstream]), rejection: null };
  expect((await refusalOf(dial('/live')))[0]).toBeGreaterThanOrEqual(400);
  expect(handshake).toBeNull();
});

test('websocket: checks each session again after a resync', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  gateway.server.sessionRevoker.recheckAll();
  gateway.lookup = { context: createContext([]), rejection: null }; // The account was deleted.
  gateway.server.sessionRevoker.recheckAll();
  expect(await closed).toEqual([1008, 'access was revoked']);
});

test('websocket: a drain closes sessions and books them as shutdown', async () => {
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  await gateway.server.drain(1_000);
  expect((await closed)[0]).toBe(1001);
  expect(gateway.records[0]).toMatchObject({ error: 'shutdown', websocket: true });
});

/** Status and body of a rejected upgrade. */
function refusalOf(agent: WebSocket): Promise<[status: number, body: string]> {
  return new Promise((resolve, reject) => {
    agent.on('error', reject);
    agent.on('unexpected-response', (_request, response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve([response.statusCode!, body]));
    });
  });
}

test('websocket: forwards a rejection of the upstream with its status, masked', async () => {
  http.removeAllListeners('upgrade');
  http.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 403 No\r\nContent-Length: ${PROVIDER_KEY.length + 3}\r\n\r\nno ${PROVIDER_KEY}`);
  });
  const [status, body] = await refusalOf(dial('/forbidden'));
  expect(status).toBe(403);
  expect(JSON.parse(body)).toMatchObject({ providerAnswer: `no ${'*'.repeat(PROVIDER_KEY.length)}` });
  expect(gateway.records[0]).toMatchObject({ status: 403, websocket: true });
});

test('websocket: cuts the endless body of an upstream rejection, and closes its connection', async () => {
  http.removeAllListeners('upgrade');
  let ended = false;
  http.on('upgrade', (_request, socket) => {
    const pour = (): void => {
      while (socket.write('x'.repeat(16 * 1024)));
    };
    socket.on('error', () => {}).on('drain', pour);
    socket.once('close', () => {
      ended = true;
    });
    socket.write('HTTP/1.1 403 No\r\nConnection: close\r\n\r\n');
    pour();
  });
  const [status, body] = await refusalOf(dial('/forbidden'));
  expect(status).toBe(403);
  expect(body.length).toBeLessThan(1024 * 1024);
  await waitUntil(() => ended);
});

/** A gateway with the given timeout for the upstream's handshake. */
async function restartImpatient(): Promise<void> {
  await gateway.stop();
  gateway = await ProxyFixture.start(gateway.lookup.context!, { handshakeTimeoutMs: 300 });
  http.removeAllListeners('upgrade');
}

test('websocket: books a timeout when the upstream accepts the connection and does not answer the handshake', async () => {
  await restartImpatient();
  let ended = false;
  http.on('upgrade', (_request, socket) => {
    const end = (): void => {
      ended = true;
    };
    socket.on('error', end).on('end', end).resume();
  });
  const [status] = await refusalOf(dial('/live'));
  expect(status).toBe(504);
  expect(gateway.records).toMatchObject([{ error: 'timeout', status: 0, websocket: true }]);
  await waitUntil(() => ended);
});

test('websocket: forwards the received part of an upstream rejection whose body stalls', async () => {
  await restartImpatient();
  http.on('upgrade', (_request, socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 403 No\r\nContent-Length: 999\r\n\r\nno entry, because');
  });
  let [status, body] = await refusalOf(dial('/live'));
  // A busy machine may deliver the head late.
  while (status === 504) [status, body] = await refusalOf(dial('/live'));
  expect([status, JSON.parse(body).providerAnswer]).toEqual([403, 'no entry, ']);
});

test('websocket: shows no part of the credential when an upstream rejection ends inside it', async () => {
  http.removeAllListeners('upgrade');
  http.on('upgrade', (_request, socket) => {
    socket.end(`HTTP/1.1 403 No\r\nContent-Length: 999\r\n\r\nyour key is ${PROVIDER_KEY.slice(0, 9)}`);
  });
  const [, body] = await refusalOf(dial('/forbidden'));
  expect(JSON.parse(body)).toMatchObject({ providerAnswer: 'your key is ' });
});

test('websocket: a probe reports success when the upstream accepts, and not again at its end', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const { agent } = await opened('/live');
  expect(gateway.goodProbes).toEqual([[gateway.lookup.context!.upstreams.get('openai')!.circuitKey, 7, 'lease-1']]);
  agent.close();
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ probeLease: '', circuitEpoch: 7 });
  expect(gateway.releasedProbes).toEqual([]);
});

test('websocket: books a failed handshake of a probe at once, with its lease', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  http.removeAllListeners('upgrade');
  http.on('upgrade', (_request, socket) => socket.destroy());
  const agent = dial('/live');
  const status = await new Promise((resolve) => {
    agent.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(502);
  expect(gateway.records[0]).toMatchObject({ probeLease: 'lease-1', circuitEpoch: 7, circuitOutcome: 2 });
  expect(gateway.goodProbes).toEqual([]);
});

test.each([
  ['a provider without WebSockets', 501, { allowsWebSocket: false }],
  ['an unassigned account', 403, { accountStatus: 'needs_credentials' }],
] as const)('websocket: rejects %s with %i before anything goes upstream', async (_name, expected, changes) => {
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  gateway.lookup = {
    context: createContext([createUpstream(origin, { allowsWebSocket: true, ...changes })]),
    rejection: null,
  };
  const agent = dial('/live');
  const status = await new Promise((resolve) => {
    agent.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(expected);
  expect(handshake).toBeNull();
  expect(gateway.admissions).toHaveLength(0);
});

test('websocket: a slow agent pauses the provider and receives every message in the end', async () => {
  const { agent, received } = await opened('/live');
  agent.pause();
  const message = 'm'.repeat(1024 * 1024);
  for (let i = 0; i < 64; i++) provider!.send(message);
  let before = -1;
  while (before !== provider!.bufferedAmount) {
    before = provider!.bufferedAmount;
    for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  // The operating system buffers an unknown part of it; without the pause the gateway would hold all of it.
  expect(provider!.bufferedAmount).toBeGreaterThan(message.length);
  expect(gateway.server.sessions.size).toBe(1);
  agent.resume();
  await waitUntil(() => received.length === 64);
});

test('websocket: rejects a session whose upstream accepts during a drain, and books it as shutdown', async () => {
  let agree: (() => void) | null = null;
  http.removeAllListeners('upgrade');
  const late = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    agree = () => late.handleUpgrade(request, socket, head, () => {});
  });
  const agent = dial('/live');
  const status = new Promise((resolve) => {
    agent.on('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  await waitUntil(() => agree !== null);
  const drained = gateway.server.drain(20_000);
  agree!();
  await drained;
  expect(await status).toBe(503);
  expect(gateway.server.sessions.size).toBe(0);
  expect(gateway.records).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ error: 'shutdown', responseStatus: 503, circuitOutcome: 0 });
});

test('websocket: forwards a header named like a property of every object', async () => {
  const agent = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/proxy/openai/live`, {
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, constructor: 'one' },
  });
  await new Promise((resolve) => agent.once('open', resolve));
  expect(Object.getOwnPropertyDescriptor(handshake!.headers, 'constructor')?.value).toBe('one');
});

test('websocket: closes a session when its key expires', async () => {
  const keyExpiresAtMs = Date.now() + 3_600_000;
  const upstream = gateway.lookup.context!.upstreams.get('openai')!;
  gateway.lookup = { context: createContext([upstream], { keyExpiresAtMs }), rejection: null };
  const { agent } = await opened('/live');
  const closed = closeOf(agent);
  gateway.server.sessionRevoker.revokeExpired(keyExpiresAtMs - 1);
  expect(gateway.server.sessions.size).toBe(1);
  gateway.server.sessionRevoker.revokeExpired(keyExpiresAtMs);
  expect(await closed).toEqual([1008, 'the key has expired']);
  await waitUntil(() => gateway.records.length === 1);
});

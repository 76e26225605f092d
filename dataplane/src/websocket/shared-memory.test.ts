/**
 * A tenant that controls both ends of its WebSockets makes the process hold as much memory as it can. Messages of
 * another tenant still pass, the bounds hold, and no bytes stay counted at the end.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from '../call/testing/proxy-fixture.js';
import { connectRaw, waitUntil } from '../call/testing/raw-peer-fixture.js';

const MIB = 1024 * 1024;
const POOL_BYTES = 16 * MIB;
const OPTIONS = { webSocketsMax: 16, webSocketMessageBytesMax: MIB, webSocketPoolBytes: POOL_BYTES };

let http: Server;
let sockets: WebSocketServer;
let gateway: ProxyFixture;
/** Handler of a connection at the provider. */
let onConnection: (socket: WebSocket) => void;
let agents: WebSocket[];

beforeEach(async () => {
  agents = [];
  onConnection = () => {};
  http = createServer();
  sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket, request) => {
    socket.on('error', () => {});
    if (request.url === '/echo') socket.on('message', (data, binary) => socket.send(data, { binary }));
    else onConnection(socket);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  gateway = await ProxyFixture.start(createContext([]), OPTIONS);
});

afterEach(async () => {
  for (const agent of agents) agent.terminate();
  await gateway.stop();
  for (const client of sockets.clients) client.terminate();
  http.closeAllConnections();
  http.close();
});

/** Assigns the token to an agent of that organization. */
function toProvider(orgId: string): void {
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  gateway.lookup = {
    context: createContext([createUpstream(origin, { allowsWebSocket: true })], { orgId }),
    rejection: null,
  };
}

function dial(orgId: string, path: string): WebSocket {
  toProvider(orgId);
  const agent = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/proxy/openai${path}`, {
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}` },
  });
  agents.push(agent);
  return agent;
}

/** Resolves with null when the WebSocket is open, or with the reason of its rejection. */
function answered(agent: WebSocket): Promise<string | null> {
  return new Promise((resolve) => {
    agent.once('open', () => resolve(null));
    agent.on('error', () => {});
    agent.once('unexpected-response', (_request: unknown, response: IncomingMessage) => {
      expect(response.statusCode).toBe(503);
      expect(response.headers['retry-after']).toBe('1');
      response.setEncoding('utf8').once('data', (text: string) => resolve(JSON.parse(text).reason));
    });
  });
}

/** Opens WebSockets until the organization is rejected. */
async function openAll(orgId: string, path: string, onOpen: (agent: WebSocket) => void = () => {}): Promise<number> {
  for (let opened = 0; ; opened++) {
    const agent = dial(orgId, path);
    const refusal = await answered(agent);
    if (refusal !== null) {
      expect(refusal).toBe('org_inflight');
      return opened;
    }
    onOpen(agent);
  }
}

const closeOf = (agent: WebSocket): Promise<[code: number, reason: string]> =>
  new Promise((resolve) => agent.once('close', (code, reason) => resolve([code, reason.toString()])));

const settled = async (): Promise<void> => {
  for (let turn = 0, before = -1; turn < 200; turn++) {
    if (before !== gateway.server.webSocketBytes) turn = 0;
    before = gateway.server.webSocketBytes;
    expect(before).toBeLessThanOrEqual(POOL_BYTES);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

async function neighbourEchoes(): Promise<void> {
  const agent = dial('neighbour', '/echo');
  expect(await answered(agent)).toBeNull();
  const message = Buffer.alloc(MIB, 'neighbour');
  for (let round = 0; round < 5; round++) {
    const echo = new Promise<Buffer>((resolve, reject) => {
      agent.once('message', (data) => resolve(data as Buffer));
      agent.once('close', (code) => reject(new Error(`closed with ${code}`)));
    });
    agent.send(message);
    expect((await echo).equals(message)).toBe(true);
  }
  agent.terminate();
}

async function allIsFreeAgain(): Promise<void> {
  for (const agent of agents) agent.terminate();
  for (const client of sockets.clients) client.terminate();
  await waitUntil(() => gateway.server.webSocketSlotsUsed === 0 && gateway.server.webSocketBytes === 0);
  expect([gateway.server.sessions.size, gateway.server.inflight]).toEqual([0, 0]);
}

const unfinished = Buffer.alloc(MIB - 1, 'x');

const HOSTILE: Readonly<
  Record<string, { onProvider: (socket: WebSocket) => void; onAgent: (agent: WebSocket) => void }>
> = {
  'messages of agents and providers that never end': {
    onProvider: (socket) => socket.send(unfinished, { fin: false }),
    onAgent: (agent) => agent.send(unfinished, { fin: false }),
  },
  'agents that read nothing': {
    onProvider: (socket) => {
      for (let i = 0; i < 16; i++) socket.send(Buffer.alloc(MIB));
    },
    onAgent: (agent) => agent.pause(),
  },
  'providers that read nothing': {
    onProvider: (socket) => socket.pause(),
    onAgent: (agent) => {
      for (let i = 0; i < 16; i++) agent.send(Buffer.alloc(MIB));
    },
  },
};

test.each(Object.keys(HOSTILE))(
  'shared memory: %s: large messages of another tenant pass, and no bytes stay counted',
  async (what) => {
    const { onProvider, onAgent } = HOSTILE[what]!;
    onConnection = onProvider;
    await openAll('hostile', '/hostile', onAgent);
    await waitUntil(() => gateway.server.webSocketBytes > MIB / 4);
    await settled();
    await neighbourEchoes();
    expect(gateway.bugs).toBe(0);
    await allIsFreeAgain();
  },
);

test('shared memory: closes a session past its memory with 1013, once the organization holds all but an 8th', async () => {
  onConnection = (socket) => socket.send(unfinished, { fin: false });
  const codes: number[] = [];
  const opened = await openAll(
    'hostile',
    '/hostile',
    (agent) => void closeOf(agent).then(([code]) => codes.push(code)),
  );
  expect(opened).toBeGreaterThanOrEqual(14); // Some closed before the last one was rejected.
  await waitUntil(() => codes.length > 0);
  expect(new Set(codes)).toEqual(new Set([1013]));
  await settled();
  expect(gateway.server.webSocketBytes).toBeGreaterThan(12 * MIB);
  await allIsFreeAgain();
});

test('shared memory: tenants that use all memory one after the other do not lock out the next one', async () => {
  onConnection = (socket) => socket.send(unfinished, { fin: false });
  await openAll('hostile-1', '/hostile');
  dial('hostile-2', '/hostile');
  await settled();
  await neighbourEchoes();
  await allIsFreeAgain();
});

test('shared memory: one organization gets all slots but an 8th, and then 503', async () => {
  expect(await openAll('one', '/quiet')).toBe(14);
  expect(await answered(dial('two', '/quiet'))).toBeNull();
  expect(await answered(dial('three', '/quiet'))).toBeNull();
  expect(await answered(dial('four', '/quiet'))).toBe('overload');
  expect(gateway.rejections).toContain('openai overload');
  await allIsFreeAgain();
});

test.each(['the agent', 'the provider'])(
  'shared memory: a message of %s that is too big closes the session',
  async (who) => {
    onConnection = (socket) => {
      if (who === 'the provider') socket.send(Buffer.alloc(MIB + 1));
      else void closeOf(socket).then((end) => void providerEnd.push(end));
    };
    const providerEnd: [number, string][] = [];
    const agent = dial('one', '/hostile');
    const closed = closeOf(agent);
    await answered(agent);
    if (who === 'the agent') agent.send(Buffer.alloc(MIB + 1));
    // The server closes the connection of the agent without a code.
    expect((await closed)[0]).toBe(who === 'the agent' ? 1006 : 1009);
    await waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ status: 101, error: 'message_too_big', circuitOutcome: 0 });
    if (who === 'the agent') {
      await waitUntil(() => providerEnd.length === 1);
      expect(providerEnd).toEqual([[1009, 'the message of the agent is too big']]);
    }
    await allIsFreeAgain();
  },
);

test('shared memory: answers pings of a provider, and no bytes stay counted', async () => {
  const answers: string[] = [];
  onConnection = (socket) => {
    socket.on('pong', (data) => {
      answers.push(data.toString());
      if (answers.length < 50) socket.ping(String(answers.length));
    });
    socket.ping('0');
  };
  await answered(dial('one', '/pings'));
  await waitUntil(() => answers.length === 50 && gateway.server.webSocketBytes === 0);
  expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
});

test('shared memory: many small messages pass both ways, and no bytes stay counted', async () => {
  const agent = dial('one', '/echo');
  await answered(agent);
  let echoed = 0;
  agent.on('message', () => void echoed++);
  for (let i = 0; i < 5_000; i++) agent.send('x');
  await waitUntil(() => echoed === 5_000 && gateway.server.webSocketBytes === 0);
});

test('shared memory: a message of maximum size passes both ways, also in many frames', async () => {
  const agent = dial('one', '/echo');
  await answered(agent);
  const echo = new Promise<Buffer>((resolve) => agent.once('message', (data) => resolve(data as Buffer)));
  const frame = Buffer.alloc(4096, 'x');
  for (let sent = frame.length; sent <= MIB; sent += frame.length) agent.send(frame, { fin: sent === MIB });
  expect((await echo).length).toBe(MIB);
});

const UPGRADE_HEAD =
  `GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

/** Ways in which a WebSocket with a slot ends, after its handshake has reached the provider. */
const ENDINGS: Readonly<Record<string, () => Promise<void>>> = {
  'the provider rejects the handshake': async () => {
    http.removeAllListeners('upgrade');
    http.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'));
    dial('one', '/x').on('error', () => {});
  },
  'the provider aborts the handshake': async () => {
    http.removeAllListeners('upgrade');
    http.on('upgrade', (_request, socket) => socket.destroy());
    dial('one', '/x').on('error', () => {});
  },
  'no server listens': async () => {
    dial('one', '/x').on('error', () => {});
    const upstream = createUpstream('http://127.0.0.1:1', { allowsWebSocket: true });
    gateway.lookup = { context: createContext([upstream]), rejection: null };
  },
  'the agent disconnects during the handshake': async () => {
    http.removeAllListeners('upgrade');
    let begun = false;
    http.on('upgrade', (_request, socket) => {
      begun = true;
      socket.on('error', () => {}).resume();
    });
    toProvider('one');
    const agent = await connectRaw(gateway.port);
    agent.send(UPGRADE_HEAD);
    await waitUntil(() => begun);
    agent.socket.destroy();
  },
  'access is revoked during the handshake': async () => {
    http.removeAllListeners('upgrade');
    let begun = false;
    http.on('upgrade', (_request, socket) => {
      begun = true;
      socket.on('error', () => {}).resume();
    });
    dial('one', '/x').on('error', () => {});
    await waitUntil(() => begun);
    gateway.server.sessionRevoker.revokeMatching(() => true);
  },
  'the limits reject it': async () => {
    const held: (() => void)[] = [];
    gateway.pendingAdmissions = held;
    dial('one', '/x').on('error', () => {});
    await waitUntil(() => held.length === 1);
    gateway.server.sessionRevoker.revokeMatching(() => true);
    held[0]!();
  },
  'the agent closes': async () => {
    const agent = dial('one', '/x');
    await answered(agent);
    agent.close();
  },
  'the agent aborts': async () => {
    const agent = dial('one', '/x');
    await answered(agent);
    agent.terminate();
  },
  'the provider closes': async () => {
    onConnection = (socket) => socket.close(4000);
    await answered(dial('one', '/x'));
  },
  'the provider aborts': async () => {
    onConnection = (socket) => socket.terminate();
    dial('one', '/x').on('error', () => {});
  },
  'access is revoked': async () => {
    await answered(dial('one', '/x'));
    gateway.server.sessionRevoker.revokeMatching(() => true);
  },
  'the process stops': async () => {
    await answered(dial('one', '/x'));
    await gateway.server.drain(1_000);
  },
};

test.each(Object.keys(ENDINGS))('shared memory: %s: releases its slot and its bytes once', async (ending) => {
  const taken: number[] = [];
  gateway.onPeek = () => void taken.push(gateway.server.webSocketSlotsUsed);
  await ENDINGS[ending]!();
  await waitUntil(() => gateway.server.webSocketSlotsUsed === 0 && gateway.server.inflight === 0 && taken.length > 0);
  expect([Math.max(...taken), gateway.server.webSocketBytes, gateway.bugs]).toEqual([1, 0, 0]);
});

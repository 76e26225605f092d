import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createTestExchange } from '../call/testing/exchange-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN } from '../call/testing/proxy-fixture.js';
import { waitUntil } from '../call/testing/raw-peer-fixture.js';
import { compileMaskPatterns } from '../upstream/masking/credential-mask.js';
import { FRAGMENT_BYTES, QUEUED_OVERHEAD_BYTES } from './agent-outbox.js';
import { MemoryPool } from './memory-pool.js';
import { UNSENT_OVERHEAD_BYTES, WebSocketSession } from './websocket-session.js';

/** Results of the server's send. */
const FULL = 0;
const SENT = 1;
const DROPPED = 2;
const MIB = 1024 * 1024;

class FakeUpstream extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  protocol = '';
  bufferedAmount = 0;
  paused = false;
  terminated = 0;
  readonly closed: [code: number, reason: string][] = [];
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  /** Callbacks of messages that the socket has taken. */
  readonly taken: (() => void)[] = [];
  send(message: Buffer, _options: object, done: () => void): void {
    this.bufferedAmount += message.length;
    this.taken.push(() => {
      this.bufferedAmount -= message.length;
      done();
    });
  }
  pong(data: Buffer, _mask: boolean, done: () => void): void {
    this.send(data, {}, done);
  }
  terminate(): void {
    this.terminated++;
  }
  close(code: number, reason: string | Buffer): void {
    this.closed.push([code, reason.toString()]);
  }
}

class FakeAgent {
  status = SENT;
  buffered = 0;
  /** A message in several pieces counts once. */
  readonly received: string[] = [];
  #unfinished = '';
  ended: [code: number, reason: string] | null = null;
  send(message: Buffer): number {
    return this.#take(message, true);
  }
  sendFirstFragment(piece: Buffer): number {
    return this.#take(piece, false);
  }
  sendFragment(piece: Buffer): number {
    return this.#take(piece, false);
  }
  sendLastFragment(piece: Buffer): number {
    return this.#take(piece, true);
  }
  getBufferedAmount(): number {
    if (this.ended !== null) throw new Error('used after its end');
    return this.buffered;
  }
  end(code: number, reason: string): void {
    this.ended = [code, reason];
  }
  #take(piece: Buffer, isLast: boolean): number {
    expect(this.ended).toBeNull();
    if (this.status === FULL) this.buffered = piece.length;
    this.#unfinished += piece.toString();
    if (isLast) this.received.push(this.#unfinished);
    if (isLast) this.#unfinished = '';
    return this.status;
  }
}

function setup() {
  const upstream = new FakeUpstream();
  const agent = new FakeAgent();
  const ended: WebSocketSession[] = [];
  const exchange = createTestExchange({
    routed: {
      context: createContext([]),
      upstream: createUpstream('http://127.0.0.1:1', { allowsWebSocket: true }),
      tokenPosition: { gatewayToken: GATEWAY_TOKEN },
    },
  });
  const reads = new EventEmitter();
  const pool = new MemoryPool(64 * MIB);
  const gone: WebSocketSession[] = [];
  const session = new WebSocketSession(exchange, upstream as never, reads, {
    forms: compileMaskPatterns([]),
    messageBytesMax: 4 * MIB,
    memoryPool: pool,
    lingerTimeouts: { lingerMs: 0, unreadLingerMs: 0 },
    onEnd: (one) => void ended.push(one),
    onDisconnected: (one) => void gone.push(one),
  });
  const say = (text: string): void => void upstream.emit('message', Buffer.from(text), false);
  const read = (bytes: number): void => void reads.emit('data', Buffer.alloc(bytes));
  return { session, upstream, agent, ended, gone, pool, say, read };
}

test('session: pauses the upstream until the agent’s side is open', () => {
  const { session, upstream, agent } = setup();
  expect(upstream.paused).toBe(true);
  session.onAgentOpen(agent as never);
  expect(upstream.paused).toBe(false);
});

test('session: an agent whose socket is full pauses the upstream until it drains', () => {
  const { session, upstream, agent, say } = setup();
  session.onAgentOpen(agent as never);
  say('one');
  expect(upstream.paused).toBe(false);
  agent.status = FULL;
  say('two');
  expect(upstream.paused).toBe(true);
  agent.status = SENT;
  agent.buffered = 0;
  session.onAgentWritable();
  expect(upstream.paused).toBe(false);
  agent.status = FULL;
  say('three');
  expect(upstream.paused).toBe(true);
  expect(agent.received).toEqual(['one', 'two', 'three']);
});

test('session: closes both sides once when the agent’s socket dropped a message', () => {
  const { session, upstream, agent, ended, say } = setup();
  session.onAgentOpen(agent as never);
  agent.status = DROPPED;
  say('lost');
  say('late');
  const end = [1013, 'the agent is too slow'];
  expect([upstream.closed, agent.ended, ended.length]).toEqual([[end], end, 1]);
  expect(agent.received).toEqual(['lost']);
});

test('session: closes both sides when the upstream does not read the agent’s messages', () => {
  const { session, upstream, agent, ended } = setup();
  session.onAgentOpen(agent as never);
  upstream.bufferedAmount = 16 * 1024 * 1024 + 1;
  session.onAgentMessage(new ArrayBuffer(1), true);
  const end = [1013, 'the provider is too slow'];
  expect([upstream.closed, agent.ended, ended.length]).toEqual([[end], end, 1]);
});

test('session: sends a long message in pieces as the agent reads, and counts all of it until then', () => {
  const { session, upstream, agent, pool, say } = setup();
  session.onAgentOpen(agent as never);
  const long = 'abc'.repeat(FRAGMENT_BYTES);
  agent.status = FULL;
  say(long);
  say('short');
  expect([agent.received, upstream.paused]).toEqual([[], true]);
  const [inLong, inShort] = [long.length + QUEUED_OVERHEAD_BYTES, 5 + QUEUED_OVERHEAD_BYTES];
  for (const ours of [inLong + inShort, inLong + inShort, inShort]) {
    expect(pool.bytes).toBe(FRAGMENT_BYTES + ours); // And the piece that the server has.
    session.onAgentWritable(); // No bytes have moved.
    agent.buffered = 0;
    session.onAgentWritable();
  }
  expect(agent.received).toEqual([long, 'short']);
  agent.buffered = 0;
  session.onAgentWritable();
  expect([pool.bytes, upstream.paused]).toEqual([0, false]);
});

test('session: delivers the upstream’s last messages to a slow agent before the close', () => {
  const { session, upstream, agent, ended, say } = setup();
  session.onAgentOpen(agent as never);
  agent.status = FULL;
  say('last words'.repeat(FRAGMENT_BYTES));
  upstream.emit('close', 4000, Buffer.from('done'));
  expect([ended.length, agent.ended]).toEqual([0, null]);
  session.onAgentMessage(new ArrayBuffer(1), true);
  agent.status = SENT;
  agent.buffered = 0;
  session.onAgentWritable();
  expect([ended.length, agent.ended, agent.received.length]).toEqual([1, [4000, 'done'], 1]);
});

test('session: ends when the agent does not read pongs', () => {
  const { session, upstream, agent, ended, say } = setup();
  session.onAgentOpen(agent as never);
  agent.buffered = 100;
  session.onAgentWritable();
  expect(upstream.paused).toBe(true);
  agent.buffered = 0;
  session.onAgentWritable();
  expect(upstream.paused).toBe(false);
  agent.status = DROPPED;
  say('x'.repeat(2 * FRAGMENT_BYTES));
  expect([ended.length, agent.ended]).toEqual([1, [1013, 'the agent is too slow']]);
});

test('session: counts the bytes of an unfinished message until it ends', () => {
  const { session, agent, pool, say, read } = setup();
  session.onAgentOpen(agent as never);
  read(1000);
  read(1000);
  expect(pool.bytes).toBe(2 * (1000 + 512));
  say('whole'); // Ends in the third read.
  expect(pool.bytes).toBe(0);
  read(1000);
  expect(pool.bytes).toBe(0);
  read(1000);
  expect(pool.bytes).toBe(1512);
});

test('session: counts pings and pongs as no part of a message, and counts queued pongs', () => {
  const { session, upstream, agent, pool, read } = setup();
  session.onAgentOpen(agent as never);
  read(1000);
  const unfinished = pool.bytes;
  for (let i = 0; i < 10; i++) {
    upstream.emit('ping', Buffer.alloc(4));
    read(6);
    upstream.emit('pong', Buffer.alloc(0));
    read(2);
  }
  expect(pool.bytes).toBe(unfinished + 10 * (4 + UNSENT_OVERHEAD_BYTES));
  for (const taken of upstream.taken) taken();
  expect(pool.bytes).toBe(unfinished);
  read(1); // The first byte of a ping.
  upstream.emit('ping', Buffer.alloc(4));
  read(5);
  upstream.taken.at(-1)!();
  expect(pool.bytes).toBe(unfinished + 512);
});

test('session: counts the memory overhead of queued small messages', () => {
  const { session, upstream, agent, pool, say } = setup();
  session.onAgentOpen(agent as never);
  for (let i = 0; i < 10; i++) session.onAgentMessage(new ArrayBuffer(1), true);
  expect(pool.bytes).toBe(10 * (1 + UNSENT_OVERHEAD_BYTES));
  for (const taken of upstream.taken) taken();
  expect(pool.bytes).toBe(0);
  agent.status = FULL;
  for (let i = 0; i < 11; i++) say('x');
  expect(pool.bytes).toBe(1 + 10 * (1 + QUEUED_OVERHEAD_BYTES)); // The first message is held by the server.
});

test('session: ends when its organization is out of memory, and cuts the upstream off when it sends more', () => {
  const { session, upstream, agent, ended, gone, pool, read } = setup();
  session.onAgentOpen(agent as never);
  read(55 * MIB);
  expect(ended).toEqual([]);
  read(2 * MIB);
  const end = [1013, 'no memory for the message of the provider'];
  expect([upstream.closed, agent.ended, ended.length]).toEqual([[end], end, 1]);
  expect([upstream.terminated, gone.length, pool.bytes > 55 * MIB]).toEqual([0, 0, true]);
  read(2 * MIB);
  expect(upstream.terminated).toBe(1);
  upstream.emit('close', 1006, Buffer.alloc(0));
  expect(pool.organizationCount).toBe(1); // The agent's connection may still be open.
});

test('session: releases memory at once when another organization needs it', () => {
  const { session, upstream, agent, ended, gone, pool, read } = setup();
  session.onAgentOpen(agent as never);
  read(50 * MIB);
  expect(pool.allocate('org-2', () => {}).resize(20 * MIB)).toBe(true);
  expect(pool.bytes).toBe(20 * MIB);
  expect([upstream.terminated, agent.ended?.[0], ended.length, gone.length]).toEqual([1, 1013, 1, 0]);
});

test('session: closes both sides when a message of the upstream is too big', () => {
  const { session, upstream, agent } = setup();
  session.onAgentOpen(agent as never);
  upstream.emit('error', Object.assign(new Error('odd frame'), { code: 'WS_ERR_INVALID_OPCODE' }));
  expect(agent.ended).toBeNull(); // A close follows.
  upstream.emit('error', Object.assign(new Error('too long'), { code: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' }));
  expect(agent.ended).toEqual([1009, 'the message of the provider is too big']);
  expect([session.exchange.errorClass, session.exchange.upstreamCall.responseComplete]).toEqual([
    'message_too_big',
    false,
  ]);
});

test('session: neither sends nor counts a message of the agent after the upstream’s close', () => {
  const { session, upstream, agent, pool, ended } = setup();
  session.onAgentOpen(agent as never);
  upstream.readyState = 2;
  upstream.send = () => {
    upstream.bufferedAmount += 60 * MIB;
  };
  session.onAgentMessage(new ArrayBuffer(1), true);
  expect([pool.bytes, ended.length]).toEqual([0, 0]);
});

const ENDS: Readonly<Record<string, (scene: ReturnType<typeof setup>) => void>> = {
  'the gateway closes': ({ session }) => session.close(1008, 'revoked'),
  'the upstream closes': ({ upstream }) => void upstream.emit('close', 1000, Buffer.from('done')),
  'the upstream aborts': ({ upstream }) => void upstream.emit('close', 1006, Buffer.alloc(0)),
  'the agent closes': ({ session }) => session.onAgentClose(1000, new ArrayBuffer(0)),
  'the agent disconnects': ({ session }) => session.abort(),
};

test.each(Object.keys(ENDS).flatMap((first) => Object.keys(ENDS).map((then) => [first, then] as const)))(
  'session: %s, then %s: ends once, with the first result',
  (first, then) => {
    const scene = setup();
    const { session, upstream, agent, ended } = scene;
    session.onAgentOpen(agent as never);
    const seen = () => [
      ended.length,
      upstream.closed,
      agent.ended,
      session.exchange.errorClass,
      session.exchange.upstreamCall.responseComplete,
    ];
    ENDS[first]!(scene);
    const once = structuredClone(seen());
    expect(once[0]).toBe(1);
    ENDS[then]!(scene);
    expect(seen()).toEqual(once);
  },
);

test.each(Object.keys(ENDS))(
  'session: %s: reports the disconnect once, when both connections have closed',
  async (how) => {
    const scene = setup();
    const { session, upstream, agent, gone, pool, read } = scene;
    session.onAgentOpen(agent as never);
    read(MIB);
    ENDS[how]!(scene);
    const upstreamIsGone = how.startsWith('the upstream');
    expect([gone.length, pool.organizationCount]).toEqual([0, 1]);
    if (!upstreamIsGone) upstream.emit('close', 1000, Buffer.alloc(0));
    expect(gone.length).toBe(0); // The agent's connection may still be open.
    await waitUntil(() => gone.length === 1);
    expect([gone, pool.bytes, pool.organizationCount]).toEqual([[session], 0, 0]);
    session.close();
    upstream.emit('close', 1000, Buffer.alloc(0));
    expect([gone.length, pool.bytes]).toEqual([1, 0]);
  },
);

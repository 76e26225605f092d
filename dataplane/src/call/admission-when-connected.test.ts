/** Limits count a call when its upstream connection stands, and a call that is not sent leaves nothing behind. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RPM_ROW } from '../limits/limit-table.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { HeldDials } from './testing/held-dials-fixture.js';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const RESERVATION = 70;
const HARD = createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true });

let upstream: RawUpstream;
let gateway: ProxyFixture;
let dials: HeldDials;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  dials = new HeldDials();
  gateway = await ProxyFixture.start(
    createContext([createUpstream(upstream.origin)]),
    { connectTimeoutMs: 60_000, bufferedBodyBytesMax: 100 },
    null,
    { dialer: dials },
  );
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const HEAD = `HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n`;

async function call(path = '/x', body = ''): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const head = body === '' ? `GET /v1/proxy/openai${path} ${HEAD}\r\n` : '';
  agent.send(head || `POST /v1/proxy/openai${path} ${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`);
  return agent;
}

/** Resolves when the n-th dial has begun. */
const dialed = (count: number): Promise<void> => waitUntil(() => dials.begun.length === count);

/** The state of a gateway to which no call has ever come, but for its connections. */
async function expectNothingHeld(): Promise<void> {
  await waitUntil(() => gateway.server.inflight === 0);
  expect([gateway.records.length, gateway.settlements.length, gateway.bugs, upstream.text]).toEqual([0, 0, 0, '']);
}

/** What the precheck finds from now on: this many calls are left in the minute. */
function setRemaining(remaining: number): void {
  gateway.standing = {
    spends: [],
    windows: [
      {
        providerSlug: 'openai',
        remaining: [remaining, 5_000, Number.POSITIVE_INFINITY],
        resetAtSec: [null, null, null],
        rejection: remaining > 0 ? null : { row: RPM_ROW, retryAtSec: 1_900_000_000 },
      },
    ],
  };
}

test('the limits are asked when the connection stands', async () => {
  const agent = await call();
  await dialed(1);
  expect(gateway.admissions).toHaveLength(0);
  dials.begun[0]!.connect();
  const provider = await upstream.connection();
  await provider.waitForText('GET /x ');
  expect(gateway.admissions).toHaveLength(1);
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  expect(agent.text).toMatch(/server-timing: gateway;dur=[\d.]+, upstream;dur=[\d.]+\r\n/);
});

test('the time of the connection counts as the provider’s', async () => {
  const agent = await call();
  await dialed(1);
  const dialedAtMs = performance.now();
  await waitUntil(() => performance.now() - dialedAtMs > 40);
  dials.begun[0]!.connect();
  const provider = await upstream.connection();
  await provider.waitForText('GET /x ');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  expect(Number(/upstream;dur=([\d.]+)/.exec(agent.text)![1])).toBeGreaterThan(40);
});

test('a call that the limits reject after its dial gets 429, and its connection is kept for the next one', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const { admission } = gateway;
  gateway.admission = createRejectedAdmission('rpm', 1_900_000_000);
  const agent = await call();
  await dialed(1);
  dials.begun[0]!.connect();
  await agent.waitForText('HTTP/1.1 429 ');
  await expectNothingHeld();
  expect([gateway.pools.idleConnectionCount, gateway.releasedProbes]).toEqual([1, ['lease-1']]);
  gateway.admission = admission;
  const next = await call('/next');
  const provider = await upstream.connection();
  await provider.waitForText('GET /next ');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await next.waitForText('\r\n\r\nok');
  expect([dials.begun.length, upstream.connections.length]).toEqual([1, 1]);
});

test('a dial that fails consumes no limit, and is booked as a failure of the provider with its probe lease', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const agent = await call();
  await dialed(1);
  dials.begun[0]!.fail(new Error('refused'));
  await agent.waitForText('HTTP/1.1 502 ');
  await waitUntil(() => gateway.server.inflight === 0);
  expect([gateway.admissions.length, gateway.settlements.length, gateway.releasedProbes]).toEqual([0, 0, []]);
  expect(gateway.records).toMatchObject([
    { error: 'connect', status: 0, circuitOutcome: 2, probeLease: 'lease-1', month: '' },
  ]);
});

test.each(['before', 'after'])('an agent that disconnects %s its dial ends leaves a kept connection', async (when) => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const asked: (() => void)[] = [];
  gateway.pendingAdmissions = asked;
  const agent = await call();
  await dialed(1);
  if (when === 'after') {
    dials.begun[0]!.connect();
    await waitUntil(() => asked.length === 1);
  }
  agent.socket.destroy();
  await expectNothingHeld();
  expect(gateway.releasedProbes).toEqual(['lease-1']);
  if (when === 'before') dials.begun[0]!.connect();
  await waitUntil(() => gateway.pools.idleConnectionCount === 1);
  for (const answer of asked) answer();
  await expectNothingHeld();
  expect(gateway.admissions).toHaveLength(when === 'after' ? 1 : 0);
});

test('an access that is revoked during the dial: rejected before admission, and the connection is kept', async () => {
  const agent = await call();
  await dialed(1);
  gateway.lookup = { context: createContext([], { agentStatus: 'paused' }), rejection: null };
  dials.begun[0]!.connect();
  await agent.waitForText('HTTP/1.1 403 ');
  await expectNothingHeld();
  expect([gateway.admissions.length, gateway.pools.idleConnectionCount]).toEqual([0, 1]);
});

test('an account that was replaced during the dial does not get the connection of the other one', async () => {
  const agent = await call();
  await dialed(1);
  const account = createUpstream(upstream.origin, { accountId: 'account-2' });
  gateway.lookup = { context: createContext([account]), rejection: null };
  dials.begun[0]!.connect();
  await agent.waitForText('HTTP/1.1 503 ');
  await expectNothingHeld();
});

test('a call over a limit does not dial', async () => {
  setRemaining(0);
  const agent = await call();
  await agent.waitForText('HTTP/1.1 429 ');
  expect(agent.text).toContain('x-ratelimit-reset: 1900000000');
  await expectNothingHeld();
  expect([dials.begun.length, gateway.admissions.length]).toEqual([0, 0]);
});

test.each([
  ['does not fit', 2 * RESERVATION - 1, 429],
  ['fits', 2 * RESERVATION, 200],
])('a call whose reservation %s beside the others: %s left of the budget', async (_what, leftNanos, status) => {
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin)], { agentLimits: HARD }),
    rejection: null,
  };
  gateway.boundNanos = RESERVATION;
  const budget = HARD.budgets[0]!;
  gateway.standing = {
    windows: [],
    spends: [{ budget, spentNanos: budget.limitNanos - leftNanos, reservedNanos: RESERVATION }],
  };
  const agent = await call();
  if (status === 429) {
    await agent.waitForText('"reason":"in_flight"');
    await expectNothingHeld();
  } else await dialed(1);
  expect([dials.begun.length, gateway.admissions.length]).toEqual([status === 200 ? 1 : 0, 0]);
});

test.each([true, false])(
  'while the store is away, a call dials unless its agent rejects then (%s)',
  async (rejects) => {
    const agentLimits = createTestLimits({ agentId: 'agent-1', rejectsUnchecked: rejects });
    gateway.lookup = { context: createContext([createUpstream(upstream.origin)], { agentLimits }), rejection: null };
    gateway.standing = null;
    const agent = await call();
    if (rejects) await agent.waitForText('HTTP/1.1 503 ');
    else await dialed(1);
    expect(dials.begun).toHaveLength(rejects ? 0 : 1);
  },
);

test('an agent has no more dials open than its limits leave calls; the others wait and get what is left then', async () => {
  setRemaining(2);
  const agents: RawPeer[] = [];
  for (let i = 0; i < 6; i++) agents.push(await call(`/${i}`));
  await waitUntil(() => gateway.server.inflight === 6);
  expect(dials.begun).toHaveLength(2);
  // A dial that fails has consumed nothing: the next call dials in its place.
  dials.begun[0]!.fail(new Error('refused'));
  await agents[0]!.waitForText('HTTP/1.1 502 ');
  expect(dials.begun).toHaveLength(3);
  gateway.onAdmit = () => setRemaining(2 - gateway.admissions.length);
  dials.begun[1]!.connect();
  await upstream.connection();
  dials.begun[2]!.connect();
  await upstream.connection(1);
  for (const agent of agents.slice(3)) await agent.waitForText('HTTP/1.1 429 ');
  expect([dials.begun.length, gateway.admissions.length]).toEqual([3, 2]);
});

test('a dial of an agent that has disconnected counts until it ends', async () => {
  setRemaining(1);
  const agent = await call('/gone');
  await dialed(1);
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  await call('/next');
  await waitUntil(() => gateway.server.inflight === 1);
  expect(dials.begun).toHaveLength(1);
  dials.begun[0]!.connect();
  await (await upstream.connection()).waitForText('GET /next '); // over the connection of the call whose agent disconnected
  expect([dials.begun.length, gateway.admissions.length]).toEqual([1, 1]);
});

test('a call that waits for a dial leaves when its agent does', async () => {
  setRemaining(1);
  await call('/first');
  const second = await call('/second');
  await waitUntil(() => gateway.server.inflight === 2);
  second.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 1);
  dials.begun[0]!.connect();
  await (await upstream.connection()).waitForText('GET /first ');
  expect([dials.begun.length, gateway.admissions.length]).toEqual([1, 1]);
});

test('a call that waits too long for the dials of others gets 504, which says nothing about the provider', async () => {
  const impatient = await ProxyFixture.start(
    createContext([createUpstream(upstream.origin)]),
    { connectTimeoutMs: 20 },
    null,
    { dialer: dials },
  );
  await gateway.stop();
  gateway = impatient;
  setRemaining(1);
  await call('/first');
  const second = await call('/second');
  await second.waitForText('HTTP/1.1 504 ');
  await waitUntil(() => gateway.server.inflight === 1);
  expect(gateway.records).toMatchObject([{ error: 'timeout', status: 0, responseStatus: 504, circuitOutcome: 0 }]);
  expect([dials.begun.length, gateway.admissions.length]).toEqual([1, 0]);
});

test('a body that streams is sent after admission', async () => {
  const asked: (() => void)[] = [];
  gateway.pendingAdmissions = asked;
  await call('/x', 'b'.repeat(200_000));
  await dialed(1);
  dials.begun[0]!.connect();
  await waitUntil(() => asked.length === 1);
  expect(upstream.text).toBe('');
  asked[0]!();
  await (await upstream.connection()).waitForText('b'.repeat(200_000));
});

describe('the store is asked while', () => {
  let asked: (() => void)[];

  /** Starts a call that holds a standing connection until {@link asked} is answered. */
  async function heldCall(path = '/x'): Promise<RawPeer> {
    const before = asked.length;
    const agent = await call(path);
    await waitUntil(() => asked.length > before);
    return agent;
  }

  beforeEach(() => {
    asked = [];
    gateway.pendingAdmissions = asked;
    dials.isHolding = false;
  });

  /** The connection of a call with a hard budget closes, and its replacement takes longer than 30 ms. */
  async function replaceConnectionSlowly() {
    gateway.boundNanos = RESERVATION;
    gateway.lookup = {
      context: createContext([createUpstream(upstream.origin)], { agentLimits: HARD }),
      rejection: null,
    };
    const agent = await heldCall();
    upstream.connections[0]!.socket.destroy();
    await waitUntil(() => gateway.pools.poolCount === 0);
    dials.isHolding = true;
    asked[0]!();
    await dialed(2);
    const fromMs = performance.now();
    await waitUntil(() => performance.now() - fromMs > 30);
    dials.begun[1]!.connect();
    await waitUntil(() => asked.length === 2);
    return agent;
  }

  test('another call gets a connection of its own', async () => {
    await heldCall('/1');
    await heldCall('/2');
    expect([upstream.connections.length, dials.begun.length, gateway.pools.idleConnectionCount]).toEqual([2, 2, 0]);
    for (const answer of asked) answer();
    await waitUntil(() => upstream.text.includes('GET /1 ') && upstream.text.includes('GET /2 '));
  });

  test('the connection closes: a kept one replaces it, and the call needs no second admission', async () => {
    const gone = await heldCall('/gone');
    await heldCall('/x');
    gone.socket.destroy();
    await waitUntil(() => gateway.pools.idleConnectionCount === 1);
    upstream.connections[1]!.socket.end();
    await upstream.connections[1]!.waitForClose(); // by the gateway
    asked[1]!();
    await upstream.connections[0]!.waitForText('GET /x ');
    expect([upstream.text.includes('/gone'), dials.begun.length, gateway.admissions.length]).toEqual([false, 2, 2]);
  });

  test('the connection closes and its replacement takes longer than 30 ms: the call is admitted again', async () => {
    const agent = await replaceConnectionSlowly();
    expect(upstream.text).toBe('');
    asked[1]!();
    const provider = await upstream.connection(1);
    await provider.waitForText('GET /x ');
    provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    await agent.waitForText('\r\n\r\nok');
    // The reservation is carried over, and released once.
    expect(gateway.admissions.map(({ reservationNanos }) => reservationNanos)).toEqual([RESERVATION, 0]);
    expect(gateway.settlements).toMatchObject([{ reservationNanos: RESERVATION }]);
  });

  test('the connection closes, and its replacement, too: 502, and the reservation is released', async () => {
    const agent = await replaceConnectionSlowly();
    upstream.connections[1]!.socket.destroy();
    await waitUntil(() => gateway.pools.poolCount === 0);
    asked[1]!();
    await agent.waitForText('HTTP/1.1 502 ');
    expect(gateway.records).toMatchObject([{ error: 'connect', circuitOutcome: 2 }]);
    expect(gateway.settlements).toMatchObject([{ reservationNanos: RESERVATION, costNanos: 0 }]);
    expect([upstream.text, dials.begun.length]).toEqual(['', 2]);
  });
});

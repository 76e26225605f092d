/** Bodies that are held back: neither a limit nor a revocation can be outlived with them. */
import { NANOS_PER_CENT } from '@acg/base/units';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BUDGET_ROW, RPM_ROW } from '../limits/limit-table.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), { bufferedBodyBytesMax: 100 });
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

/** A call of which the gateway has all but `held` bytes of its body. */
async function begun(contentLength: number, held: number, headers = ''): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const looks = gateway.limitPeeks.length;
  agent.send(
    `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n${headers}Content-Length: ${contentLength}\r\n\r\n${'b'.repeat(contentLength - held)}`,
  );
  await waitUntil(() => gateway.limitPeeks.length > looks);
  return agent;
}

test('withheld: a call is admitted when its body is here, and not before', async () => {
  const agents = await Promise.all(Array.from({ length: 5 }, () => begun(10, 1)));
  expect(gateway.admissions).toHaveLength(0);
  gateway.admission = { ...gateway.admission, outcome: 'rpm', rejectedByRow: 0, retryAtSec: 1_900_000_000 };
  for (const agent of agents) {
    agent.send('b');
    await agent.waitForText('HTTP/1.1 429 ');
  }
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([5, 0]);
});

test('withheld: a long body counts with its first bytes', async () => {
  const agent = await begun(200, 200);
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
  agent.send('b');
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\nb');
  expect(gateway.admissions).toHaveLength(1);
  agent.send('b'.repeat(199));
  await provider.waitForText('b'.repeat(200));
});

test('withheld: what is over a limit already need not send its body', async () => {
  gateway.standing = {
    spends: [],
    windows: [
      {
        providerSlug: 'openai',
        remaining: [0, 5, 0],
        resetAtSec: [1_899_999_999, null, null],
        rejection: { row: RPM_ROW, retryAtSec: 1_900_000_000 },
      },
    ],
  };
  const agent = await begun(10, 10);
  await agent.waitForText('HTTP/1.1 429 ');
  expect(agent.text).toContain('"limitType":"rpm"');
  expect(agent.text.toLowerCase()).toContain('x-ratelimit-reset: 1900000000');
  expect(gateway.admissions).toHaveLength(0);
});

test('withheld: a key whose time ends meanwhile is noticed', async () => {
  const agent = await begun(10, 1);
  const keyExpiresAtMs = Date.now() + 1; // later than it began
  await waitUntil(() => Date.now() >= keyExpiresAtMs);
  gateway.lookup = { context: createContext([], { keyExpiresAtMs }), rejection: null };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 401 ');
});

test('withheld: what has spent its budget need not send its body', async () => {
  const terms = createTestLimits({ budgetCents: 5 });
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin)], { agentLimits: terms }),
    rejection: null,
  };
  const spentNanos = 5 * NANOS_PER_CENT;
  gateway.standing = { spends: [{ row: BUDGET_ROW, spentNanos, reservedNanos: 0 }], windows: [] };
  const agent = await begun(10, 10);
  await agent.waitForText('HTTP/1.1 429 ');
  expect(agent.text).toContain('"limitType":"budget"');
  gateway.standing = { spends: [{ row: BUDGET_ROW, spentNanos: spentNanos - 1, reservedNanos: 0 }], windows: [] };
  const other = await begun(10, 1);
  other.send('b');
  await upstream.connection();
});

test('withheld: an open circuit is said before the body', async () => {
  gateway.circuit = { state: 'OPEN', epoch: 1, openUntilMs: Date.now() + 60_000 };
  const agent = await connectRaw(gateway.port);
  agent.send(
    `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\nContent-Length: 10\r\n\r\n`,
  );
  await agent.waitForText('HTTP/1.1 503 ');
});

test.each([
  ['a revoked key', { context: null, rejection: 'unknown_token' } as const, 401],
  ['a paused agent', { context: createContext([], { agentStatus: 'paused' }), rejection: null }, 403],
  [
    'a deleted account',
    { context: createContext([], { unassignedProviders: new Set(['openai']) }), rejection: null },
    403,
  ],
  ['a key whose time is over', { context: createContext([], { keyExpiresAtMs: 1 }), rejection: null }, 401],
  ['a control plane that is away', { context: null, rejection: 'unavailable' } as const, 503],
])('withheld: %s is noticed when the last byte comes', async (_what, lookup, status) => {
  for (const later of [false, true]) {
    const agent = await begun(10, 1);
    const before = gateway.lookup;
    gateway.lookup = lookup;
    gateway.lookupLater = later;
    agent.send('b');
    await agent.waitForText(`HTTP/1.1 ${status} `);
    expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
    gateway.lookup = before;
    gateway.lookupLater = false;
  }
});

test('withheld: a circuit that opens meanwhile is not called through', async () => {
  const agent = await begun(10, 1);
  gateway.circuit = { state: 'OPEN', epoch: 1, openUntilMs: Date.now() + 60_000 };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('withheld: what took nothing away from the call does not stop it', async () => {
  const agent = await begun(10, 1);
  gateway.server.sessionRevoker.revokeMatching(() => true); // of an account that has been given anew since
  agent.send('b');
  await (await upstream.connection()).waitForText('b'.repeat(10));
});

test('withheld: a provider that moved meanwhile is not called, for its circuit was not asked', async () => {
  const agent = await begun(10, 1);
  gateway.lookup = { context: createContext([createUpstream('http://127.0.0.1:1')]), rejection: null };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('withheld: a breaker of another name at the same origin, as a control plane of another release has it, is no move', async () => {
  gateway.circuit = { state: 'CLOSED', epoch: 7, openUntilMs: 0 };
  const agent = await begun(10, 1);
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { circuitKey: 'other' })]),
    rejection: null,
  };
  agent.send('b');
  const provider = await upstream.connection();
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  expect(gateway.records[0]).toMatchObject({ circuitKey: 'other', circuitEpoch: 0, circuitOutcome: 1 });
});

test('withheld: a rule for models that came meanwhile holds: what was not read is asked for again', async () => {
  const agent = await begun(10, 1, 'Content-Type: application/json\r\n');
  const policy = { closed: false, calls: null, models: { allow: ['gpt-5-mini'], deny: [] } };
  const modelCalls = [{ call: '* /x', at: 'json' }];
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { policy, modelCalls })]),
    rejection: null,
  };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('withheld: a pause while a probe place is awaited is noticed, and the place is given back', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const held: ((lease: string | null) => void)[] = [];
  gateway.pendingProbes = held;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await waitUntil(() => held.length === 1);
  gateway.lookup = { context: createContext([], { agentStatus: 'paused' }), rejection: null };
  held[0]!('lease-1');
  await agent.waitForText('HTTP/1.1 403 ');
  expect([gateway.admissions.length, gateway.releasedProbes]).toEqual([0, ['lease-1']]);
});

test('withheld: an agent that leaves with a probe place, while the store is asked, gives it back', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const held: (() => void)[] = [];
  gateway.pendingAdmissions = held;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await waitUntil(() => held.length === 1);
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  expect([gateway.releasedProbes, upstream.connections.length]).toEqual([['lease-1'], 0]);
});

test('withheld: who gets no probe place is refused', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  gateway.probe = null;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('withheld: a policy and a credential that changed meanwhile hold for the call', async () => {
  const policy = { closed: false, calls: null, models: { allow: ['gpt-5-mini'], deny: [] } };
  const modelCalls = [{ call: '* /x', at: 'json' }];
  const agent = await begun(10, 1);
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { policy, modelCalls })]),
    rejection: null,
  };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 400 '); // no content type: the model cannot be read
  const { injection } = createUpstream(upstream.origin);
  const rotated = createUpstream(upstream.origin, {
    injection: { ...injection, value: 'Bearer rotated' } as typeof injection,
  });
  gateway.lookup = { context: createContext([createUpstream(upstream.origin)]), rejection: null };
  const other = await begun(10, 1);
  gateway.lookup = { context: createContext([rotated]), rejection: null };
  other.send('b');
  const provider = await upstream.connection();
  await provider.waitForText('authorization: Bearer rotated\r\n');
});

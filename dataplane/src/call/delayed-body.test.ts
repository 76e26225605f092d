/** Agents that delay their bodies cannot outlive a limit or a revocation. */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RPM_ROW } from '../limits/limit-table.js';
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

/** Starts a call whose last `held` body bytes are not sent. */
async function begun(contentLength: number, held: number, headers = ''): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const looks = gateway.limitPeeks.length;
  agent.send(
    `POST /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n${headers}Content-Length: ${contentLength}\r\n\r\n${'b'.repeat(contentLength - held)}`,
  );
  await waitUntil(() => gateway.limitPeeks.length > looks);
  return agent;
}

test('delayed body: admits a call only when its body has arrived', async () => {
  const agents = await Promise.all(Array.from({ length: 5 }, () => begun(10, 1)));
  expect(gateway.admissions).toHaveLength(0);
  gateway.admission = { ...gateway.admission, outcome: 'rpm', rejectedByRow: 0, retryAtSec: 1_900_000_000 };
  for (const agent of agents) {
    agent.send('b');
    await agent.waitForText('HTTP/1.1 429 ');
  }
  expect([gateway.admissions.length, upstream.connections.length, upstream.text]).toEqual([5, 1, '']);
});

test('delayed body: admits a call with a long body when its first bytes arrive', async () => {
  const agent = await begun(200, 200);
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
  agent.send('b');
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\nb');
  expect(gateway.admissions).toHaveLength(1);
  agent.send('b'.repeat(199));
  await provider.waitForText('b'.repeat(200));
});

test('delayed body: rejects a call over its limit before its body arrives', async () => {
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

test('delayed body: rejects a call whose key expires meanwhile', async () => {
  const agent = await begun(10, 1);
  const keyExpiresAtMs = Date.now() + 1; // Later than the start of the call.
  await waitUntil(() => Date.now() >= keyExpiresAtMs);
  gateway.lookup = { context: createContext([], { keyExpiresAtMs }), rejection: null };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 401 ');
});

test('delayed body: rejects a call over its budget before its body arrives', async () => {
  const terms = createTestLimits({ budgetCents: 5 });
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin)], { agentLimits: terms }),
    rejection: null,
  };
  const spentNanos = 5 * NANOS_PER_CENT;
  gateway.standing = { spends: [{ budget: terms.budgets[0]!, spentNanos, reservedNanos: 0 }], windows: [] };
  const agent = await begun(10, 10);
  await agent.waitForText('HTTP/1.1 429 ');
  expect(agent.text).toContain('"limitType":"budget"');
  gateway.standing = {
    spends: [{ budget: terms.budgets[0]!, spentNanos: spentNanos - 1, reservedNanos: 0 }],
    windows: [],
  };
  const other = await begun(10, 1);
  other.send('b');
  await upstream.connection();
});

test('delayed body: rejects a call to an open circuit before its body arrives', async () => {
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
])('delayed body: rejects a call after %s, when the last byte arrives', async (_what, lookup, status) => {
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

test('delayed body: rejects a call whose circuit opens meanwhile', async () => {
  const agent = await begun(10, 1);
  gateway.circuit = { state: 'OPEN', epoch: 1, openUntilMs: Date.now() + 60_000 };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('delayed body: admits a call whose rights a revocation did not change', async () => {
  const agent = await begun(10, 1);
  gateway.server.sessionRevoker.revokeMatching(() => true); // For an account that was assigned again since.
  agent.send('b');
  await (await upstream.connection()).waitForText('b'.repeat(10));
});

test('delayed body: does not call a provider whose origin changed meanwhile, as its circuit was not checked', async () => {
  const agent = await begun(10, 1);
  gateway.lookup = { context: createContext([createUpstream('http://127.0.0.1:1')]), rejection: null };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('delayed body: calls a provider with another circuit key at the same origin, as a control plane of another release names it', async () => {
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

test('delayed body: rejects an unread body with 503 after a rule for models was added', async () => {
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

test('delayed body: rejects a call whose agent is paused while it waits for a probe lease, and releases the lease', async () => {
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

test('delayed body: releases the probe lease of an agent that disconnects while the store is called', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const held: (() => void)[] = [];
  gateway.pendingAdmissions = held;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await waitUntil(() => held.length === 1);
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  expect([gateway.releasedProbes, upstream.text]).toEqual([['lease-1'], '']);
});

test('delayed body: rejects a call that gets no probe lease', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  gateway.probe = null;
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  await agent.waitForText('HTTP/1.1 503 ');
  expect([gateway.admissions.length, upstream.connections.length]).toEqual([0, 0]);
});

test('delayed body: applies a policy and a credential that changed meanwhile', async () => {
  const policy = { closed: false, calls: null, models: { allow: ['gpt-5-mini'], deny: [] } };
  const modelCalls = [{ call: '* /x', at: 'json' }];
  const agent = await begun(10, 1);
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { policy, modelCalls })]),
    rejection: null,
  };
  agent.send('b');
  await agent.waitForText('HTTP/1.1 400 '); // Without a content type the model cannot be read.
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

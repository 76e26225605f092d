/** A reservation is released exactly once, however its call ends. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from '../call/testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from '../call/testing/raw-peer-fixture.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';

const HOLD = 70;

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  const terms = createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true });
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)], { agentLimits: terms }));
  gateway.boundNanos = HOLD;
});
afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

async function called(): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  agent.send(`GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
  return agent;
}

const givenBack = () => gateway.settlements.map(({ reservationNanos: holdNanos, costNanos }) => [holdNanos, costNanos]);

test('reservation: is released by a response without cost', async () => {
  const agent = await called();
  (await upstream.connection()).send('HTTP/1.1 204 No Content\r\n\r\n');
  await agent.waitForText('HTTP/1.1 204 ');
  expect(gateway.admissions).toMatchObject([{ reservationNanos: HOLD }]);
  await waitUntil(() => gateway.records.length === 1);
  expect(givenBack()).toEqual([[HOLD, 0]]);
});

test('reservation: is replaced by the cost, and the excess is reported', async () => {
  gateway.costNanos = HOLD + 3;
  const agent = await called();
  (await upstream.connection()).send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  expect([givenBack(), gateway.exceeded]).toEqual([[[HOLD, HOLD + 3]], [3]]);
});

test('reservation: is released when the agent disconnects during admission, and no call is made', async () => {
  const held: (() => void)[] = [];
  gateway.pendingAdmissions = held;
  const agent = await called();
  await waitUntil(() => held.length === 1);
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  expect(gateway.settlements).toEqual([]);
  held[0]!();
  expect(givenBack()).toEqual([[HOLD, 0]]);
  expect([gateway.records.length, upstream.text]).toEqual([0, '']);
});

test('reservation: is released when access is revoked after admission, and no call is made', async () => {
  gateway.admitLater = true;
  gateway.onAdmit = () => gateway.server.sessionRevoker.revokeMatching(() => true);
  const agent = await called();
  await agent.waitForText('HTTP/1.1 403 ');
  expect(givenBack()).toEqual([[HOLD, 0]]);
  expect([gateway.records.length, upstream.text]).toEqual([0, '']);
});

test.each([false, true])('reservation: a rejected call has none to release (later: %s)', async (later) => {
  gateway.admission = { ...createRejectedAdmission('budget', 0), reservationNanos: HOLD };
  gateway.admitLater = later;
  const agent = await called();
  await agent.waitForText('HTTP/1.1 429 ');
  expect(givenBack()).toEqual([]);
});

test('reservation: is released when the agent disconnects during the response', async () => {
  const agent = await called();
  const provider = await upstream.connection();
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
  await agent.waitForText('half');
  agent.socket.destroy();
  await provider.waitForClose();
  await waitUntil(() => gateway.records.length === 1);
  expect(givenBack()).toEqual([[HOLD, 0]]);
});

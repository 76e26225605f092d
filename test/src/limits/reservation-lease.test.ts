/** Reservations of calls in flight on a real redis-server: through long calls, outages and lost responses. */
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import {
  admit,
  CountingMetrics,
  createAdmissionRequest,
  readStoredReservations,
  silentLogger,
  until,
} from './counters-fixture.js';

const AGENT = '00000000-0000-7000-8000-000000001ea5';
/** Of the budget; two of them do not fit. */
const RESERVED_NANOS = 60;
const firstRequest = createAdmissionRequest({
  agentId: AGENT,
  budgetNanos: 100,
  hardBudget: true,
  reservationNanos: RESERVED_NANOS,
});
const otherAgentRequest = createAdmissionRequest({ agentId: '00000000-0000-7000-8000-000000001ea6' });
const TIMEOUT_MS = 400;
const admittedAtSec = Math.floor(Date.now() / 1000);

let server: RedisServer;
let proxy: TcpProxy;
/** Connects through the proxy, which disturbs its network. */
let counters: RedisCounters;
let neighbour: RedisCounters;

async function openCounters(port: number): Promise<RedisCounters> {
  const options = { connectionName: 'acg-test', tlsCa: null, timeoutMs: TIMEOUT_MS };
  const urls = [new URL(`redis://127.0.0.1:${port}`)];
  const opened = new RedisCounters({ ...options, urls }, silentLogger, new CountingMetrics());
  await opened.waitForStoreAndCheckEviction();
  await until(() => opened.isEnforcing);
  return opened;
}

beforeEach(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server.port);
  [counters, neighbour] = [await openCounters(proxy.port), await openCounters(server.port)];
});
afterEach(async () => {
  server.resume();
  await Promise.all([counters.close(), neighbour.close()]);
  await proxy.stop();
  await server.stop();
});

const readReservations = () => readStoredReservations(server.admin, AGENT);

/** Settles a call of the agent with zero cost. */
const settleCall = (reservationNanos = RESERVED_NANOS): void => {
  const { limits, providerSlug } = firstRequest;
  counters.settle({ limits, providerSlug, admittedAtSec, costNanos: 0, tokens: 0, reservationNanos });
};

test('reservation: its lease is renewed while the call is in flight', async () => {
  expect((await admit(counters, firstRequest)).outcome).toBe('admitted');
  const [first] = await readReservations();
  await until(async () => (await readReservations())[0]!.deadline > first!.deadline);
  expect((await readReservations())[0]!.sum).toBe(RESERVED_NANOS);
  expect((await admit(neighbour, firstRequest)).outcome).toBe('budget');
  settleCall();
  await until(async () => (await readReservations()).length === 0);
  expect((await admit(neighbour, firstRequest)).outcome).toBe('admitted');
});

test('reservation: reported at once to a store that comes back empty', async () => {
  await admit(counters, firstRequest);
  await server.kill();
  await until(() => !counters.isEnforcing || admit(counters, otherAgentRequest).then(() => false));
  await server.restart();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest); // runs after the report of the reservations
  expect((await readReservations()).map(({ sum }) => sum)).toEqual([RESERVED_NANOS]);
});

test('reservation: taken for a call that continued unchecked, it is released once the store is up', async () => {
  proxy.responseDelayMs = 3 * TIMEOUT_MS;
  const outcomes: string[] = [];
  counters.admit(firstRequest, ({ outcome }) => void outcomes.push(outcome));
  await until(() => outcomes.length > 0);
  await until(async () => (await readReservations()).length === 1); // the store has taken it
  proxy.responseDelayMs = 0;
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest);
  expect(await readReservations()).toEqual([]);
  expect((await admit(neighbour, firstRequest)).outcome).toBe('admitted');
  expect(outcomes).toEqual(['unchecked']); // one response only
});

test('reservation: of a call that ended during an outage, it is released once the store is up', async () => {
  await admit(counters, firstRequest);
  server.pause();
  await until(async () => (await admit(counters, otherAgentRequest)).outcome === 'unchecked');
  settleCall();
  server.resume();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest);
  expect(await readReservations()).toEqual([]);
});

test('reservation: one that grew during an outage releases no more than its call had', async () => {
  for (let n = 0; n < 2; n++)
    expect((await admit(counters, { ...firstRequest, reservationNanos: 30 })).outcome).toBe('admitted');
  server.pause();
  await until(async () => (await admit(counters, otherAgentRequest)).outcome === 'unchecked');
  expect(
    await new Promise((granted) => counters.growReservation(firstRequest.limits, admittedAtSec, 30, granted)),
  ).toBe(true);
  settleCall(30 + 30); // the other call continues
  server.resume();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest);
  expect((await readReservations()).map(({ sum }) => sum)).toEqual([30]);
});

test('reservation: an admission whose response was lost reserves nothing', async () => {
  proxy.dropNextResponse = true;
  expect((await admit(counters, firstRequest)).outcome).toBe('unchecked');
  await until(() => counters.isEnforcing);
  expect(await admit(counters, firstRequest)).toMatchObject({ outcome: 'admitted', reservedNanos: RESERVED_NANOS });
});

test('close: completes although the store does not respond', async () => {
  server.pause();
  const answer = admit(counters, firstRequest);
  await counters.close();
  expect((await answer).outcome).toBe('unchecked');
});

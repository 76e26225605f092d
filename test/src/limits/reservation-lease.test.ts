/** What calls under way have reserved, as a real redis-server has it: through long calls, outages and lost answers. */
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { admit, CountingMetrics, readStoredReservations, request, silentLogger, until } from './counters-fixture.js';

const AGENT = '00000000-0000-7000-8000-000000001ea5';
/** Of the budget, two do not fit. */
const RESERVED_NANOS = 60;
const firstRequest = request({ agentId: AGENT, budgetNanos: 100, hardBudget: true, holdNanos: RESERVED_NANOS });
const otherAgentRequest = request({ agentId: '00000000-0000-7000-8000-000000001ea6' });
const TIMEOUT_MS = 400;

let server: RedisServer;
let proxy: TcpProxy;
/** Its network can be disturbed. */
let counters: RedisCounters;
let neighbour: RedisCounters;

async function openCounters(port: number): Promise<RedisCounters> {
  const options = { connectionName: 'acg-test', tlsCa: null, timeoutMs: TIMEOUT_MS };
  const urls = [new URL(`redis://127.0.0.1:${port}`)];
  const opened = new RedisCounters({ ...options, urls }, silentLogger, new CountingMetrics());
  await opened.start();
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

/** A call of the agent has ended and cost nothing. */
const settleCall = (holdNanos = RESERVED_NANOS): void => {
  const { limits: terms, providerSlug } = firstRequest;
  counters.settle({ limits: terms, providerSlug, month: 0, costNanos: 0, tokens: 0, reservationNanos: holdNanos });
};

test('hold: as long as its call is under way its lease is renewed', async () => {
  expect((await admit(counters, firstRequest)).outcome).toBe('admitted');
  const [first] = await readReservations();
  await until(async () => (await readReservations())[0]!.deadline > first!.deadline);
  expect((await readReservations())[0]!.sum).toBe(RESERVED_NANOS);
  expect((await admit(neighbour, firstRequest)).outcome).toBe('budget');
  settleCall();
  await until(async () => (await readReservations()).length === 0);
  expect((await admit(neighbour, firstRequest)).outcome).toBe('admitted');
});

test('hold: a store that comes back empty is told at once what is under way', async () => {
  await admit(counters, firstRequest);
  await server.kill();
  await until(() => !counters.isEnforcing || admit(counters, otherAgentRequest).then(() => false));
  await server.restart();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest); // behind what it had to tell
  expect((await readReservations()).map(({ sum }) => sum)).toEqual([RESERVED_NANOS]);
});

test('hold: what was taken for a call that went on without the store is given back once the store is there', async () => {
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
  expect(outcomes).toEqual(['unchecked']); // answered once
});

test('hold: what ended while the store was away is given back once the store is there', async () => {
  await admit(counters, firstRequest);
  server.pause();
  await until(async () => (await admit(counters, otherAgentRequest)).outcome === 'unchecked');
  settleCall();
  server.resume();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest);
  expect(await readReservations()).toEqual([]);
});

test('hold: one that grew while the store was away gives back no more than its call had', async () => {
  for (let n = 0; n < 2; n++)
    expect((await admit(counters, { ...firstRequest, reservationNanos: 30 })).outcome).toBe('admitted');
  server.pause();
  await until(async () => (await admit(counters, otherAgentRequest)).outcome === 'unchecked');
  expect(await new Promise((granted) => counters.growReservation(firstRequest.limits, 30, granted))).toBe(true);
  settleCall(30 + 30); // the other call goes on
  server.resume();
  await until(() => counters.isEnforcing);
  await admit(counters, otherAgentRequest);
  expect((await readReservations()).map(({ sum }) => sum)).toEqual([30]);
});

test('hold: an admission whose answer was lost holds nothing', async () => {
  proxy.dropNextResponse = true;
  expect((await admit(counters, firstRequest)).outcome).toBe('unchecked');
  await until(() => counters.isEnforcing);
  expect(await admit(counters, firstRequest)).toMatchObject({ outcome: 'admitted', heldNanos: RESERVED_NANOS });
});

test('close: ends though the store answers nothing', async () => {
  server.pause();
  const answer = admit(counters, firstRequest);
  await counters.close();
  expect((await answer).outcome).toBe('unchecked');
});

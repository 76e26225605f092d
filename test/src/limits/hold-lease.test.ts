/** What calls under way have reserved, as a real redis-server has it: through long calls, outages and lost answers. */
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RedisServer } from '../redis-server.js';
import { TcpProxy } from '../tcp-proxy.js';
import { admit, CountingMetrics, request, silentLog, storedHolds, until } from './counters-promises.js';

const AGENT = '00000000-0000-7000-8000-000000001ea5';
/** Of the budget, two do not fit. */
const HOLD = 60;
const asked = request({ agentId: AGENT, budgetNanos: 100, hardBudget: true, holdNanos: HOLD });
const another = request({ agentId: '00000000-0000-7000-8000-000000001ea6' });
const TIMEOUT_MS = 400;

let server: RedisServer;
let proxy: TcpProxy;
/** Its network can be disturbed. */
let counters: RedisCounters;
let neighbour: RedisCounters;

async function open(port: number): Promise<RedisCounters> {
  const options = { connectionName: 'acg-test', tlsCa: null, timeoutMs: TIMEOUT_MS };
  const urls = [new URL(`redis://127.0.0.1:${port}`)];
  const opened = new RedisCounters({ ...options, urls }, silentLog, new CountingMetrics());
  await opened.start();
  await until(() => opened.enforcing);
  return opened;
}

beforeEach(async () => {
  server = await RedisServer.start();
  proxy = await TcpProxy.start(server.port);
  [counters, neighbour] = [await open(proxy.port), await open(server.port)];
});
afterEach(async () => {
  server.resume();
  await Promise.all([counters.close(), neighbour.close()]);
  await proxy.stop();
  await server.stop();
});

const stored = () => storedHolds(server.admin, AGENT);

/** A call of the agent has ended and cost nothing. */
const end = (holdNanos = HOLD): void => {
  const { terms, providerSlug } = asked;
  counters.settle({ terms, providerSlug, month: 0, costNanos: 0, tokens: 0, holdNanos });
};

test('hold: as long as its call is under way its lease is renewed', async () => {
  expect((await admit(counters, asked)).outcome).toBe('admitted');
  const [first] = await stored();
  await until(async () => (await stored())[0]!.deadline > first!.deadline);
  expect((await stored())[0]!.sum).toBe(HOLD);
  expect((await admit(neighbour, asked)).outcome).toBe('budget');
  end();
  await until(async () => (await stored()).length === 0);
  expect((await admit(neighbour, asked)).outcome).toBe('admitted');
});

test('hold: a store that comes back empty is told at once what is under way', async () => {
  await admit(counters, asked);
  await server.kill();
  await until(() => !counters.enforcing || admit(counters, another).then(() => false));
  await server.restart();
  await until(() => counters.enforcing);
  await admit(counters, another); // behind what it had to tell
  expect((await stored()).map(({ sum }) => sum)).toEqual([HOLD]);
});

test('hold: what was taken for a call that went on without the store is given back once the store is there', async () => {
  proxy.delayMs = 3 * TIMEOUT_MS;
  const outcomes: string[] = [];
  counters.admit(asked, ({ outcome }) => void outcomes.push(outcome));
  await until(() => outcomes.length > 0);
  await until(async () => (await stored()).length === 1); // the store has taken it
  proxy.delayMs = 0;
  await until(() => counters.enforcing);
  await admit(counters, another);
  expect(await stored()).toEqual([]);
  expect((await admit(neighbour, asked)).outcome).toBe('admitted');
  expect(outcomes).toEqual(['unchecked']); // answered once
});

test('hold: what ended while the store was away is given back once the store is there', async () => {
  await admit(counters, asked);
  server.pause();
  await until(async () => (await admit(counters, another)).outcome === 'unchecked');
  end();
  server.resume();
  await until(() => counters.enforcing);
  await admit(counters, another);
  expect(await stored()).toEqual([]);
});

test('hold: one that grew while the store was away gives back no more than its call had', async () => {
  for (let n = 0; n < 2; n++) expect((await admit(counters, { ...asked, holdNanos: 30 })).outcome).toBe('admitted');
  server.pause();
  await until(async () => (await admit(counters, another)).outcome === 'unchecked');
  expect(await new Promise((granted) => counters.grow(asked.terms, 30, granted))).toBe(true);
  end(30 + 30); // the other call goes on
  server.resume();
  await until(() => counters.enforcing);
  await admit(counters, another);
  expect((await stored()).map(({ sum }) => sum)).toEqual([30]);
});

test('hold: an admission whose answer was lost holds nothing', async () => {
  proxy.cutNextAnswer = true;
  expect((await admit(counters, asked)).outcome).toBe('unchecked');
  await until(() => counters.enforcing);
  expect(await admit(counters, asked)).toMatchObject({ outcome: 'admitted', heldNanos: HOLD });
});

test('close: ends though the store answers nothing', async () => {
  server.pause();
  const answer = admit(counters, asked);
  await counters.close();
  expect((await answer).outcome).toBe('unchecked');
});

import { monthOfMs } from '@acg/dataplane/counters/calendar-month';
import type { Admission } from '@acg/dataplane/counters/counters';
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { termsOf } from '@acg/dataplane/counters/testing/terms-fixture';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../redis-server.js';
import { admit, CountingMetrics, silentLog, standing, until } from './counters-promises.js';

const FOR_EVER_MS = 3_600_000;
const BUDGET = 1_000_000;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const opened: RedisCounters[] = [];
afterEach(async () => {
  for (const counters of opened.splice(0)) await counters.close();
});

async function open(spendLingerMs: number): Promise<RedisCounters> {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, spendLingerMs };
  const counters = new RedisCounters(options, silentLog, new CountingMetrics());
  opened.push(counters);
  await counters.start();
  return counters;
}

const requestOf = (agentId: string, hardBudget = false) => ({
  terms: termsOf({ agentId, budgetNanos: BUDGET, hardBudget }),
  providerSlug: 'openai',
  holdNanos: hardBudget ? 1_000 : 0,
});

function settle(counters: RedisCounters, agentId: string, costNanos: number, hardBudget = false): void {
  const { terms, providerSlug, holdNanos } = requestOf(agentId, hardBudget);
  const month = monthOfMs(Date.now());
  counters.settle({ terms, providerSlug, month, costNanos, tokens: 0, holdNanos });
}

/** As another process sees it. */
async function spentAt(counters: RedisCounters, agentId: string): Promise<number> {
  const terms = termsOf({ agentId, budgetNanos: BUDGET });
  return (await standing(counters, { terms, providerSlugs: [] }))!.spends[0]!.spentNanos;
}

async function scriptCalls(): Promise<number> {
  const line = /cmdstat_evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'));
  return Number(line?.[1] ?? 0);
}

/** What was left for the end of this turn, and of the next, has been sent. */
const turns = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test('spend far from the budget goes out with the next admission, in one call', async () => {
  const counters = await open(FOR_EVER_MS);
  const first: Admission = await admit(counters, requestOf('far'));
  expect(first.outcome).toBe('admitted');
  const before = await scriptCalls();

  settle(counters, 'far', 700);
  await turns();
  await admit(counters, requestOf('far'));

  expect(await scriptCalls()).toBe(before + 1);
  expect(await spentAt(await open(FOR_EVER_MS), 'far')).toBe(700);
});

test('spend that no admission follows goes out by itself', async () => {
  const [counters, other] = [await open(1), await open(1)];
  settle(counters, 'alone', 700);
  await until(async () => (await spentAt(other, 'alone')) === 700);
});

test('spend near the budget goes out at once', async () => {
  const [counters, other] = [await open(FOR_EVER_MS), await open(FOR_EVER_MS)];
  settle(counters, 'near', 0.8 * BUDGET);
  await admit(counters, requestOf('near'));
  settle(counters, 'near', 0.15 * BUDGET);
  await until(async () => (await spentAt(other, 'near')) === 0.95 * BUDGET);
});

test('spend of a project without a budget is told to the others within a second, and with the end of the process', async () => {
  const [counters, other] = [await open(FOR_EVER_MS), await open(FOR_EVER_MS)];
  const spend = (costNanos: number): void => {
    const terms = termsOf({ agentId: 'one', countsScopes: true });
    counters.settle({
      terms,
      providerSlug: 'openai',
      month: monthOfMs(Date.now()),
      costNanos,
      tokens: 0,
      holdNanos: 0,
    });
  };
  const known = async (): Promise<number> => {
    const terms = termsOf({ agentId: 'two', projectBudgetNanos: BUDGET });
    return (await standing(other, { terms, providerSlugs: [] }))!.spends[1]!.spentNanos;
  };
  const before = await known();
  spend(700);
  spend(300);
  await admit(counters, requestOf('somebody else')); // takes along what lingers
  await until(async () => (await known()) === before + 1_000);
  spend(5);
  await counters.close();
  expect(await known()).toBe(before + 1_005);
});

test('what others have spent counts for being near', async () => {
  const [counters, other] = [await open(FOR_EVER_MS), await open(FOR_EVER_MS)];
  settle(other, 'shared', 0.95 * BUDGET);
  await until(async () => (await spentAt(other, 'shared')) === 0.95 * BUDGET);
  await admit(counters, requestOf('shared'));
  settle(counters, 'shared', 700);
  await until(async () => (await spentAt(other, 'shared')) === 0.95 * BUDGET + 700);
});

test('a hard budget hears of the end of a call at once', async () => {
  const counters = await open(FOR_EVER_MS);
  await admit(counters, requestOf('hard', true));
  const before = await scriptCalls();

  settle(counters, 'hard', 700, true);
  await turns();
  await admit(counters, requestOf('hard', true));

  expect(await scriptCalls()).toBe(before + 2);
});

test('spend that waits is told when the process ends', async () => {
  const counters = await open(FOR_EVER_MS);
  settle(counters, 'ending', 700);
  await counters.close();
  expect(await spentAt(await open(FOR_EVER_MS), 'ending')).toBe(700);
});

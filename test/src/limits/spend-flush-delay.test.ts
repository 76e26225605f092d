import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { monthOfMs } from '@acg/dataplane/limits/calendar-month';
import type { Admission } from '@acg/dataplane/limits/counters';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { admit, CountingMetrics, peek, silentLogger, until } from './counters-fixture.js';

const NEVER_FLUSH_MS = 3_600_000;
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

async function openCounters(spendLingerMs: number): Promise<RedisCounters> {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, spendLingerMs };
  const counters = new RedisCounters(options, silentLogger, new CountingMetrics());
  opened.push(counters);
  await counters.start();
  return counters;
}

const createRequest = (agentId: string, hardBudget = false) => ({
  limits: createTestLimits({ agentId, budgetNanos: BUDGET, hardBudget }),
  providerSlug: 'openai',
  reservationNanos: hardBudget ? 1_000 : 0,
});

function settle(counters: RedisCounters, agentId: string, costNanos: number, hardBudget = false): void {
  const { limits: terms, providerSlug, reservationNanos: holdNanos } = createRequest(agentId, hardBudget);
  const month = monthOfMs(Date.now());
  counters.settle({ limits: terms, providerSlug, month, costNanos, tokens: 0, reservationNanos: holdNanos });
}

/** As another process sees it. */
async function readSpentNanos(counters: RedisCounters, agentId: string): Promise<number> {
  const terms = createTestLimits({ agentId, budgetNanos: BUDGET });
  return (await peek(counters, { limits: terms, providerSlugs: [] }))!.spends[0]!.spentNanos;
}

async function countScriptCalls(): Promise<number> {
  const line = /cmdstat_evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'));
  return Number(line?.[1] ?? 0);
}

/** What was left for the end of this turn, and of the next, has been sent. */
const waitTwoTurns = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test('spend far from the budget goes out with the next admission, in one call', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  const first: Admission = await admit(counters, createRequest('far'));
  expect(first.outcome).toBe('admitted');
  const before = await countScriptCalls();

  settle(counters, 'far', 700);
  await waitTwoTurns();
  await admit(counters, createRequest('far'));

  expect(await countScriptCalls()).toBe(before + 1);
  expect(await readSpentNanos(await openCounters(NEVER_FLUSH_MS), 'far')).toBe(700);
});

test('spend that no admission follows goes out by itself', async () => {
  const [counters, other] = [await openCounters(1), await openCounters(1)];
  settle(counters, 'alone', 700);
  await until(async () => (await readSpentNanos(other, 'alone')) === 700);
});

test('spend near the budget goes out at once', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  settle(counters, 'near', 0.8 * BUDGET);
  await admit(counters, createRequest('near'));
  settle(counters, 'near', 0.15 * BUDGET);
  await until(async () => (await readSpentNanos(other, 'near')) === 0.95 * BUDGET);
});

test('spend of a project without a budget is told to the others within a second, and with the end of the process', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  const spend = (costNanos: number): void => {
    const terms = createTestLimits({ agentId: 'one', countsScopes: true });
    counters.settle({
      limits: terms,
      providerSlug: 'openai',
      month: monthOfMs(Date.now()),
      costNanos,
      tokens: 0,
      reservationNanos: 0,
    });
  };
  const known = async (): Promise<number> => {
    const terms = createTestLimits({ agentId: 'two', projectBudgetNanos: BUDGET });
    return (await peek(other, { limits: terms, providerSlugs: [] }))!.spends[1]!.spentNanos;
  };
  const before = await known();
  spend(700);
  spend(300);
  await admit(counters, createRequest('somebody else')); // takes along what lingers
  await until(async () => (await known()) === before + 1_000);
  spend(5);
  await counters.close();
  expect(await known()).toBe(before + 1_005);
});

test('what others have spent counts for being near', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  settle(other, 'shared', 0.95 * BUDGET);
  await until(async () => (await readSpentNanos(other, 'shared')) === 0.95 * BUDGET);
  await admit(counters, createRequest('shared'));
  settle(counters, 'shared', 700);
  await until(async () => (await readSpentNanos(other, 'shared')) === 0.95 * BUDGET + 700);
});

test('a hard budget hears of the end of a call at once', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  await admit(counters, createRequest('hard', true));
  const before = await countScriptCalls();

  settle(counters, 'hard', 700, true);
  await waitTwoTurns();
  await admit(counters, createRequest('hard', true));

  expect(await countScriptCalls()).toBe(before + 2);
});

test('spend that waits is told when the process ends', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  settle(counters, 'ending', 700);
  await counters.close();
  expect(await readSpentNanos(await openCounters(NEVER_FLUSH_MS), 'ending')).toBe(700);
});

import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import type { Admission } from '@acg/dataplane/limits/counters-interface';
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
  await counters.waitForStoreAndCheckEviction();
  return counters;
}

const createAdmissionRequest = (agentId: string, hardBudget = false) => ({
  limits: createTestLimits({ agentId, budgetNanos: BUDGET, hardBudget }),
  providerSlug: 'openai',
  reservationNanos: hardBudget ? 1_000 : 0,
});

function settle(counters: RedisCounters, agentId: string, costNanos: number, hardBudget = false): void {
  const { limits, providerSlug, reservationNanos } = createAdmissionRequest(agentId, hardBudget);
  const admittedAtSec = Math.floor(Date.now() / 1000);
  counters.settle({ limits, providerSlug, admittedAtSec, costNanos, tokens: 0, reservationNanos });
}

/** The spend as another process reads it. */
async function readSpentNanos(counters: RedisCounters, agentId: string): Promise<number> {
  const limits = createTestLimits({ agentId, budgetNanos: BUDGET });
  return (await peek(counters, { limits, providerSlugs: [] }))!.spends[0]!.spentNanos;
}

async function countScriptCalls(): Promise<number> {
  const line = /cmdstat_evalsha:calls=(\d+)/.exec(await server.admin.info('commandstats'));
  return Number(line?.[1] ?? 0);
}

/** Resolves when the writes left for the end of this tick and of the next one have been sent. */
const waitTwoTurns = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

test('spend flush: spend far from the budget is sent with the next admission, in one call', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  const first: Admission = await admit(counters, createAdmissionRequest('far'));
  expect(first.outcome).toBe('admitted');
  const before = await countScriptCalls();

  settle(counters, 'far', 700);
  await waitTwoTurns();
  await admit(counters, createAdmissionRequest('far'));

  expect(await countScriptCalls()).toBe(before + 1);
  expect(await readSpentNanos(await openCounters(NEVER_FLUSH_MS), 'far')).toBe(700);
});

test('spend flush: spend without a following admission is sent by itself', async () => {
  const [counters, other] = [await openCounters(1), await openCounters(1)];
  settle(counters, 'alone', 700);
  await until(async () => (await readSpentNanos(other, 'alone')) === 700);
});

test('spend flush: spend near the budget is sent at once', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  settle(counters, 'near', 0.8 * BUDGET);
  await admit(counters, createAdmissionRequest('near'));
  settle(counters, 'near', 0.15 * BUDGET);
  await until(async () => (await readSpentNanos(other, 'near')) === 0.95 * BUDGET);
});

test('spend flush: spend of a project without a budget is sent within a second, and at shutdown', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  const spend = (costNanos: number): void => {
    const limits = createTestLimits({ agentId: 'one', countsScopes: true });
    counters.settle({
      limits,
      providerSlug: 'openai',
      admittedAtSec: Math.floor(Date.now() / 1000),
      costNanos,
      tokens: 0,
      reservationNanos: 0,
    });
  };
  const known = async (): Promise<number> => {
    const limits = createTestLimits({ agentId: 'two', projectBudgetNanos: BUDGET });
    return (await peek(other, { limits, providerSlugs: [] }))!.spends[1]!.spentNanos;
  };
  const before = await known();
  spend(700);
  spend(300);
  await admit(counters, createAdmissionRequest('another agent')); // sends the delayed spend along
  await until(async () => (await known()) === before + 1_000);
  spend(5);
  await counters.close();
  expect(await known()).toBe(before + 1_005);
});

test('spend flush: the spend of other processes counts as near the budget', async () => {
  const [counters, other] = [await openCounters(NEVER_FLUSH_MS), await openCounters(NEVER_FLUSH_MS)];
  settle(other, 'shared', 0.95 * BUDGET);
  await until(async () => (await readSpentNanos(other, 'shared')) === 0.95 * BUDGET);
  await admit(counters, createAdmissionRequest('shared'));
  settle(counters, 'shared', 700);
  await until(async () => (await readSpentNanos(other, 'shared')) === 0.95 * BUDGET + 700);
});

test('spend flush: the end of a call with a hard budget is sent at once', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  await admit(counters, createAdmissionRequest('hard', true));
  const before = await countScriptCalls();

  settle(counters, 'hard', 700, true);
  await waitTwoTurns();
  await admit(counters, createAdmissionRequest('hard', true));

  expect(await countScriptCalls()).toBe(before + 2);
});

test('spend flush: delayed spend is sent at shutdown', async () => {
  const counters = await openCounters(NEVER_FLUSH_MS);
  settle(counters, 'ending', 700);
  await counters.close();
  expect(await readSpentNanos(await openCounters(NEVER_FLUSH_MS), 'ending')).toBe(700);
});

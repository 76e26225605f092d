import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { LayoutUpgrade } from '@acg/dataplane/counters/redis/upgrade/layout-upgrade';
import type { LayoutStage } from '@acg/dataplane/limits/counters-interface';
import type { WindowLengthsMs } from '@acg/dataplane/limits/limit-table';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { describeBudgetRowsContract } from './budget-rows-conformance.js';
import { type CountersUnderTest, describeCountersContract } from './counters-conformance.js';
import { admit, CountingMetrics, silentLogger, until } from './counters-fixture.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const nowMs = async (): Promise<number> => {
  const [seconds, micros] = await server.admin.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
};

async function openCounters(windows: Partial<WindowLengthsMs>): Promise<RedisCounters> {
  const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, windows };
  const counters = new RedisCounters(options, silentLogger, new CountingMetrics());
  await counters.waitForStoreAndCheckEviction();
  return counters;
}

const subject: CountersUnderTest = {
  open: openCounters,
  advance: async (ms) => {
    const end = (await nowMs()) + ms;
    while ((await nowMs()) < end) await new Promise((resolve) => setTimeout(resolve, 1));
  },
  nowMs,
};

describeCountersContract('Redis', () => subject);
describeBudgetRowsContract('Redis', () => subject);

/** During the upgrade from the previous release's keys. */
const subjectInStage = (createStage: () => LayoutStage): CountersUnderTest => ({
  ...subject,
  open: async (windows) => {
    const counters = new LayoutUpgrade(await openCounters(windows), 10_000, new CountingMetrics());
    counters.setLayoutStage(createStage());
    return counters;
  },
});
const inBoth = subjectInStage(() => ({ name: 'both' }));
const inNew = subjectInStage(() => ({ name: 'new', sinceMs: Date.now() }));
describeCountersContract('Redis with two layouts', () => inBoth);
describeBudgetRowsContract('Redis with two layouts', () => inBoth);
describeCountersContract('Redis after an upgrade', () => inNew);
describeBudgetRowsContract('Redis after an upgrade', () => inNew);

test('keys of runs that ended long before their time do not stay until then', async () => {
  const counters = await openCounters({});
  const keptUntilSec = (await nowMs()) / 1_000 + 30 * 86_400;
  const startRun = (id: string) =>
    createTestBudget({ id, scope: 'run', scopeId: id, window: 'total', limitNanos: 100, keptUntilSec });
  const ttl = (id: string) => server.admin.ttl(`acg:{org-1}:spend:run:${id}:total`);
  for (const id of ['ended', 'open']) {
    const limits = createTestLimits({ orgId: 'org-1', budgets: [startRun(id)] });
    const request = { limits, providerSlug: 'openai', reservationNanos: 0 };
    const { admittedAtSec } = await admit(counters, request);
    counters.settle({ ...request, admittedAtSec, costNanos: 5, tokens: 0 });
    await until(async () => (await ttl(id)) > 29 * 86_400);
  }
  const atMs = performance.now();
  counters.endRun('ended');
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => atMs + 120_000);
  counters.endRun('another');
  clock.mockRestore();
  await until(async () => (await ttl('ended')) <= 600);
  expect(await ttl('open')).toBeGreaterThan(29 * 86_400);
  await counters.close();
});

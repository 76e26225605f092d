import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { LayoutUpgrade } from '@acg/dataplane/counters/redis/upgrade/layout-upgrade';
import type { LayoutStage } from '@acg/dataplane/limits/counters-interface';
import type { WindowLengthsMs } from '@acg/dataplane/limits/limit-table';
import { afterAll, beforeAll } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { describeBudgetRowsContract } from './budget-rows-conformance.js';
import { type CountersUnderTest, describeCountersContract } from './counters-conformance.js';
import { CountingMetrics, silentLogger } from './counters-fixture.js';

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

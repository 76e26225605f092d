import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { afterAll, beforeAll } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
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

const subject: CountersUnderTest = {
  open: async (windows) => {
    const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, windows };
    const counters = new RedisCounters(options, silentLogger, new CountingMetrics());
    await counters.waitForStoreAndCheckEviction();
    return counters;
  },
  advance: async (ms) => {
    const end = (await nowMs()) + ms;
    while ((await nowMs()) < end) await new Promise((resolve) => setTimeout(resolve, 1));
  },
  nowMs,
};

describeCountersContract('Redis', () => subject);

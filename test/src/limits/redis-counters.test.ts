import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { afterAll, beforeAll } from 'vitest';
import { RedisServer } from '../redis-server.js';
import { describeCounters, type Subject } from './counters-conformance.js';
import { CountingMetrics, silentLog } from './counters-promises.js';

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const nowMs = async (): Promise<number> => {
  const [seconds, micros] = await server.admin.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
};

const subject: Subject = {
  open: async (windows) => {
    const options = { urls: [server.url], connectionName: 'acg-test', tlsCa: null, timeoutMs: 10_000, windows };
    const counters = new RedisCounters(options, silentLog, new CountingMetrics());
    await counters.start();
    return counters;
  },
  advance: async (ms) => {
    const end = (await nowMs()) + ms;
    while ((await nowMs()) < end) await new Promise((resolve) => setTimeout(resolve, 1));
  },
  nowMs,
};

describeCounters('Redis', () => subject);

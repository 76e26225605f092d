/**
 * A data plane with two workers, one of which is killed with SIGKILL: its connections are lost, its received responses
 * are not.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { CrashRun } from './crash-run.js';
import { expectExactlyOnce } from './expect-exactly-once.js';

const CALLS = 300;
let redis: RedisServer;
let run: CrashRun;
beforeAll(async () => {
  redis = await RedisServer.start();
  // Enough connections that both workers have some.
  run = await CrashRun.start({ concurrency: 24, redisUrl: redis.url.href });
});
afterAll(async () => {
  await run?.stop();
  await redis?.stop();
});

test('kill -9 of a worker: the other worker serves, and each completely received response is in the log once', async () => {
  const report = await run.killWorker(CALLS);
  expect(report.received).toBe(CALLS);
  expect(report.failed).toBeGreaterThan(0);
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce(run);
});

test('kill -9 of a worker with unsent usage: its spool is adopted, and each record counts once', async () => {
  const report = await run.killWorkerAlone(CALLS);
  expect(report.received).toBe(CALLS);
  await expectExactlyOnce(run);
});

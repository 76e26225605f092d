/** A data plane of two workers, one of which is killed hard: its connections are lost, nothing that was received is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { CrashRun } from './crash-run.js';
import { expectExactlyOnce } from './expect-exactly-once.js';

const CALLS = 300;
let redis: RedisServer;
let run: CrashRun;
beforeAll(async () => {
  redis = await RedisServer.start();
  // So many connections that both workers have some.
  run = await CrashRun.start({ concurrency: 24, redisUrl: redis.url.href });
});
afterAll(async () => {
  await run?.stop();
  await redis?.stop();
});

test('kill -9 of a worker: the other one serves on, and whatever was received completely is in the log once', async () => {
  const report = await run.killWorker(CALLS);
  expect(report.received).toBe(CALLS);
  expect(report.failed).toBeGreaterThan(0);
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce(run);
});

test('kill -9 of a worker that could not send its usage: its spool is adopted, and each record counts once', async () => {
  const report = await run.killWorkerAlone(CALLS);
  expect(report.received).toBe(CALLS);
  await expectExactlyOnce(run);
});

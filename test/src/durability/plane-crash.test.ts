import { afterAll, beforeAll, expect, test } from 'vitest';
import { CrashRun } from './crash-run.js';
import { expectExactlyOnce } from './expect-exactly-once.js';

// Processes start and recover several times, which takes long on a loaded machine.
const CALLS = 240;
let run: CrashRun;
beforeAll(async () => {
  run = await CrashRun.start({ concurrency: 8 });
});
afterAll(() => run?.stop());

test('kill -9 of the data plane: each completely received response is in the log once', async () => {
  const report = await run.killDataPlane(CALLS);
  expect(report.received).toBe(CALLS);
  expect(report.failed).toBeGreaterThan(0);
  await expectExactlyOnce(run);
});

test('kill -9 of the control plane: calls continue without it, and all of them are in the log once', async () => {
  const report = await run.killControlPlane(CALLS);
  expect(report).toMatchObject({ received: CALLS, failed: 0 });
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce(run);
});

test('kill -9 of Postgres: calls continue without it, and all of them are in the log once', async () => {
  const report = await run.killPostgres(CALLS);
  expect(report).toMatchObject({ received: CALLS, failed: 0 });
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce(run);
});

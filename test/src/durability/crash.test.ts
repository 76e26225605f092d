import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CrashRun } from './crash-run.js';

// Processes start and recover several times; a loaded machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });
const CALLS = 240;
let run: CrashRun;
beforeAll(async () => {
  run = await CrashRun.start(8);
});
afterAll(() => run?.stop());

/** What every crash must leave behind: each received response once, and sums that are those of the records. */
async function expectExactlyOnce(): Promise<void> {
  const ledger = await run.ledger();
  expect(new Set(ledger.requestIds).size).toBe(ledger.requestIds.length);
  expect(run.received.filter((id) => !ledger.requestIds.includes(id))).toEqual([]);
  expect(ledger.summary.totalRequests).toBe(ledger.requestIds.length);
  expect(ledger.spentNanos).toBe(Math.round(ledger.costCents * 1e7));
  expect(ledger.summary.costCents).toBe(Math.floor(ledger.costCents + 0.5));
}

test('kill -9 of the data plane: whatever a client has received completely is in the log once', async () => {
  const report = await run.killDataPlane(CALLS);
  expect(report.received).toBeGreaterThan(CALLS / 2);
  await expectExactlyOnce();
});

test('kill -9 of the control plane: calls go on without it, and all of them are in the log once', async () => {
  const report = await run.killControlPlane(CALLS);
  expect(report).toMatchObject({ received: CALLS, failed: 0 });
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce();
});

test('kill -9 of Postgres: calls go on without it, and all of them are in the log once', async () => {
  const report = await run.killPostgres(CALLS);
  expect(report).toMatchObject({ received: CALLS, failed: 0 });
  expect(report.receivedWhileDown).toBeGreaterThan(0);
  await expectExactlyOnce();
});

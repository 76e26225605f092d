import { expect } from 'vitest';
import type { CrashRun } from './crash-run.js';

/** Checks the state after a crash: each received response is recorded once, and the totals equal the records. */
export async function expectExactlyOnce(run: CrashRun): Promise<void> {
  const ledger = await run.readLedger();
  expect(new Set(ledger.requestIds).size).toBe(ledger.requestIds.length);
  expect(run.received.filter((id) => !ledger.requestIds.includes(id))).toEqual([]);
  expect(ledger.summary.totalRequests).toBe(ledger.requestIds.length);
  expect(ledger.spentNanos).toBe(Math.round(ledger.costCents * 1e7));
  expect(ledger.summary.costCents).toBe(Math.floor(ledger.costCents + 0.5));
}

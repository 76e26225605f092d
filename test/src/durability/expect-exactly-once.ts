import { expect } from 'vitest';
import type { CrashRun } from './crash-run.js';

/** What every crash must leave behind: each received response once, and sums that are those of the records. */
export async function expectExactlyOnce(run: CrashRun): Promise<void> {
  const ledger = await run.readLedger();
  expect(new Set(ledger.requestIds).size).toBe(ledger.requestIds.length);
  expect(run.received.filter((id) => !ledger.requestIds.includes(id))).toEqual([]);
  expect(ledger.summary.totalRequests).toBe(ledger.requestIds.length);
  expect(ledger.spentNanos).toBe(Math.round(ledger.costCents * 1e7));
  expect(ledger.summary.costCents).toBe(Math.floor(ledger.costCents + 0.5));
}

/**
 * Prechecks the limits without consuming them, before a call's body has arrived: a call that is already over a limit is
 * rejected at once. A call that passes is counted at its admission, right before it goes upstream.
 */
import type { LimitSnapshot, SpendSnapshot } from '../limits/counters-interface.js';
import { BUDGET_ROWS, LIMIT_TABLE, type LimitValues } from '../limits/limit-table.js';
import { createLimitRejection } from './limit-rejection.js';
import type { Rejection } from './rejections.js';

/** Null: no limit is exceeded. The snapshot is that of one provider. */
export function precheckLimits(
  { windows, spends }: LimitSnapshot,
  limits: LimitValues,
  nowMs: number,
): Rejection | null {
  const full = windows[0]?.rejection ?? null;
  if (full !== null) return createPrecheckRejection(full.row, full.retryAtSec, null, limits, nowMs);
  for (const row of BUDGET_ROWS) {
    const spend = spends.find((one) => one.row === row);
    // A budget has no reset instant.
    if (spend !== undefined && spend.spentNanos >= limits[row]!)
      return createPrecheckRejection(row, 0, spend, limits, nowMs);
  }
  return null;
}

function createPrecheckRejection(
  row: number,
  passesAtSec: number,
  spend: SpendSnapshot | null,
  limits: LimitValues,
  nowMs: number,
): Rejection | null {
  const refused = {
    outcome: LIMIT_TABLE[row]!.type,
    rejectedByRow: row,
    retryAtSec: passesAtSec,
    rpmRemaining: 0,
    rpmResetAtSec: passesAtSec,
    admittedAtSec: 0,
    spentNanos: spend?.spentNanos ?? 0,
    reservedNanos: spend?.reservedNanos ?? 0,
    reservationNanos: 0,
  };
  return createLimitRejection(refused, limits, nowMs);
}

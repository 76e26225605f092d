/**
 * A look at the limits that consumes nothing, for a call whose body is still to come: what is over its limit already is
 * refused at once. What it lets through is counted later, in the turn in which it goes upstream.
 */
import type { LimitSnapshot, SpendSnapshot } from '../limits/counters.js';
import { BUDGET_ROWS, LIMIT_TABLE, type LimitValues } from '../limits/limit-table.js';
import { createLimitRejection } from './limit-rejection.js';
import type { Rejection } from './rejections.js';

/** Null: nothing is over its limit. `standing`: of one provider. */
export function precheckLimits(
  { windows, spends }: LimitSnapshot,
  limits: LimitValues,
  nowMs: number,
): Rejection | null {
  const full = windows[0]?.rejection ?? null;
  if (full !== null) return createPrecheckRejection(full.row, full.retryAtSec, null, limits, nowMs);
  for (const row of BUDGET_ROWS) {
    const spend = spends.find((one) => one.row === row);
    // Of money no moment is said.
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
    month: 0,
    spentNanos: spend?.spentNanos ?? 0,
    reservedNanos: spend?.reservedNanos ?? 0,
    reservationNanos: 0,
  };
  return createLimitRejection(refused, limits, nowMs);
}

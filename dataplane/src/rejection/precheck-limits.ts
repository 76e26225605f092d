/**
 * Prechecks the limits without consuming them, while a call's body arrives and before a connection is opened for it: a
 * call that is already over a limit is rejected at once. A call that passes is counted at its admission, right before it
 * goes upstream.
 */
import type { LimitSnapshot, SpendSnapshot } from '../limits/counters-interface.js';
import { AGENT_PROVIDER_ROWS, BUDGET_ROW, BUDGET_ROWS, LIMIT_TABLE, type LimitValues } from '../limits/limit-table.js';
import { createLimitRejection } from './limit-rejection.js';
import type { Rejection } from './rejections.js';

/** Null: no limit is exceeded. The snapshot is that of one provider. `reservationNanos`: see {@link AdmissionRequest}. */
export function precheckLimits(
  { windows, spends }: LimitSnapshot,
  limits: LimitValues,
  nowMs: number,
  reservationNanos = 0,
): Rejection | null {
  const full = windows[0]?.rejection ?? null;
  if (full !== null) return createPrecheckRejection(full.row, full.retryAtSec, null, 0, limits, nowMs);
  for (const row of BUDGET_ROWS) {
    const spend = spends.find((one) => one.row === row);
    if (spend === undefined) continue;
    const reserved = row === BUDGET_ROW ? reservationNanos : 0;
    const isExceeded =
      reserved > 0 ? countReservationsThatFit(spend, limits, reserved) < 1 : spend.spentNanos >= limits[row]!;
    // A budget has no reset instant.
    if (isExceeded) return createPrecheckRejection(row, 0, spend, reserved, limits, nowMs);
  }
  return null;
}

/** How many calls with this reservation the limits would admit now; Infinity: they set no number. */
export function countAdmissibleCalls(
  { windows, spends }: LimitSnapshot,
  limits: LimitValues,
  reservationNanos: number,
): number {
  let calls = Number.POSITIVE_INFINITY;
  const remaining = windows[0]?.remaining;
  for (let i = 0; remaining !== undefined && i < remaining.length; i++) {
    const { unit } = LIMIT_TABLE[AGENT_PROVIDER_ROWS[i]!]!;
    if (unit === 'requests') calls = Math.min(calls, remaining[i]!);
  }
  const spend = spends.find(({ row }) => row === BUDGET_ROW);
  if (reservationNanos === 0 || spend === undefined) return calls;
  return Math.min(calls, countReservationsThatFit(spend, limits, reservationNanos));
}

const countReservationsThatFit = (
  { row, spentNanos, reservedNanos }: SpendSnapshot,
  limits: LimitValues,
  reservationNanos: number,
): number => Math.floor((limits[row]! - spentNanos - reservedNanos) / reservationNanos);

function createPrecheckRejection(
  row: number,
  passesAtSec: number,
  spend: SpendSnapshot | null,
  reservationNanos: number,
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
    reservationNanos,
  };
  return createLimitRejection(refused, limits, nowMs);
}

/**
 * Prechecks the limits without consuming them, while a call's body arrives and before a connection is opened for it: a
 * call that is already over a limit is rejected at once. A call that passes is counted at its admission, right before it
 * goes upstream.
 */
import type { AgentLimits } from '../limits/agent-limits.js';
import type { BudgetRow } from '../limits/budget-row.js';
import type { LimitSnapshot, SpendSnapshot } from '../limits/counters-interface.js';
import { AGENT_PROVIDER_ROWS, LIMIT_TABLE } from '../limits/limit-table.js';
import { createLimitRejection } from './limit-rejection.js';
import type { Rejection } from './rejections.js';

/**
 * Null: no limit is exceeded. The snapshot is that of one provider, `limits` are those of the call: its rows are among
 * the snapshot's. `reservationNanos`: see {@link AdmissionRequest}.
 */
export function precheckLimits(
  { takenAtSec, windows, spends }: LimitSnapshot,
  limits: AgentLimits,
  reservationNanos = 0,
): Rejection | null {
  const full = windows[0]?.rejection ?? null;
  if (full !== null) return createPrecheckRejection(full, null, null, 0, limits, takenAtSec);
  for (const row of limits.checkedBudgets) {
    const spend = findSpend(spends, row);
    if (spend === undefined || row.mode === 'audit') continue;
    const reserved = row.reservationOf(reservationNanos);
    const isExceeded =
      reserved > 0 ? countReservationsThatFit(row, spend, reserved) < 1 : spend.spentNanos >= row.limitNanos;
    if (isExceeded) return createPrecheckRejection(null, row, spend, reserved, limits, takenAtSec);
  }
  return null;
}

/** How many calls with this reservation the limits would admit now; Infinity: they set no number. */
export function countAdmissibleCalls(
  { windows, spends }: LimitSnapshot,
  limits: AgentLimits,
  reservationNanos: number,
): number {
  let calls = Number.POSITIVE_INFINITY;
  const remaining = windows[0]?.remaining;
  for (let i = 0; remaining !== undefined && i < remaining.length; i++) {
    const row = AGENT_PROVIDER_ROWS[i]!;
    if (LIMIT_TABLE[row]!.unit === 'requests' && !limits.auditedRows.includes(row))
      calls = Math.min(calls, remaining[i]!);
  }
  for (const row of limits.checkedBudgets) {
    const reserved = row.reservationOf(reservationNanos);
    const spend = findSpend(spends, row);
    if (reserved > 0 && spend !== undefined) calls = Math.min(calls, countReservationsThatFit(row, spend, reserved));
  }
  return calls;
}

/** By name: the snapshot may come from an earlier context. */
const findSpend = (spends: readonly SpendSnapshot[], { name }: BudgetRow): SpendSnapshot | undefined =>
  spends.find(({ budget }) => budget.name === name);

const countReservationsThatFit = (
  { limitNanos }: BudgetRow,
  { spentNanos, reservedNanos }: SpendSnapshot,
  reservationNanos: number,
): number => Math.floor((limitNanos - spentNanos - reservedNanos) / reservationNanos);

function createPrecheckRejection(
  full: { readonly row: number; readonly retryAtSec: number } | null,
  budget: BudgetRow | null,
  spend: SpendSnapshot | null,
  reservationNanos: number,
  limits: AgentLimits,
  takenAtSec: number,
): Rejection | null {
  const retryAtSec = full?.retryAtSec ?? budget?.resetsAtSec(takenAtSec) ?? 0;
  const rejected = {
    outcome: full === null ? 'budget' : LIMIT_TABLE[full.row]!.type,
    rejectedByRow: full?.row ?? budget!.tableRow,
    rejectedByBudget: budget,
    retryAtSec,
    wouldReject: '',
    rpmRemaining: 0,
    rpmResetAtSec: retryAtSec,
    admittedAtSec: takenAtSec,
    spentNanos: spend?.spentNanos ?? 0,
    reservedNanos: spend?.reservedNanos ?? 0,
    reservationNanos,
  };
  return createLimitRejection(rejected, limits);
}

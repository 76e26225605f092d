/**
 * A look at the limits that consumes nothing, for a call whose body is still to come: what is over its limit already is
 * refused at once. What it lets through is counted later, in the turn in which it goes upstream.
 */
import type { AgentStanding, SpendStanding } from '../counters/counters.js';
import { LIMIT_TABLE, type Limits, MONEY_ROWS } from '../counters/limit-table.js';
import { limitRefusal } from './limit-refusal.js';
import type { Rejection } from './rejections.js';

/** Null: nothing is over its limit. `standing`: of one provider. */
export function firstLook({ windows, spends }: AgentStanding, limits: Limits, nowMs: number): Rejection | null {
  const full = windows[0]?.refusal ?? null;
  if (full !== null) return refusalOf(full.row, full.passesAtSec, null, limits, nowMs);
  for (const row of MONEY_ROWS) {
    const spend = spends.find((one) => one.row === row);
    // Of money no moment is said.
    if (spend !== undefined && spend.spentNanos >= limits[row]!) return refusalOf(row, 0, spend, limits, nowMs);
  }
  return null;
}

function refusalOf(
  row: number,
  passesAtSec: number,
  spend: SpendStanding | null,
  limits: Limits,
  nowMs: number,
): Rejection | null {
  const refused = {
    outcome: LIMIT_TABLE[row]!.type,
    refusedBy: row,
    passesAtSec,
    rpmRemaining: 0,
    rpmResetAtSec: passesAtSec,
    month: 0,
    spentNanos: spend?.spentNanos ?? 0,
    heldNanos: spend?.heldNanos ?? 0,
    holdNanos: 0,
  };
  return limitRefusal(refused, limits, nowMs);
}

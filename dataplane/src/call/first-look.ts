/**
 * A look at the limits that consumes nothing, for a call whose body is still to come: what is over its limit already is
 * refused at once. What it lets through is counted later, in the turn in which it goes upstream, and so is what it cannot
 * say the end of: tokens leave a minute bit by bit.
 */
import type { AgentStanding } from '../counters/counters.js';
import { LIMIT_TABLE, type Limits, UNLIMITED } from '../counters/limit-table.js';
import { limitRefusal } from './limit-refusal.js';
import type { Rejection } from './rejections.js';

/** Null: nothing is over its limit. `standing`: of one provider. */
export function firstLook(standing: AgentStanding, limits: Limits, nowMs: number): Rejection | null {
  const window = standing.windows[0];
  for (let row = 0; row < LIMIT_TABLE.length; row++) {
    const limit = limits[row]!;
    if (limit === UNLIMITED) continue;
    const { type, unit } = LIMIT_TABLE[row]!;
    const spend = standing.spends.find((one) => one.row === row);
    const isFull =
      unit === 'cents'
        ? spend !== undefined && spend.spentNanos >= limit
        : window !== undefined && window.remaining[row]! <= 0;
    if (!isFull) continue;
    const passesAtSec = unit === 'cents' ? 0 : (window?.resetAtSec[row] ?? null); // of money no moment is said
    if (passesAtSec === null) return null;
    const refused = {
      outcome: type,
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
  return null;
}

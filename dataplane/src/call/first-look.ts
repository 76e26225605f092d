/**
 * A look at the limits that consumes nothing, for a call whose body is still to come: what is over its limit already is
 * refused at once. What it lets through is counted later, in the turn in which it goes upstream.
 */
import type { AgentStanding } from '../counters/counters.js';
import { LIMIT_TABLE, type Limits } from '../counters/limit-table.js';
import { limitRefusal } from './limit-refusal.js';
import type { Rejection } from './rejections.js';

/** Null: nothing is over its limit. `standing`: of one provider. */
export function firstLook(standing: AgentStanding, limits: Limits, nowMs: number): Rejection | null {
  const window = standing.windows[0];
  const { spentNanos } = standing;
  for (let row = 0; row < LIMIT_TABLE.length; row++) {
    const { unit, scope } = LIMIT_TABLE[row]!;
    const isFull =
      unit === 'cents'
        ? spentNanos >= limits[row]!
        : scope === 'agent_provider' && window !== undefined && window.remaining[row]! <= 0;
    if (!isFull) continue;
    const passesAtSec = window?.resetAtSec[row] ?? Math.ceil(nowMs / 1000);
    const admission = { refusedBy: row, passesAtSec, spentNanos, rpmRemaining: 0, rpmResetAtSec: passesAtSec };
    return limitRefusal({ outcome: LIMIT_TABLE[row]!.type, ...admission }, limits, nowMs);
  }
  return null;
}

/**
 * Plans bursts of concurrent calls against an unused limit: one of each kind before the first fault, then one every 8
 * s, and one against a hard budget 400 ms before each fault that could lose counts, so that the fault strikes during
 * the burst.
 */
import type { PlannedFault } from './fault-plan.js';
import { QUIET_PERIOD_MS } from './fault-plan.js';

/** The limit that the burst runs into. */
export const BURST_KINDS = ['hard', 'rpm', 'soft', 'rpd', 'tpm'] as const;
export type BurstKind = (typeof BURST_KINDS)[number];

export interface PlannedBurst {
  /** Milliseconds after the start of the traffic. */
  readonly atMs: number;
  readonly kind: BurstKind;
}

const FIRST_BURST_MS = 500;
const UNDISTURBED_INTERVAL_MS = 1_200;
const BURST_INTERVAL_MS = 8_000;
const LEAD_BEFORE_FAULT_MS = 400;

export function planBursts(plan: readonly PlannedFault[], durationMs: number): PlannedBurst[] {
  const bursts: PlannedBurst[] = BURST_KINDS.map((kind, at) => ({
    atMs: FIRST_BURST_MS + at * UNDISTURBED_INTERVAL_MS,
    kind,
  }));
  for (
    let atMs = QUIET_PERIOD_MS, nextKindIndex = 0;
    atMs < durationMs - QUIET_PERIOD_MS;
    atMs += BURST_INTERVAL_MS, nextKindIndex++
  ) {
    bursts.push({ atMs, kind: BURST_KINDS[nextKindIndex % BURST_KINDS.length]! });
  }
  for (const { victim, atMs } of plan) {
    if (victim === 'redis' || victim.startsWith('data-'))
      bursts.push({ atMs: atMs - LEAD_BEFORE_FAULT_MS, kind: 'hard' });
  }
  return bursts.sort((a, b) => a.atMs - b.atMs);
}

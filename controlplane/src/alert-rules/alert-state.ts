/** Whether a measure meets an alert rule, and what follows for its alert (docs/contract.md#alert-rules). Pure. */
import { HOUR_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';

export const METRICS = ['error_rate', 'latency', 'spend'] as const;
export type Metric = (typeof METRICS)[number];

/** Without this many calls, an error rate or a latency is null: fewer than 20 calls are not significant. */
const CALLS_MIN = 20;
/** An alert resolves when its rule was not met for this long, so that it does not flap at the turn of each hour. */
export const RESOLVE_AFTER_MS = HOUR_MS;

/** Sums of calls in the hours of a rule. */
export interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly costNanos: bigint;
  /** 95th percentile; null without calls. */
  readonly latencyMs: number | null;
}

/** In percent, milliseconds or US cents; null: not enough calls. */
export function measure(metric: Metric, { requests, errors, costNanos, latencyMs }: Sums): number | null {
  if (metric === 'spend') return requests === 0 ? null : Number(costNanos) / NANOS_PER_CENT;
  if (requests < CALLS_MIN) return null;
  return metric === 'error_rate' ? (errors * 100) / requests : latencyMs;
}

interface Condition {
  readonly increasePercent: number;
  readonly atLeast: number;
}

/** Without a baseline, `atLeast` decides alone. */
export const isMet = (
  { increasePercent, atLeast }: Condition,
  value: number | null,
  baseline: number | null,
): value is number =>
  value !== null && value >= atLeast && (baseline === null || value >= baseline * (1 + increasePercent / 100));

export interface OpenAlert {
  readonly metAtMs: number;
  readonly notified: boolean;
  readonly acknowledged: boolean;
}

/**
 * `open`: a new alert. `keep`: it is still met. `resolve`: it was not met for {@link RESOLVE_AFTER_MS}. `notify`: the
 * change sends an event.
 */
interface AlertStep {
  readonly action: 'none' | 'open' | 'keep' | 'resolve';
  readonly notify: boolean;
}

export function nextStep(
  met: boolean,
  open: OpenAlert | null,
  { silenced, nowMs }: { readonly silenced: boolean; readonly nowMs: number },
): AlertStep {
  if (open === null) return met ? { action: 'open', notify: !silenced } : { action: 'none', notify: false };
  // An event that a silence held back is sent at its end, unless a person has seen the alert by then.
  if (met) return { action: 'keep', notify: !silenced && !open.notified && !open.acknowledged };
  if (nowMs - open.metAtMs < RESOLVE_AFTER_MS) return { action: 'none', notify: false };
  // Also during a silence: who was alerted learns of the end.
  return { action: 'resolve', notify: open.notified };
}

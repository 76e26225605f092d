/**
 * Usage figures of a group of calls. Groups by project, agent, provider, model and key have sums. Groups by status have
 * only the number of calls, groups by rejection reason only the number of rejected calls. Pure.
 */
import type { LatencySketch } from '../../ledger/latency-sketch.js';
import { presentSums, type UsageSums } from '../query/add-and-format-usage-sums.js';
import type { GroupFigures } from './schema.js';

/** Calls booked before statuses were counted. */
const UNKNOWN_STATUS = '';

const UNKNOWN_FIGURES: GroupFigures = {
  requests: null,
  errors: null,
  tokensIn: null,
  tokensOut: null,
  costCents: null,
  costUsd: null,
  avgLatency: null,
  rejectedRequests: null,
};

export const figuresOfSums = (sums: UsageSums): GroupFigures => ({ ...presentSums(sums), rejectedRequests: null });
export const figuresOfRejections = (rejectedRequests: number): GroupFigures => ({
  ...UNKNOWN_FIGURES,
  rejectedRequests,
});
export const figuresOfCallCount = (requests: number): GroupFigures => ({ ...UNKNOWN_FIGURES, requests });

/** Number of calls by status. Of `requests` calls in total, those without a counted status get the empty status. */
export function callCountsByStatus(sketch: LatencySketch, requests: number): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  let counted = 0;
  for (const [status, count] of sketch.statusCounts()) {
    calls.set(String(status), count);
    counted += count;
  }
  if (requests > counted) calls.set(UNKNOWN_STATUS, requests - counted);
  return calls;
}

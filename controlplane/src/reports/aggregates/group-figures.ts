/**
 * What is known of a group of calls. Sums are by project, agent, provider, model and key; of a status there is how many
 * calls had it, of a reason how many were refused for it. Pure.
 */
import type { LatencySketch } from '../../ledger/latency-sketch.js';
import { presentSums, type UsageSums } from '../query/usage-sums.js';
import type { GroupFigures } from './schema.js';

/** Calls from before statuses were counted. */
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

/** Calls by status, of `requests` calls in all. */
export function callCountsByStatus(sketch: LatencySketch, requests: number): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  let known = 0;
  for (const [status, count] of sketch.statusCounts()) {
    calls.set(String(status), count);
    known += count;
  }
  if (requests > known) calls.set(UNKNOWN_STATUS, requests - known);
  return calls;
}

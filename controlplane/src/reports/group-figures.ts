/**
 * What is known of a group of calls. Sums are by project, agent, provider, model and key; of a status there is how many
 * calls had it, of a reason how many were refused for it. Pure.
 */
import type { Sketch } from '../ledger/sketch.js';
import type { GroupFigures } from './schema.js';
import { type Sums, shown } from './sums.js';

/** Calls from before statuses were counted. */
const UNKNOWN_STATUS = '';

const NOT_KNOWN: GroupFigures = {
  requests: null,
  errors: null,
  tokensIn: null,
  tokensOut: null,
  costCents: null,
  costUsd: null,
  avgLatency: null,
  rejectedRequests: null,
};

export const ofSums = (sums: Sums): GroupFigures => ({ ...shown(sums), rejectedRequests: null });
export const ofRefusals = (rejectedRequests: number): GroupFigures => ({ ...NOT_KNOWN, rejectedRequests });
export const ofCalls = (requests: number): GroupFigures => ({ ...NOT_KNOWN, requests });

/** Calls by status, of `requests` calls in all. */
export function callsByStatus(sketch: Sketch, requests: number): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  let known = 0;
  for (const [status, count] of sketch.statuses()) {
    calls.set(String(status), count);
    known += count;
  }
  if (requests > known) calls.set(UNKNOWN_STATUS, requests - known);
  return calls;
}

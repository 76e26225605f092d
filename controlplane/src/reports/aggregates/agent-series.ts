/** What several agents did over time, in figures small enough to stand beside each of them. */
import type { Tx } from '../../db/sql.js';
import { usdFromNanos } from '../query/money-and-forecast.js';
import type { UsageScope } from '../query/rollup-selection.js';
import { sumByAgentAndBucket } from '../query/rollup-store.js';
import { bucketStarts, formatBucket, type Interval, type TimeRange } from '../query/time-range.js';
import type { AgentSeries } from './schema.js';

/** Of each agent; a month by the hour. */
const BUCKETS_MAX = 800;

interface AgentSeriesResult {
  /** Names of the buckets, oldest first. */
  readonly buckets: string[];
  /** Zeros for one without calls. */
  of(agentId: string): AgentSeries;
}

/** Throws `InvalidInput` where that would be too many points. */
export async function loadAgentSeries(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<AgentSeriesResult> {
  const starts = bucketStarts(range, interval, BUCKETS_MAX);
  const place = new Map(starts.map((ms, i) => [ms, i]));
  const nothing = (): AgentSeries => ({ requests: starts.map(() => 0), costUsd: starts.map(() => 0) });
  const all = new Map<string, AgentSeries>();
  for (const { agentId, bucket, requests, costNanos } of await sumByAgentAndBucket(tx, scope, range, interval)) {
    const at = place.get(bucket.getTime());
    if (at === undefined) continue;
    const own = all.get(agentId) ?? nothing();
    own.requests[at] = requests;
    own.costUsd[at] = usdFromNanos(costNanos);
    all.set(agentId, own);
  }
  return { buckets: starts.map(formatBucket), of: (agentId) => all.get(agentId) ?? nothing() };
}

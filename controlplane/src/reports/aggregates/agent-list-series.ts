/** Time series of several agents, compact enough to be returned with each agent of a list. */
import type { Tx } from '../../db/postgres-client.js';
import { usdFromNanos } from '../query/money-and-forecast.js';
import type { UsageScope } from '../query/rollup-selection.js';
import { sumByAgentAndBucket } from '../query/rollup-store.js';
import { bucketStarts, formatBucket, type Interval, type TimeRange } from '../query/time-range.js';
import type { AgentSeries } from './schema.js';

/** Per agent; covers a month by the hour. */
const BUCKETS_MAX = 800;

interface AgentSeriesResult {
  /** Formatted starts of the buckets, oldest first. */
  readonly buckets: string[];
  /** All zeros for an agent without calls. */
  of(agentId: string): AgentSeries;
}

/** Throws `InvalidInput` if the range has too many buckets. */
export async function loadAgentSeries(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<AgentSeriesResult> {
  const starts = bucketStarts(range, interval, BUCKETS_MAX);
  const indexByStart = new Map(starts.map((ms, i) => [ms, i]));
  const zeroSeries = (): AgentSeries => ({ requests: starts.map(() => 0), costUsd: starts.map(() => 0) });
  const seriesByAgent = new Map<string, AgentSeries>();
  for (const { agentId, bucket, requests, costNanos } of await sumByAgentAndBucket(tx, scope, range, interval)) {
    const index = indexByStart.get(bucket.getTime());
    if (index === undefined) continue;
    const series = seriesByAgent.get(agentId) ?? zeroSeries();
    series.requests[index] = requests;
    series.costUsd[index] = usdFromNanos(costNanos);
    seriesByAgent.set(agentId, series);
  }
  return { buckets: starts.map(formatBucket), of: (agentId) => seriesByAgent.get(agentId) ?? zeroSeries() };
}

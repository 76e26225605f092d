/** What several agents did over time, in figures small enough to stand beside each of them. */
import type { Tx } from '../db/sql.js';
import { usdOf } from './figures.js';
import { bucketName, bucketStarts, type Interval, type TimeRange } from './period.js';
import { sumAgentCells } from './report-store.js';
import type { Scope } from './rollup-source.js';
import type { AgentSeries } from './schema.js';

/** Of each agent; a month by the hour. */
const BUCKETS_MAX = 800;

interface SeriesOfAgents {
  /** Names of the buckets, oldest first. */
  readonly buckets: string[];
  /** Zeros for one without calls. */
  of(agentId: string): AgentSeries;
}

/** Throws `InvalidInput` where that would be too many points. */
export async function seriesOfAgents(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
): Promise<SeriesOfAgents> {
  const starts = bucketStarts(range, interval, BUCKETS_MAX);
  const place = new Map(starts.map((ms, i) => [ms, i]));
  const nothing = (): AgentSeries => ({ requests: starts.map(() => 0), costUsd: starts.map(() => 0) });
  const all = new Map<string, AgentSeries>();
  for (const { agentId, bucket, requests, costNanos } of await sumAgentCells(tx, scope, range, interval)) {
    const at = place.get(bucket.getTime());
    if (at === undefined) continue;
    const own = all.get(agentId) ?? nothing();
    own.requests[at] = requests;
    own.costUsd[at] = usdOf(costNanos);
    all.set(agentId, own);
  }
  return { buckets: starts.map(bucketName), of: (agentId) => all.get(agentId) ?? nothing() };
}

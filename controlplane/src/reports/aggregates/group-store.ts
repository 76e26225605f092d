/** SQL of usage by group over time. Reads rollups only. */
import type { Tx } from '../../db/postgres-client.js';
import type { UsageSums } from '../query/add-and-format-usage-sums.js';
import {
  type Dimension,
  isTagDimension,
  rollupsByBucket,
  scopeCondition,
  type UsageScope,
} from '../query/rollup-selection.js';
import {
  nameExpression,
  parseExactSums,
  projectCondition,
  type RawSums,
  SKETCHES_EXPRESSION,
  SUM_EXPRESSIONS,
} from '../query/rollup-store.js';
import type { Interval, TimeRange } from '../query/time-range.js';

interface GroupBucketSums extends UsageSums {
  readonly bucket: Date;
  /** Null: all groups except the most expensive ones, together. */
  readonly value: string | null;
  readonly name: string | null;
}

/**
 * Sums per bucket: one row for each of the `groupsMax` most expensive values of the dimension, and one for all others
 * together.
 */
export async function sumByGroupAndBucket(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
  dimension: Dimension,
  groupsMax: number,
): Promise<readonly GroupBucketSums[]> {
  // Sums by tag are read twice: keeping 45 000 of them exceeds work_mem, which costs more than the second reading. They
  // begin at the start of a day, which is their bucket.
  const isByTag = isTagDimension(dimension);
  const bucket = isByTag ? tx`hour` : tx`date_trunc(${interval}, hour)`;
  const rows = await tx<RawSums<GroupBucketSums>[]>`
    with cells as ${isByTag ? tx`not materialized` : tx`materialized`} ( -- not summed here: summing by bucket and value before the groups costs twice as much
      select hour, value, requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum
        from ${rollupsByBucket(tx, scope, range, interval, dimension)} r),
    dearest as materialized (
      select s.value, ${nameExpression(tx, scope, dimension)} as name
        from (select value from cells group by value
               order by sum(cost_nanos) desc, sum(requests) desc, value limit ${groupsMax}) s),
    groups as (
      select ${bucket} as bucket, d.value, ${tx.unsafe(SUM_EXPRESSIONS)}
        from cells left join dearest d using (value) group by bucket, d.value)
    select g.*, d.name from groups g left join dearest d using (value)`;
  return parseExactSums(rows);
}

interface BucketSketch {
  readonly bucket: Date;
  readonly requests: number;
  /** {@link SKETCHES_EXPRESSION}. */
  readonly sketches: string;
}

export function loadSketchesByBucket(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly BucketSketch[]> {
  return tx<BucketSketch[]>`
    select date_trunc(${interval}, hour) as bucket, sum(requests)::bigint as requests, ${tx.unsafe(SKETCHES_EXPRESSION)} as sketches
      from ${rollupsByBucket(tx, scope, range, interval, 'provider')} r group by 1`;
}

interface RejectionReasonCount {
  readonly bucket: Date;
  readonly reason: string;
  readonly count: number;
}

/** Rejected calls per bucket and reason. */
export function countRejectionsByBucket(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly RejectionReasonCount[]> {
  return tx<RejectionReasonCount[]>`
    select date_trunc(${interval}, hour) as bucket, reason, sum(count)::bigint as count from rejections_hourly
     where ${scopeCondition(tx, { ...scope, projectId: null })} ${projectCondition(tx, scope)}
       and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
     group by 1, 2`;
}

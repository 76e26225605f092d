/** SQL of usage by groups over time. Reads rollups only. */
import type { Tx } from '../db/sql.js';
import type { Interval, TimeRange } from './period.js';
import { exact, nameOf, ofProject, type Raw, SKETCHES, SUMS } from './report-store.js';
import { type Dimension, rollupsOfBuckets, type Scope, whose } from './rollup-source.js';
import type { Sums } from './sums.js';

interface CellSums extends Sums {
  readonly bucket: Date;
  /** Null: all but the dearest ones. */
  readonly value: string | null;
  readonly name: string | null;
}

/** Sums of each bucket by the dearest values of the dimension, at most `groupsMax`, and of all others together. */
export async function sumCells(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
  dimension: Dimension,
  groupsMax: number,
): Promise<readonly CellSums[]> {
  const rows = await tx<Raw<CellSums>[]>`
    with cells as materialized ( -- as they are: a sum by bucket and value before that of the groups costs twice as much
      select hour, value, requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum
        from ${rollupsOfBuckets(tx, scope, range, interval, dimension)} r),
    dearest as materialized (
      select s.value, ${nameOf(tx, scope, dimension)} as name
        from (select value from cells group by value
               order by sum(cost_nanos) desc, sum(requests) desc, value limit ${groupsMax}) s),
    groups as (
      select date_trunc(${interval}, hour) as bucket, d.value, ${tx.unsafe(SUMS)}
        from cells left join dearest d using (value) group by bucket, d.value)
    select g.*, d.name from groups g left join dearest d using (value)`;
  return exact(rows);
}

interface BucketSketch {
  readonly bucket: Date;
  readonly requests: number;
  /** {@link SKETCHES}. */
  readonly sketches: string;
}

export function sketchesByBucket(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly BucketSketch[]> {
  return tx<BucketSketch[]>`
    select date_trunc(${interval}, hour) as bucket, sum(requests)::bigint as requests, ${tx.unsafe(SKETCHES)} as sketches
      from ${rollupsOfBuckets(tx, scope, range, interval, 'provider')} r group by 1`;
}

interface ReasonCell {
  readonly bucket: Date;
  readonly reason: string;
  readonly count: number;
}

/** Refused calls. */
export function reasonsByBucket(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly ReasonCell[]> {
  return tx<ReasonCell[]>`
    select date_trunc(${interval}, hour) as bucket, reason, sum(count)::bigint as count from rejections_hourly
     where ${whose(tx, { ...scope, projectId: null })} ${ofProject(tx, scope)}
       and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
     group by 1, 2`;
}

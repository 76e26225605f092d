/** Time series of usage by group: one series for each of the largest groups, and one for all others together. */
import type { Tx } from '../../db/postgres-client.js';
import { LatencySketch } from '../../ledger/latency-sketch.js';
import { addSums, type UsageSums, ZERO_SUMS } from '../query/add-and-format-usage-sums.js';
import type { UsageScope } from '../query/rollup-selection.js';
import { bucketStarts, formatBucket, type Interval, type TimeRange } from '../query/time-range.js';
import { callCountsByStatus, figuresOfCallCount, figuresOfRejections, figuresOfSums } from './group-figures.js';
import { countRejectionsByBucket, loadSketchesByBucket, sumByGroupAndBucket } from './group-store.js';
import type { GroupBy, GroupFigures, SeriesGroup } from './schema.js';

/** More lines cannot be distinguished in a chart. */
export const GROUPS_MAX = 10;

export async function loadGroupSeries(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
  groupBy: GroupBy,
): Promise<SeriesGroup[]> {
  const starts = bucketStarts(range, interval).map((ms) => ({ ms, bucket: formatBucket(ms) }));
  if (groupBy === 'reason') {
    const rows = await countRejectionsByBucket(tx, scope, range, interval);
    const cells = rows.map(({ bucket, reason, count }) => ({ ms: bucket.getTime(), value: reason, count }));
    return countedGroups(cells, starts, figuresOfRejections);
  }
  if (groupBy === 'status') {
    const rows = await loadSketchesByBucket(tx, scope, range, interval);
    const cells = rows.flatMap(({ bucket, requests, sketches }) =>
      [...callCountsByStatus(LatencySketch.fromBase64(sketches), requests)].map(([value, count]) => ({
        ms: bucket.getTime(),
        value,
        count,
      })),
    );
    return countedGroups(cells, starts, figuresOfCallCount);
  }
  const groups = new Map<string | null, SumGroup>();
  for (const { bucket, value, name, ...sums } of await sumByGroupAndBucket(
    tx,
    scope,
    range,
    interval,
    groupBy,
    GROUPS_MAX,
  )) {
    const group = groups.get(value) ?? { value, name, total: ZERO_SUMS, points: new Map() };
    group.total = addSums(group.total, sums);
    group.points.set(bucket.getTime(), sums);
    groups.set(value, group);
  }
  return [...groups.values()].sort(byCostDescending).map(({ value, name, points }) => ({
    value,
    name,
    timeseries: presentSeries(starts, points, figuresOfSums, ZERO_SUMS),
  }));
}

/** Start of a bucket, with the name that all groups share. */
interface BucketStart {
  readonly ms: number;
  readonly bucket: string;
}

interface SumGroup {
  readonly value: string | null;
  readonly name: string | null;
  total: UsageSums;
  readonly points: Map<number, UsageSums>;
}

/** Sorts the group of all others last. */
function byCostDescending(a: SumGroup, b: SumGroup): number {
  if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
  if (a.total.costNanos !== b.total.costNanos) return a.total.costNanos > b.total.costNanos ? -1 : 1;
  return b.total.requests - a.total.requests || (a.value < b.value ? -1 : 1);
}

interface CountCell {
  readonly ms: number;
  readonly value: string;
  readonly count: number;
}

/** Series of groups that only have a count, the largest first. */
function countedGroups(
  cells: readonly CountCell[],
  starts: readonly BucketStart[],
  toFigures: (count: number) => GroupFigures,
): SeriesGroup[] {
  const totals = new Map<string, number>();
  for (const { value, count } of cells) totals.set(value, (totals.get(value) ?? 0) + count);
  const largest = sortByCountDescending(totals)
    .slice(0, GROUPS_MAX)
    .map(([value]) => value);
  const points = new Map<string | null, Map<number, number>>(largest.map((value) => [value, new Map()]));
  for (const { ms, value, count } of cells) {
    const group = points.has(value) ? value : null;
    const counts = points.get(group) ?? new Map<number, number>();
    counts.set(ms, (counts.get(ms) ?? 0) + count);
    points.set(group, counts);
  }
  return [...points].map(([value, counts]) => ({
    value,
    name: null,
    timeseries: presentSeries(starts, counts, toFigures, 0),
  }));
}

export const sortByCountDescending = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));

const presentSeries = <T>(
  starts: readonly BucketStart[],
  points: ReadonlyMap<number, T>,
  toFigures: (value: T) => GroupFigures,
  zero: T,
) => starts.map(({ ms, bucket }) => ({ bucket, ...toFigures(points.get(ms) ?? zero) }));

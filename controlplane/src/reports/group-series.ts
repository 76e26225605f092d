/** Usage over time, by groups: the largest ones each, all others together. */
import type { Tx } from '../db/sql.js';
import { Sketch } from '../ledger/sketch.js';
import { callsByStatus, ofCalls, ofRefusals, ofSums } from './group-figures.js';
import { reasonsByBucket, sketchesByBucket, sumCells } from './group-store.js';
import { bucketName, bucketStarts, type Interval, type TimeRange } from './period.js';
import type { Scope } from './rollup-source.js';
import type { GroupBy, GroupFigures, SeriesGroup } from './schema.js';
import { added, NOTHING, type Sums } from './sums.js';

/** More lines than people can tell apart in a chart help nobody. */
export const GROUPS_MAX = 10;

export async function groupSeries(
  tx: Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
  groupBy: GroupBy,
): Promise<SeriesGroup[]> {
  const starts = bucketStarts(range, interval).map((ms) => ({ ms, bucket: bucketName(ms) }));
  if (groupBy === 'reason') {
    const rows = await reasonsByBucket(tx, scope, range, interval);
    const cells = rows.map(({ bucket, reason, count }) => ({ ms: bucket.getTime(), value: reason, count }));
    return counted(cells, starts, ofRefusals);
  }
  if (groupBy === 'status') {
    const rows = await sketchesByBucket(tx, scope, range, interval);
    const cells = rows.flatMap(({ bucket, requests, sketches }) =>
      [...callsByStatus(Sketch.fromBase64(sketches), requests)].map(([value, count]) => ({
        ms: bucket.getTime(),
        value,
        count,
      })),
    );
    return counted(cells, starts, ofCalls);
  }
  const groups = new Map<string | null, SumGroup>();
  for (const { bucket, value, name, ...sums } of await sumCells(tx, scope, range, interval, groupBy, GROUPS_MAX)) {
    const group = groups.get(value) ?? { value, name, total: NOTHING, points: new Map() };
    group.total = added(group.total, sums);
    group.points.set(bucket.getTime(), sums);
    groups.set(value, group);
  }
  return [...groups.values()].sort(dearestFirst).map(({ value, name, points }) => ({
    value,
    name,
    timeseries: series(starts, points, ofSums, NOTHING),
  }));
}

/** Of a bucket, with its name: every group has it. */
interface Start {
  readonly ms: number;
  readonly bucket: string;
}

interface SumGroup {
  readonly value: string | null;
  readonly name: string | null;
  total: Sums;
  readonly points: Map<number, Sums>;
}

/** All others last. */
function dearestFirst(a: SumGroup, b: SumGroup): number {
  if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
  if (a.total.costNanos !== b.total.costNanos) return a.total.costNanos > b.total.costNanos ? -1 : 1;
  return b.total.requests - a.total.requests || (a.value < b.value ? -1 : 1);
}

interface CountCell {
  readonly ms: number;
  readonly value: string;
  readonly count: number;
}

/** Most first. */
function counted(
  cells: readonly CountCell[],
  starts: readonly Start[],
  show: (count: number) => GroupFigures,
): SeriesGroup[] {
  const totals = new Map<string, number>();
  for (const { value, count } of cells) totals.set(value, (totals.get(value) ?? 0) + count);
  const largest = mostFirst(totals)
    .slice(0, GROUPS_MAX)
    .map(([value]) => value);
  const points = new Map<string | null, Map<number, number>>(largest.map((value) => [value, new Map()]));
  for (const { ms, value, count } of cells) {
    const group = points.has(value) ? value : null;
    const own = points.get(group) ?? new Map<number, number>();
    own.set(ms, (own.get(ms) ?? 0) + count);
    points.set(group, own);
  }
  return [...points].map(([value, own]) => ({ value, name: null, timeseries: series(starts, own, show, 0) }));
}

export const mostFirst = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));

const series = <T>(
  starts: readonly Start[],
  points: ReadonlyMap<number, T>,
  show: (value: T) => GroupFigures,
  zero: T,
) => starts.map(({ ms, bucket }) => ({ bucket, ...show(points.get(ms) ?? zero) }));

/** Converts the groups of a report over time to chart series. */
import { stableColors } from './chart-props-and-colors.js';

interface Group<Point> {
  /** Null: all other groups together. */
  readonly value: string | null;
  readonly name: string | null;
  readonly timeseries: readonly Point[];
}

interface Series {
  readonly label: string;
  readonly values: readonly number[];
  readonly color: string;
}

/** `figure` returns null where the value is unknown, e.g. the cost of calls by status. */
export function groupsToSeries<Point>(
  groups: readonly Group<Point>[],
  labelOf: (value: string, name: string | null) => string,
  figure: (point: Point) => number | null,
): readonly Series[] {
  const labels = new Set<string>();
  const colors = stableColors(groups.map(({ value }) => value));
  return groups.map(({ value, name, timeseries }, i) => {
    let label = value === null ? 'all others' : labelOf(value, name);
    // Two agents may have the same name.
    if (labels.has(label)) label = `${label} (${(value ?? '').slice(-4)})`;
    labels.add(label);
    return { label, values: timeseries.map((point) => figure(point) ?? 0), color: colors[i]! };
  });
}

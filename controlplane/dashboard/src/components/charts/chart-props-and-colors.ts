/** Data and colours of a chart. */

interface ChartSeries {
  readonly label: string;
  /** One value per bucket. */
  readonly values: readonly number[];
  /** Fixed colour for series with a meaning of their own, e.g. failures. */
  readonly color?: string;
}

/** A bound or a projection: a dashed line over the bars, not part of their stack. */
interface ChartLine {
  readonly label: string;
  /** One value per bucket; null: no line there. */
  readonly values: readonly (number | null)[];
  readonly color: string;
}

export interface ChartProps {
  readonly title: string;
  /** The data belongs to a previously selected period. */
  readonly stale?: boolean;
  /** Starts of the buckets as reports write them, oldest first. */
  readonly buckets: readonly string[];
  readonly interval: 'hour' | 'day';
  /** Several series are stacked (bars) or drawn side by side (lines). */
  readonly series: readonly ChartSeries[];
  readonly lines?: readonly ChartLine[];
  readonly format: (value: number) => string;
  /** Formats the labels of the value axis, which are `step` apart; default: `format`. */
  readonly axis?: (value: number, step: number) => string;
  /** Bars for sums, a line for levels, e.g. a latency. */
  readonly kind?: 'bars' | 'line';
  /** Pixels. */
  readonly height?: number;
  /** A click on the bars of a bucket. */
  readonly onBucket?: (bucket: string, interval: 'hour' | 'day') => void;
  /** A drag over buckets, both included; without it the chart itself shows only these. */
  readonly onRange?: (first: string, last: string, interval: 'hour' | 'day') => void;
  /** What the figures leave out. */
  readonly note?: string;
}

export const FAILED_COLOR = '#e03131';
export const PROJECTION_COLOR = '#7950f2';

/**
 * Distinguishable in both themes, the first ones also with red-green blindness. One colour per group of a report; the
 * last is for all others.
 */
const CHART_COLORS = [
  '#4c6ef5',
  '#12b886',
  '#f59f00',
  '#e64980',
  '#15aabf',
  '#7950f2',
  '#82c91e',
  '#e8590c',
  '#0b7285',
  '#a61e4d',
  '#868e96',
];

/** Colour of the series at `index`. */
export const colorOf = (series: readonly ChartSeries[], index: number): string =>
  series[index]?.color ?? CHART_COLORS[index % CHART_COLORS.length]!;

const OTHERS_COLOR = CHART_COLORS.at(-1)!;
const HASH_FACTOR = 31;

/**
 * One colour for each value, chosen by its hash, so that an agent keeps its colour under other filters and periods. Where
 * two hashes meet, the later value in alphabetical order takes the next free colour. Null: all others, grey.
 */
export function stableColors(values: readonly (string | null)[]): readonly string[] {
  const palette = CHART_COLORS.slice(0, -1);
  const chosen = new Map<string | null, string>([[null, OTHERS_COLOR]]);
  for (const value of values.filter((one) => one !== null).toSorted()) {
    let at = hashOf(value) % palette.length;
    if (chosen.size <= palette.length)
      while ([...chosen.values()].includes(palette[at]!)) at = (at + 1) % palette.length;
    chosen.set(value, palette[at]!);
  }
  return values.map((value) => chosen.get(value)!);
}

const hashOf = (text: string): number => {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, HASH_FACTOR) + text.charCodeAt(i)) >>> 0;
  return hash;
};

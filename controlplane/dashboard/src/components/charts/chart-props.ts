/** What a chart shows, and in which colours. */

interface ChartSeries {
  readonly label: string;
  /** One for each bucket. */
  readonly values: readonly number[];
  /** Its meaning has a colour of its own, e.g. what failed. */
  readonly color?: string;
}

export interface ChartProps {
  readonly title: string;
  /** It is not of the time that is chosen now. */
  readonly stale?: boolean;
  /** Starts of the buckets as reports write them, oldest first. */
  readonly buckets: readonly string[];
  readonly interval: 'hour' | 'day';
  /** With several, they are stacked upon each other. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Of the labels at the axis, `step` apart; absent: `format`. */
  readonly axis?: (value: number, step: number) => string;
  /** Bars for sums, a line for levels, e.g. a latency. */
  readonly kind?: 'bars' | 'line';
}

export const FAILED_COLOR = '#e03131';

/** Told apart in both themes, the first by those who see no red or green; as many as a report has groups, all others last. */
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

/** Of the series at that place. */
export const colorOf = (series: readonly ChartSeries[], index: number): string =>
  series[index]?.color ?? CHART_COLORS[index % CHART_COLORS.length]!;

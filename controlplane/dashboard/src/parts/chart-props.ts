/** What a chart shows, and in which colours. */

interface ChartSeries {
  readonly label: string;
  /** One for each bucket. */
  readonly values: readonly number[];
}

export interface ChartProps {
  readonly title: string;
  /** Starts of the buckets, ISO, oldest first. */
  readonly buckets: readonly string[];
  readonly interval: 'hour' | 'day';
  /** With several, they are stacked upon each other. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Bars for sums, a line for levels, e.g. a latency. */
  readonly kind?: 'bars' | 'line';
}

/** Told apart in both themes, and by those who see no red or green. */
export const CHART_COLORS = ['#4c6ef5', '#12b886', '#f59f00', '#e64980', '#15aabf', '#868e96'];

/** What a chart draws after its user hid series and zoomed into some buckets. */
import { type ChartProps, colorOf } from './chart-props-and-colors.js';

/** Buckets, both included. */
export interface Zoom {
  readonly first: string;
  readonly last: string;
}

type Drawn = Required<Pick<ChartProps, 'buckets' | 'series' | 'lines'>>;

export const NONE_HIDDEN: ReadonlySet<string> = new Set();

/** A zoom to buckets that the data no longer has shows all of it. Series keep their colours. */
export function selectShown(
  { buckets, series, lines }: Drawn,
  hidden: ReadonlySet<string>,
  zoom: Zoom | null,
): Drawn & { readonly isZoomed: boolean } {
  const [first, last] = zoom === null ? [-1, -1] : [buckets.indexOf(zoom.first), buckets.indexOf(zoom.last)];
  const isZoomed = first >= 0 && last >= first;
  const cut = <T>(values: readonly T[]): readonly T[] => (isZoomed ? values.slice(first, last + 1) : values);
  return {
    isZoomed,
    buckets: cut(buckets),
    series: series
      .map((one, i) => ({ ...one, color: colorOf(series, i), values: cut(one.values) }))
      .filter(({ label }) => !hidden.has(label)),
    lines: lines.map((line) => ({ ...line, values: cut(line.values) })),
  };
}

/** Hides or shows a series. Without the last visible one, all are shown again. */
export function toggleSeries(
  series: ChartProps['series'],
  hidden: ReadonlySet<string>,
  label: string,
): ReadonlySet<string> {
  const next = new Set(hidden);
  if (!next.delete(label)) next.add(label);
  return series.every((one) => next.has(one.label)) ? NONE_HIDDEN : next;
}

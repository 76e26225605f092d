/** A small line chart beside a figure. Its label describes it in words. */

const WIDTH = 72;
const HEIGHT = 20;
/** Keeps the line's stroke from being cut at its turns. */
const PADDING = 1.5;

interface SparklineProps {
  /** Oldest first. */
  readonly values: readonly number[];
  readonly label: string;
}

export function Sparkline({ values, label }: SparklineProps) {
  const maxValue = Math.max(...values, 0);
  const x = (i: number): number => PADDING + (i / Math.max(values.length - 1, 1)) * (WIDTH - 2 * PADDING);
  const y = (value: number): number =>
    HEIGHT - PADDING - (maxValue === 0 ? 0 : value / maxValue) * (HEIGHT - 2 * PADDING);
  const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <svg
      className="acg-sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      {maxValue > 0 && <polygon points={`${PADDING},${HEIGHT} ${points} ${WIDTH - PADDING},${HEIGHT}`} />}
      <polyline points={points} data-flat={maxValue === 0} />
    </svg>
  );
}

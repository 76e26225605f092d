/** A line as high as a word: how something went, beside its figure. Its label says in words what it shows. */

const WIDTH = 72;
const HEIGHT = 20;
/** So that the line is not cut at its turns. */
const EDGE = 1.5;

interface SparklineProps {
  /** Oldest first. */
  readonly values: readonly number[];
  readonly label: string;
}

export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(...values, 0);
  const x = (i: number): number => EDGE + (i / Math.max(values.length - 1, 1)) * (WIDTH - 2 * EDGE);
  const y = (value: number): number => HEIGHT - EDGE - (most === 0 ? 0 : value / most) * (HEIGHT - 2 * EDGE);
  const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return (
    <svg
      className="acg-spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      {most > 0 && <polygon points={`${EDGE},${HEIGHT} ${points} ${WIDTH - EDGE},${HEIGHT}`} />}
      <polyline points={points} data-flat={most === 0} />
    </svg>
  );
}

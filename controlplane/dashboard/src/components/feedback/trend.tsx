/** The change of a figure against the previous period: grey, except a rise that deserves a look. */
import { Text } from '@mantine/core';
import { formatPercent } from '../../format/format.js';

interface TrendProps {
  readonly now: number;
  /** Undefined: not known, shows nothing. */
  readonly before: number | undefined;
  /** E.g. `previous 7 days`. */
  readonly against: string;
}

/** Percent; a larger rise of spend or errors is a deviation. */
const DEVIATION_PERCENT = 50;
const PERCENT_MAX = 999;

export function Trend({ now, before, against }: TrendProps) {
  if (before === undefined) return null;
  const percent = before === 0 ? null : ((now - before) / before) * 100;
  const isDeviation = percent !== null && percent >= DEVIATION_PERCENT;
  return (
    <Text
      size="xs"
      c={isDeviation ? 'var(--acg-warning)' : 'dimmed'}
      className="acg-tabular-numbers"
      title={`Against the ${against}`}
    >
      {describeTrend(now, before, percent)}
    </Text>
  );
}

function describeTrend(now: number, before: number, percent: number | null): string {
  if (percent === null) return now === before ? 'no change' : 'none before';
  const size = Math.abs(percent);
  if (size < 0.05) return 'no change';
  const arrow = percent > 0 ? '↑' : '↓';
  return size > PERCENT_MAX ? `${arrow} over ${formatPercent(PERCENT_MAX)}` : `${arrow} ${formatPercent(size)}`;
}

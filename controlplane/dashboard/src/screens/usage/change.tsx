/** A figure against the previous period, in dollars and percent. */
import { formatPercent, formatUsd, NO_VALUE } from '../../format/format.js';

interface ChangeProps {
  /** US dollars. */
  readonly now: number | null;
  readonly before: number | undefined;
}

export function Change({ now, before }: ChangeProps) {
  if (now === null || before === undefined) return NO_VALUE;
  const difference = now - before;
  if (difference === 0) return 'none';
  const sign = difference > 0 ? '+' : '−';
  const percent = before === 0 ? 'new' : `${sign}${formatPercent(Math.abs(difference / before) * 100)}`;
  return (
    <span title={`Previous period: ${formatUsd(before)}`}>
      {sign}
      {formatUsd(Math.abs(difference))} ({percent})
    </span>
  );
}

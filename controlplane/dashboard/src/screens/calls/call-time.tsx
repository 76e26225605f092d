/** The time of a call in the chosen zone, with the day unless it is today. */
import { formatDate, formatExactTime, formatTime } from '../../format/format.js';

export function CallTime({ at }: { readonly at: string }) {
  const today = formatDate(at) === formatDate(new Date().toISOString());
  return (
    <time dateTime={at} title={formatExactTime(at)} className="acg-tabular-numbers">
      {!today && <span className="acg-nowrap">{formatDate(at)},</span>}{' '}
      <span className="acg-nowrap">{formatTime(at)}</span>
    </time>
  );
}

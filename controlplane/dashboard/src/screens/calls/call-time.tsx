/** The local time of a call, with the day unless it is today. */
import { formatDate, formatExactTime, formatTime } from '../../format/format.js';

export function CallTime({ at }: { readonly at: string }) {
  const today = new Date(at).toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={formatExactTime(at)} className="acg-tabular-numbers">
      {!today && <span className="acg-nowrap">{formatDate(at)},</span>}{' '}
      <span className="acg-nowrap">{formatTime(at)}</span>
    </time>
  );
}

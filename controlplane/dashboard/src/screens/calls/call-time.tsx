/** The time of a call in the chosen zone, with the day unless it is today. */
import { formatDate, formatExactTime, formatShortDate, formatTime } from '../../format/format.js';

export function CallTime({ at }: { readonly at: string }) {
  const today = formatDate(at) === formatDate(new Date().toISOString());
  return (
    <time dateTime={at} title={formatExactTime(at)} className="acg-tabular-numbers acg-nowrap">
      {!today && `${formatShortDate(at)}, `}
      {formatTime(at)}
    </time>
  );
}

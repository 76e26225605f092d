/** The time of a call in the chosen zone, with the day unless it is today. */
import { formatExactTime, formatShortDate, formatTime, isToday } from '../../format/format.js';

export function CallTime({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)} className="acg-tabular-numbers acg-nowrap">
      {!isToday(at) && `${formatShortDate(at)}, `}
      {formatTime(at)}
    </time>
  );
}

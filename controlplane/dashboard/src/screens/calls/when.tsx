/** The local time of a call: with the day where that is not today. */
import { date, exactTime, time } from '../../format/format.js';

export function When({ at }: { readonly at: string }) {
  const today = new Date(at).toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={exactTime(at)} className="acg-numbers">
      {!today && <span className="acg-whole">{date(at)},</span>} <span className="acg-whole">{time(at)}</span>
    </time>
  );
}

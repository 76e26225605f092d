import { DAY_MS } from '@acg/base/time-and-money-units';
import type { parseTimeRange } from '../forms/time-range-control.js';

/** Hours for at most two days; a bar of an hour in a week would be a few pixels wide. Pure. */
export function barInterval(range: ReturnType<typeof parseTimeRange>): 'hour' | 'day' {
  if ('period' in range) return range.period === '24h' ? 'hour' : 'day';
  const end = range.end === undefined ? Date.now() : Date.parse(range.end);
  return end - Date.parse(range.start) <= DAY_MS ? 'hour' : 'day';
}

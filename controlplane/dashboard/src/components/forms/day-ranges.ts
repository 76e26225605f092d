/** Ranges of UTC days, both included, as `YYYY-MM-DD`. Pure. */
import { DAY_MS } from '@acg/base/time-and-money-units';

export interface DayRange {
  readonly start: string;
  readonly end: string;
}

const DAY_CHARS = 10;
const day = (ms: number): string => new Date(ms).toISOString().slice(0, DAY_CHARS);

const monthStart = (nowMs: number, monthsBack: number): number => {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsBack, 1);
};

export const thisMonth = (nowMs: number): DayRange => ({ start: day(monthStart(nowMs, 0)), end: day(nowMs) });
/** `monthsBack` 1: the last complete month. */
export const monthBefore = (nowMs: number, monthsBack = 1): DayRange => ({
  start: day(monthStart(nowMs, monthsBack)),
  end: day(monthStart(nowMs, monthsBack - 1) - DAY_MS),
});
export const yesterday = (nowMs: number): DayRange => ({ start: day(nowMs - DAY_MS), end: day(nowMs - DAY_MS) });
const lastDays = (nowMs: number, days: number): DayRange => ({
  start: day(nowMs - (days - 1) * DAY_MS),
  end: day(nowMs),
});

export const dayRangePresets = (nowMs: number): readonly { readonly label: string; readonly range: DayRange }[] => [
  { label: 'Today', range: lastDays(nowMs, 1) },
  { label: 'Yesterday', range: yesterday(nowMs) },
  { label: 'This month', range: thisMonth(nowMs) },
  { label: 'Last month', range: monthBefore(nowMs) },
  { label: 'Month before last', range: monthBefore(nowMs, 2) },
  { label: 'Last 14 days', range: lastDays(nowMs, 14) },
  { label: 'Last 60 days', range: lastDays(nowMs, 60) },
];

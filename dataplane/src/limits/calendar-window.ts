/**
 * Windows of budgets, in UTC. An instant belongs to exactly one window of each calendar unit. A call belongs to the
 * windows of its admission by the store's clock, also when it ends in a later window (docs/contract.md#limits).
 */
import { isoWeekOf, utcDayOf } from '@acg/base/budget-rows';
import { DAY_MS } from '@acg/base/time-and-money-units';

const MS_PER_SECOND = 1000;
const DAY_SEC = DAY_MS / MS_PER_SECOND;

type CalendarUnit = 'day' | 'week' | 'month';

export interface BudgetWindow {
  /** Unix seconds of the first moment. */
  readonly startSec: number;
  /** Unix seconds of the first moment after the window. */
  readonly endSec: number;
  /** `2026-11-28` for a day, `2026-W48` for a week (ISO 8601), `2026-11` for a month; unique over all units. */
  readonly name: string;
  /** Unix seconds from which counters forget the spend: no call that was admitted in the window runs then. */
  readonly keptUntilSec: number;
}

/** Calls that were admitted in a day or a week still add their cost after its end. */
const SHORT_WINDOW_KEPT_SEC = 8 * DAY_SEC;
/** Budgets without a window count a month through the whole next one. */
const MONTH_KEPT_SEC = 40 * DAY_SEC;

const CREATE_WINDOW: Readonly<Record<CalendarUnit, (unixSec: number) => BudgetWindow>> = {
  day: (unixSec) => dayWindow(Math.floor(unixSec / DAY_SEC)),
  week: (unixSec) => weekWindow(Math.floor(unixSec / DAY_SEC)),
  month: (unixSec) => {
    const date = new Date(unixSec * MS_PER_SECOND);
    return monthWindow(date.getUTCFullYear(), date.getUTCMonth());
  },
};

/** The window used last, because nearly all callers need the current one. */
const lastWindow: Record<CalendarUnit, BudgetWindow> = {
  day: CREATE_WINDOW.day(0),
  week: CREATE_WINDOW.week(0),
  month: CREATE_WINDOW.month(0),
};

export function calendarWindowAt(unit: CalendarUnit, unixSec: number): BudgetWindow {
  const last = lastWindow[unit];
  if (unixSec >= last.startSec && unixSec < last.endSec) return last;
  const window = CREATE_WINDOW[unit](unixSec);
  lastWindow[unit] = window;
  return window;
}

/** Name of the only window of a run. */
export const RUN_WINDOW_NAME = 'total';
/** Calls of a run end with it; this is for those that report their cost late. */
export const RUN_KEPT_AFTER_END_SEC = 600;

/** The only window of a run. `keptUntilSec`: Unix seconds from which no call of the run counts any more. */
export const createRunWindow = (keptUntilSec: number): BudgetWindow => ({
  startSec: 0,
  endSec: Number.POSITIVE_INFINITY,
  name: RUN_WINDOW_NAME,
  keptUntilSec,
});

/** Parses `YYYY-MM`; returns null for any other text. */
export function parseMonth(text: string): BudgetWindow | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  return month === undefined ? null : monthWindow(Number(year), Number(month) - 1);
}

const texts = { day: /^\d{4}-\d\d-\d\d$/, week: /^(\d{4})-W(\d\d)$/ };

/** Parses the name of a calendar window; returns null for any other text. */
export function parseCalendarWindow(text: string): BudgetWindow | null {
  let startMs = Number.NaN;
  const [, year, week] = texts.week.exec(text) ?? [];
  // 4 January is always in week 1.
  if (week !== undefined) startMs = Date.UTC(Number(year), 0, 4 + (Number(week) - 1) * 7);
  else if (texts.day.test(text)) startMs = Date.parse(`${text}T00:00:00Z`);
  else return parseMonth(text);
  if (Number.isNaN(startMs)) return null;
  const window = CREATE_WINDOW[week === undefined ? 'day' : 'week'](startMs / MS_PER_SECOND);
  return window.name === text ? window : null;
}

/** `day`: whole days since 1970. */
function dayWindow(day: number): BudgetWindow {
  return shortWindow(day, 1, utcDayOf(day * DAY_MS));
}

/** The ISO week of a day, which begins on Monday. */
function weekWindow(day: number): BudgetWindow {
  const monday = day - ((((day + 3) % 7) + 7) % 7); // 1 January 1970 was a Thursday
  return shortWindow(monday, 7, isoWeekOf(utcDayOf(monday * DAY_MS)));
}

function shortWindow(firstDay: number, days: number, name: string): BudgetWindow {
  const endSec = (firstDay + days) * DAY_SEC;
  return { startSec: firstDay * DAY_SEC, endSec, name, keptUntilSec: endSec + SHORT_WINDOW_KEPT_SEC };
}

/** `month`: 0 to 11. */
function monthWindow(year: number, month: number): BudgetWindow {
  const endSec = Date.UTC(year, month + 1) / MS_PER_SECOND;
  return {
    startSec: Date.UTC(year, month) / MS_PER_SECOND,
    endSec,
    name: `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`,
    keptUntilSec: endSec + MONTH_KEPT_SEC,
  };
}

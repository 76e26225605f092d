/**
 * Calendar windows of budgets, in UTC. An instant belongs to exactly one window of each unit. A call belongs to the
 * windows of its admission by the store's clock, also when it ends in a later window (docs/contract.md#limits).
 */

const MS_PER_SECOND = 1000;

export type CalendarUnit = 'month';

export interface CalendarWindow {
  readonly unit: CalendarUnit;
  /** Unix seconds of the first moment. */
  readonly startSec: number;
  /** Unix seconds of the first moment after the window. */
  readonly endSec: number;
  /** `2026-11` for a month; unique over all units. */
  readonly name: string;
}

type CreateWindow = (unixSec: number) => CalendarWindow;

const CREATE_WINDOW: Readonly<Record<CalendarUnit, CreateWindow>> = {
  month: (unixSec) => {
    const date = new Date(unixSec * MS_PER_SECOND);
    return monthWindow(date.getUTCFullYear(), date.getUTCMonth());
  },
};

/** The window used last, because nearly all callers need the current one. */
const lastWindow: Record<CalendarUnit, CalendarWindow> = { month: CREATE_WINDOW.month(0) };

export function calendarWindowAt(unit: CalendarUnit, unixSec: number): CalendarWindow {
  const last = lastWindow[unit];
  if (unixSec >= last.startSec && unixSec < last.endSec) return last;
  const window = CREATE_WINDOW[unit](unixSec);
  lastWindow[unit] = window;
  return window;
}

/** Parses `YYYY-MM`; returns null for any other text. */
export function parseMonth(text: string): CalendarWindow | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  return month === undefined ? null : monthWindow(Number(year), Number(month) - 1);
}

/** `month`: 0 to 11. */
function monthWindow(year: number, month: number): CalendarWindow {
  return {
    unit: 'month',
    startSec: Date.UTC(year, month) / MS_PER_SECOND,
    endSec: Date.UTC(year, month + 1) / MS_PER_SECOND,
    name: `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}`,
  };
}

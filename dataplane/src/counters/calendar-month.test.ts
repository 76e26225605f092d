import { expect, test } from 'vitest';
import { formatMonth, MonthNames, monthOfMs, parseMonth } from './calendar-month.js';

test('months: names and numbers are each other, remembered or not, also at the turn of a year', () => {
  const names = new MonthNames();
  for (const name of ['2026-11', '2026-11', '2026-12', '2027-01', '2026-12']) {
    const month = monthOfMs(Date.parse(`${name}-15`));
    expect([formatMonth(month), names.of(month), parseMonth(name)]).toEqual([name, name, month]);
  }
});

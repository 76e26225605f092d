import { expect, test } from 'vitest';
import { formatMonth, MonthNameCache, monthEndSec, monthOfMs, monthStartSec, parseMonth } from './calendar-month.js';

test('months: names and numbers convert both ways, cached or not, also across a year', () => {
  const names = new MonthNameCache();
  for (const name of ['2026-11', '2026-11', '2026-12', '2027-01', '2026-12']) {
    const month = monthOfMs(Date.parse(`${name}-15`));
    expect([formatMonth(month), names.get(month), parseMonth(name)]).toEqual([name, name, month]);
  }
});

test.each([
  ['2026-11', '2026-11-01', '2026-12-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2028-02', '2028-02-01', '2028-03-01'],
])('months: %s starts at %s and ends before %s, in UTC', (name, from, upTo) => {
  const month = parseMonth(name);
  expect([monthStartSec(month) * 1000, monthEndSec(month) * 1000]).toEqual([Date.parse(from), Date.parse(upTo)]);
  expect([monthOfMs(Date.parse(from) - 1), monthOfMs(Date.parse(upTo) - 1), monthOfMs(Date.parse(upTo))]).toEqual([
    month - 1,
    month,
    month + 1,
  ]);
});

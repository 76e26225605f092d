import { expect, test } from 'vitest';
import { calendarWindowAt, parseMonth } from './calendar-window.js';

test.each([
  ['2026-11', '2026-11-01', '2026-12-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2028-02', '2028-02-01', '2028-03-01'],
])('months: %s starts at %s and ends before %s, in UTC', (name, from, upTo) => {
  const [startSec, endSec] = [Date.parse(from) / 1000, Date.parse(upTo) / 1000];
  expect(parseMonth(name)).toMatchObject({ startSec, endSec, name });
  const nameAt = (unixSec: number): string => calendarWindowAt('month', unixSec).name;
  expect([nameAt(startSec), nameAt(endSec - 1)]).toEqual([name, name]);
  expect([nameAt(startSec - 1), nameAt(endSec)]).not.toContain(name);
});

test.each(['', '2026-00', '2026-13', '2026-1', '202611', 'November', '2026-11-01'])(
  'months: %j is no month',
  (text) => {
    expect(parseMonth(text)).toBeNull();
  },
);

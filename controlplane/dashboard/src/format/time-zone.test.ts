import { afterEach, expect, test, vi } from 'vitest';
import { formatBucket, formatShortDate, formatTimeInput, isToday, parseTimeInput } from './format.js';
import { browserTimeZone, chooseTimeZone, timeZoneUnit } from './time-zone.js';

afterEach(() => {
  chooseTimeZone('local');
  vi.useRealTimers();
});

test('in UTC every time, input and unit is UTC, whatever zone the process has', () => {
  chooseTimeZone('utc');
  const at = Date.parse('2026-03-29T01:30:00Z');
  expect(timeZoneUnit(at)).toBe('UTC');
  expect(formatBucket(at, 'hour')).toBe('29 Mar, 01:30');
  expect(formatTimeInput(new Date(at))).toBe('2026-03-29T01:30');
  expect(parseTimeInput('2026-03-29T01:30')).toBe(at);
  expect(parseTimeInput('')).toBeNaN();
});

test('a local input returns to its instant, and an unknown time has the unit of now', () => {
  const at = Date.parse('2026-07-01T12:34:00Z');
  expect(parseTimeInput(formatTimeInput(new Date(at)))).toBe(at);
  expect(timeZoneUnit(Number.NaN)).toBe(timeZoneUnit(Date.now()));
  expect(browserTimeZone()).not.toBe('');
});

test('today is the day of the chosen zone, and a day of another year has its year', () => {
  chooseTimeZone('utc');
  vi.useFakeTimers({ now: Date.parse('2027-01-01T00:30:00Z') });
  expect(['2027-01-01T23:59:59.999Z', '2027-01-01T00:00:00Z', '2026-12-31T23:59:59.999Z'].map(isToday)).toEqual([
    true,
    true,
    false,
  ]);
  expect(formatShortDate('2027-11-02T00:00:00Z')).toBe('2 Nov');
  expect(formatShortDate('2026-12-31T23:59:59Z')).toBe('31 Dec 2026');
});

test('today is the local day in the zone of the browser', () => {
  const now = new Date(2027, 0, 2, 0, 30);
  vi.useFakeTimers({ now });
  expect(isToday(new Date(2027, 0, 2, 23, 59).toISOString())).toBe(true);
  expect(isToday(new Date(2027, 0, 1, 23, 59).toISOString())).toBe(false);
});

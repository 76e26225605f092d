import { afterEach, expect, test } from 'vitest';
import { formatBucket, formatTimeInput, parseTimeInput } from './format.js';
import { browserTimeZone, chooseTimeZone, timeZoneUnit } from './time-zone.js';

afterEach(() => chooseTimeZone('local'));

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

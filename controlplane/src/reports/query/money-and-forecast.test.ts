import { expect, test } from 'vitest';
import { averageMs, forecastSpend, percentage, usdFromNanos, wholeCentsFromNanos } from './money-and-forecast.js';
import { bucketStarts, formatBucket, periodRange, previousRange, resolveDayRange } from './time-range.js';

const NOW = Date.parse('2026-11-21T10:40:00.000Z');
const iso = (range: { fromMs: number; toMs: number }) =>
  [range.fromMs, range.toMs].map((ms) => new Date(ms).toISOString());

test.each([
  [0n, 0],
  [4_999_999n, 0],
  [5_000_000n, 1],
  [14_999_999n, 1],
  [15_000_000n, 2],
  [9_007_199_254_740_993_000n, 900_719_925_474],
])('%s nano-dollars are %s cents, rounded half up from the exact sum', (nanos, cents) => {
  expect(wholeCentsFromNanos(nanos)).toBe(cents);
});

test('percentages and averages have two decimals, and 0 of 0 is 0', () => {
  expect([percentage(1, 3), percentage(2, 3), percentage(0, 0), percentage(5, 5)]).toEqual([33.33, 66.67, 0, 100]);
  expect([averageMs(301, 2), averageMs(100, 3), averageMs(0, 0)]).toEqual([150.5, 33.33, 0]);
});

test.each([
  ['24h', '2026-11-20T11:00:00.000Z', 24],
  ['7d', '2026-11-14T11:00:00.000Z', 168],
  ['30d', '2026-10-22T11:00:00.000Z', 720],
  ['90d', '2026-08-23T11:00:00.000Z', 2_160],
] as const)('period %s covers whole hours including the current one', (period, from, hours) => {
  const range = periodRange(period, NOW);
  expect(iso(range)).toEqual([from, '2026-11-21T11:00:00.000Z']);
  expect(bucketStarts(range, 'hour')).toHaveLength(hours);
});

test('daily buckets are UTC days, starting with the day in which the period begins', () => {
  const names = bucketStarts(periodRange('7d', NOW), 'day').map(formatBucket);
  expect(names).toHaveLength(8);
  expect([names[0], names[7]]).toEqual(['2026-11-14 00:00:00', '2026-11-21 00:00:00']);
});

test.each([
  [undefined, undefined, '2026-11-01', '2026-11-22'],
  ['2026-11-05', undefined, '2026-11-05', '2026-11-22'],
  [undefined, '2026-10-07', '2026-10-01', '2026-10-08'],
  ['2024-02-28', '2024-02-29', '2024-02-28', '2024-03-01'],
  ['2026-11-21', '2026-11-21', '2026-11-21', '2026-11-22'],
  ['2026-12-24', undefined, '2026-12-24', '2026-12-25'],
])('days from %s to %s are inclusive and default to the current month', (start, end, from, to) => {
  expect(iso(resolveDayRange(start, end, NOW))).toEqual([`${from}T00:00:00.000Z`, `${to}T00:00:00.000Z`]);
});

test('rejects a start after the end', () => {
  expect(() => resolveDayRange('2026-11-02', '2026-11-01', NOW)).toThrow('start must not be after end');
});

const CENT = 10_000_000;
const HOUR = 3_600_000;
test('the forecast extrapolates the burn rate since the first spend of the last 24 hours', () => {
  const firstSpendMs = NOW - 24 * HOUR;
  const input = {
    recentNanos: 240 * CENT,
    firstSpendMs,
    monthNanos: 1_000 * CENT,
    budgetCents: 1_240,
    nowMs: NOW,
  };
  const hoursLeft = 9 * 24 + 13 + 20 / 60;
  expect(forecastSpend(input)).toEqual({
    burnRateCentsPerHour: 10,
    projectedMonthlyCents: Math.round(1_000 + 10 * hoursLeft),
    projectedMonthlyUsd: Math.round((1_000 + 10 * hoursLeft) * 10_000) / 1e6,
    daysUntilBudget: 1,
  });
  expect(forecastSpend({ ...input, budgetCents: 900 }).daysUntilBudget).toBe(0);
  expect(forecastSpend({ ...input, budgetCents: 1_000 }).daysUntilBudget).toBe(0);
  expect(forecastSpend({ ...input, budgetCents: null }).daysUntilBudget).toBeNull();
  // The month has 229 1/3 hours left: 2,293 more cents at this rate.
  expect(forecastSpend({ ...input, budgetCents: 3_290 }).daysUntilBudget).toBe(9.54);
  expect(forecastSpend({ ...input, budgetCents: 3_295 }).daysUntilBudget).toBeNull();
  expect(forecastSpend({ ...input, recentNanos: 0, firstSpendMs: null })).toMatchObject({
    burnRateCentsPerHour: 0,
    projectedMonthlyCents: 1_000,
    daysUntilBudget: null,
  });
  expect(forecastSpend({ ...input, firstSpendMs: NOW - 6 * HOUR }).burnRateCentsPerHour).toBe(40);
});

test('spend within less than an hour counts as spent in one hour', () => {
  const spent = { recentNanos: 300_000, firstSpendMs: NOW - 4_000, monthNanos: 300_000, budgetCents: 1, nowMs: NOW };
  expect(forecastSpend(spent)).toEqual({
    burnRateCentsPerHour: 0.03,
    projectedMonthlyCents: 7,
    projectedMonthlyUsd: 0.0691,
    daysUntilBudget: 1.35,
  });
  expect(forecastSpend({ ...spent, monthNanos: CENT }).daysUntilBudget).toBe(0); // the budget is already used up
});

test('dollars have six decimals, rounded half up from the exact sum', () => {
  expect([0n, 499n, 500n, 1_499n, 123_456_789_500n, 9_007_199_254_740_992_000n].map(usdFromNanos)).toEqual([
    0, 0, 0.000001, 0.000001, 123.45679, 9_007_199_254.740992,
  ]);
});

test.each([
  ['a whole month', '2026-03-01', '2026-04-01', '2026-02-01', '2026-03-01'],
  ['the same days of the month before', '2026-03-01', '2026-03-11', '2026-02-01', '2026-02-11'],
  ['not beyond a shorter month', '2026-03-01', '2026-03-31', '2026-02-01', '2026-03-01'],
  ['other days: the same length before', '2026-03-05', '2026-03-08', '2026-03-02', '2026-03-05'],
  ['two months: the same length before', '2026-03-01', '2026-05-01', '2025-12-30', '2026-03-01'],
])('previous period: %s', (_, from, to, previousFrom, previousTo) => {
  const before = previousRange({ fromMs: Date.parse(from), toMs: Date.parse(to) });
  expect([before.fromMs, before.toMs].map((ms) => new Date(ms).toISOString().slice(0, 10))).toEqual([
    previousFrom,
    previousTo,
  ]);
});

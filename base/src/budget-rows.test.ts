import { expect, test } from 'vitest';
import { compileBudgetRowFilter, isoWeekOf, windowEndMs, windowInstanceOf, windowStartMs } from './budget-rows.js';

test.each([
  ['2026-11-28', '2026-W48'],
  ['2026-11-29', '2026-W48'],
  ['2026-11-30', '2026-W49'],
  ['2027-01-03', '2026-W53'],
  ['2027-01-04', '2027-W01'],
  ['2024-12-30', '2025-W01'],
  ['2021-01-01', '2020-W53'],
])('the day %s lies in the week %s', (day, week) => {
  expect(isoWeekOf(day)).toBe(week);
});

test('instances of windows, their starts and ends', () => {
  const ms = Date.parse('2026-12-31T23:59:59.999Z');
  expect(['day', 'week', 'month', 'total'].map((window) => windowInstanceOf(window as never, '2026-12-31'))).toEqual([
    '2026-12-31',
    '2026-W53',
    '2026-12',
    '2026-12',
  ]);
  const iso = (value: number | null) => value && new Date(value).toISOString().slice(0, 10);
  expect([iso(windowStartMs('day', ms)), iso(windowEndMs('day', ms))]).toEqual(['2026-12-31', '2027-01-01']);
  expect([iso(windowStartMs('week', ms)), iso(windowEndMs('week', ms))]).toEqual(['2026-12-28', '2027-01-04']);
  expect([iso(windowStartMs('month', ms)), iso(windowEndMs('month', ms))]).toEqual(['2026-12-01', '2027-01-01']);
  expect([windowStartMs('total', ms), windowEndMs('total', ms)]).toEqual([null, null]);
});

test('a row counts calls of its models and of its tag', () => {
  const filter = compileBudgetRowFilter({ models: ['GPT-5*', 'o3'], tag: 'customer=acme' });
  expect(filter('gpt-5-mini', 'customer=acme,feature=x')).toBe(true);
  expect(filter('O3', 'a=b,customer=acme')).toBe(true);
  expect(filter('gpt-4', 'customer=acme')).toBe(false);
  expect(filter('', 'customer=acme')).toBe(true); // names no model
  expect(filter('gpt-5', 'customer=acme2')).toBe(false);
  expect(filter('gpt-5', 'xcustomer=acme')).toBe(false);
  expect(filter('gpt-5', '')).toBe(false);
  expect(compileBudgetRowFilter({ models: [], tag: '' })('any', '')).toBe(true);
});

import { expect, test } from 'vitest';
import { monthSpend } from './month-spend.js';

const at = Date.parse('2026-02-10T15:00:00Z');
const days = [
  { bucket: '2026-02-01 00:00:00', costUsd: 2 },
  { bucket: '2026-02-10 00:00:00', costUsd: 3 },
];

test('sums the spend per day, and projects from today to the end of the month', () => {
  const { buckets, spent, projected } = monthSpend({ nowMs: at, days, projectedCents: 1_400 });
  expect([buckets.length, buckets[0], buckets[27]]).toEqual([28, '2026-02-01 00:00:00.000', '2026-02-28 00:00:00.000']);
  expect([spent[0], spent[8], spent[9], spent[10]]).toEqual([2, 2, 5, 0]);
  expect([projected[8], projected[9], projected[18], projected[27]]).toEqual([null, 5, 9.5, 14]);
});

test('without a projection, and on the last day, no line leads on', () => {
  expect(monthSpend({ nowMs: at, days, projectedCents: null }).projected.every((value) => value === null)).toBe(true);
  const last = monthSpend({ nowMs: Date.parse('2026-02-28T23:00:00Z'), days, projectedCents: 1_400 });
  expect(last.projected.every((value) => value === null)).toBe(true);
});

import { expect, test } from 'vitest';
import { toCents, usd } from './format.js';

test.each([
  [12.5, 1_250],
  // As the kit's input of numbers gives it while the last digit is a zero.
  ['12.50', 1_250],
  ['1250.50', 125_050],
  ['0.10', 10],
  [0, 0],
  ['', null],
  ['-', null],
])('a typed %j is %j cents', (typed, cents) => {
  expect(toCents(typed)).toBe(cents);
});

test('what cost something is never written as nothing', () => {
  expect([usd(0), usd(0.0042), usd(0.000_001), usd(12.5), usd(null)]).toEqual([
    '$0.00',
    '$0.0042',
    '< $0.0001',
    '$12.50',
    '–',
  ]);
});

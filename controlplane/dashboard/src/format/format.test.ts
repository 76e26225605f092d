import { expect, test } from 'vitest';
import { dollarInputToCents, formatUsd, formatUsdTick } from './format.js';

test.each([
  [12.5, 1_250],
  // The UI library's number input returns a string while the last digit is a zero.
  ['12.50', 1_250],
  ['1250.50', 125_050],
  ['0.10', 10],
  // 0.29 * 100 is 28.999999999999996.
  [0.29, 29],
  [0, 0],
  ['', null],
  ['-', null],
])('converts the input %j to %j cents', (typed, cents) => {
  expect(dollarInputToCents(typed)).toBe(cents);
});

test('never formats a positive cost as zero', () => {
  expect([formatUsd(0), formatUsd(0.0042), formatUsd(0.000_001), formatUsd(12.5), formatUsd(null)]).toEqual([
    '$0.00',
    '$0.0042',
    '< $0.0001',
    '$12.50',
    '–',
  ]);
});

test.each([
  [0.000_02, ['$0.00', '$0.00002', '$0.00004']],
  [0.000_000_25, ['$0.00', '$0.00000025', '$0.00000050']],
  [0.002_5, ['$0.00', '$0.0025', '$0.0050']],
  [0.1, ['$0.00', '$0.10', '$0.20']],
  [1_000, ['$0.00', '$1,000.00', '$2,000.00']],
])('formats axis labels that are %d dollars apart with enough decimals', (step, labels) => {
  expect([0, step, 2 * step].map((value) => formatUsdTick(value, step))).toEqual(labels);
});

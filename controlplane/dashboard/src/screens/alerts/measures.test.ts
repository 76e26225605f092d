import { expect, test } from 'vitest';
import { inputToMeasure } from './measures.js';

test.each([
  ['spend', 0.29, 29],
  ['spend', '0.29', 29],
  ['spend', '2.50', 250],
  ['latency', 5_000, 5_000],
  ['error_rate', '0.5', 0.5],
] as const)('converts the input of a rule on %s, %j, to %d', (metric, typed, value) => {
  expect(inputToMeasure(metric, typed)).toBe(value);
});

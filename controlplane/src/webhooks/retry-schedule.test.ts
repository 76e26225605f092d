import { expect, test } from 'vitest';
import { decideRetry } from './retry-schedule.js';

const DELAYS_MS = [10_000, 60_000, 300_000];

test.each([
  [true, 1, { status: 'success' }],
  [true, 4, { status: 'success' }],
  [false, 1, { status: 'pending', delayMs: 10_000 }],
  [false, 2, { status: 'pending', delayMs: 60_000 }],
  [false, 3, { status: 'pending', delayMs: 300_000 }],
  [false, 4, { status: 'failed' }],
])('schedule: delivered %s at attempt %i becomes %o', (delivered, attempts, verdict) => {
  expect(decideRetry(delivered, attempts, DELAYS_MS)).toEqual(verdict);
});

test('schedule: without delays the first failure is final', () => {
  expect(decideRetry(false, 1, [])).toEqual({ status: 'failed' });
});

import { expect, test } from 'vitest';
import { decideNext } from './schedule.js';

const DELAYS_MS = [10_000, 60_000, 300_000];

test.each([
  [true, 1, { status: 'success' }],
  [true, 4, { status: 'success' }],
  [false, 1, { status: 'pending', delayMs: 10_000 }],
  [false, 2, { status: 'pending', delayMs: 60_000 }],
  [false, 3, { status: 'pending', delayMs: 300_000 }],
  [false, 4, { status: 'failed' }],
])('schedule: delivered %s at attempt %i becomes %o', (delivered, attempts, verdict) => {
  expect(decideNext(delivered, attempts, DELAYS_MS)).toEqual(verdict);
});

test('schedule: without delays the first failure is final', () => {
  expect(decideNext(false, 1, [])).toEqual({ status: 'failed' });
});

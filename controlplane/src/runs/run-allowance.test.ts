import { expect, test } from 'vitest';
import { TooManyAttempts } from '../domain/errors.js';
import { RunAllowance } from './run-allowance.js';

/** Calls of `orgId` at this instant until one is rejected. */
function takeAll(
  allowance: RunAllowance,
  orgId: string,
  nowMs: number,
  bodyBytes = 100,
): { calls: number; error: TooManyAttempts } {
  for (let calls = 0; ; calls++) {
    try {
      allowance.take(orgId, bodyBytes, nowMs);
    } catch (error) {
      return { calls, error: error as TooManyAttempts };
    }
  }
}

test('runs: an organization may make 2 000 calls at once and 500 a second, whatever others do', () => {
  const allowance = new RunAllowance();
  const { calls, error } = takeAll(allowance, 'a', 0);
  expect(calls).toBe(2_000);
  expect(error).toBeInstanceOf(TooManyAttempts);
  expect(error).toMatchObject({ retryAfterSeconds: 1, message: expect.stringContaining('Retry in 1 s') });
  expect(takeAll(allowance, 'a', 1_000).calls).toBe(500);
  expect(takeAll(allowance, 'b', 1_000).calls).toBe(2_000);
  expect(takeAll(allowance, 'c', 1_000, 20_000).calls).toBe(200);
});

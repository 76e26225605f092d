import { expect, test } from 'vitest';
import { TooManyAttempts } from '../domain/errors.js';
import { WriteAllowance } from './write-allowance.js';

const MIB = 1_048_576;

/** Calls with such a body that are let pass one after the other at the same time. */
function passed(allowance: WriteAllowance, orgId: string, bodyBytes: number, nowMs: number): number {
  for (let n = 0; ; n++) {
    try {
      allowance.take(orgId, bodyBytes, nowMs);
    } catch (error) {
      expect(error).toBeInstanceOf(TooManyAttempts);
      return n;
    }
  }
}

test('writes: an organization has 16 000 small calls or 31 of a megabyte at once, whatever others have taken', () => {
  const allowance = new WriteAllowance();
  expect(passed(allowance, 'a', 0, 0)).toBe(16_384);
  expect(passed(allowance, 'b', MIB, 0)).toBe(31);
});

test('writes: 16 more small calls come with each second, and in 1024 seconds all of them', () => {
  const allowance = new WriteAllowance();
  passed(allowance, 'a', 0, 0);
  expect(passed(allowance, 'a', 0, 1_000)).toBe(16);
  expect(passed(allowance, 'a', 0, 1_000)).toBe(0);
  expect(passed(allowance, 'a', 0, 1_025_000)).toBe(16_384);
  expect(passed(allowance, 'a', 0, 9_000_000)).toBe(16_384);
});

test('writes: a refused call takes nothing, and is told when it passes', () => {
  const allowance = new WriteAllowance();
  passed(allowance, 'a', 0, 0);
  const refusal = (() => {
    try {
      allowance.take('a', MIB, 0);
    } catch (error) {
      return error as TooManyAttempts;
    }
    throw new Error('it passed');
  })();
  expect(refusal.retryAfterSeconds).toBe(33);
  expect(() => allowance.take('a', MIB, 32_000)).toThrow();
  expect(() => allowance.take('a', MIB, 33_000)).not.toThrow();
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noop } from './noop.js';
import { waitAtMost } from './wait-at-most.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('wait at most: returns the value, or rejects, and leaves no timer', async () => {
  expect(await waitAtMost(Promise.resolve('value'), 1_000)).toBe('value');
  await expect(waitAtMost(Promise.reject(new Error('lost')), 1_000)).rejects.toThrow('lost');
  expect(vi.getTimerCount()).toBe(0);
});

test('wait at most: resolves to undefined after the time, and a later rejection is ignored', async () => {
  let reject: (error: Error) => void = noop;
  const late = new Promise<string>((_resolve, fail) => {
    reject = fail;
  });
  const waited = waitAtMost(late, 1_000);
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waited).toBeUndefined();
  reject(new Error('late')); // unhandled, it would fail the run
  await vi.advanceTimersByTimeAsync(0);
});

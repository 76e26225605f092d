/** What an outage of a counter store logs and counts. */
import type { Logger } from '@acg/base/log';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EnforcementState } from './enforcement-state.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function createState() {
  const info = vi.fn();
  const warn = vi.fn();
  const metrics = { setEnforcing: vi.fn(), countUnchecked: vi.fn() };
  const state = new EnforcementState('redis:6379', { info, warn } as unknown as Logger, metrics as never);
  return { state, info, warn, metrics };
}

test('enforcement state: the end of an outage logs its length and its unchecked requests, once', () => {
  const { state, info, warn, metrics } = createState();
  state.resume();
  expect(info).not.toHaveBeenCalled();
  vi.advanceTimersByTime(5_000);
  state.failOpen('timeout');
  state.failOpen('timeout');
  expect(warn).toHaveBeenCalledOnce();
  state.countUnchecked(2);
  state.countUnchecked(0);
  state.countUnchecked(3);
  state.logDataLostNowOrOnResume();
  vi.advanceTimersByTime(700);
  state.resume();
  state.resume();
  expect(info).toHaveBeenCalledOnce();
  expect(info.mock.calls[0]![0]).toEqual({ store: 'redis:6379', uncheckedRequests: 5, outageMs: 700, dataLost: true });
  expect(metrics.countUnchecked.mock.calls).toEqual([[2], [3]]);
  expect(metrics.setEnforcing.mock.calls.flat()).toEqual([true, false, false, true, true]);
});

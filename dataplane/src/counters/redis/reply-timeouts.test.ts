import { SwapRemoveSet } from '@acg/base/swap-remove-set';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReplyTimeouts } from './reply-timeouts.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Call {
  readonly sentAtMs: number;
  isTimedOut: boolean;
  setIndex: number;
}

/** Starts calls with a timeout of 50 ms, and records those that time out. */
function createTimeouts() {
  const inflight = new SwapRemoveSet<Call>();
  const timedOut: Call[] = [];
  const timeouts = new ReplyTimeouts<Call>(50, inflight, (call) => void timedOut.push(call));
  const send = (): Call => {
    const call = { sentAtMs: performance.now(), isTimedOut: false, setIndex: -1 };
    inflight.add(call);
    timeouts.watch();
    return call;
  };
  return { inflight, timedOut, send };
}
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('reply timeouts: time out unanswered calls, each once', async () => {
  const { inflight, timedOut, send } = createTimeouts();
  const first = send();
  vi.advanceTimersByTime(20);
  const [second, third] = [send(), send()];
  inflight.delete(second);
  vi.advanceTimersByTime(30);
  await nextTurn();
  expect(timedOut).toEqual([first]);
  vi.advanceTimersByTime(20);
  await nextTurn();
  expect(timedOut).toEqual([first, third]);
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(timedOut).toHaveLength(2);
});

test('reply timeouts: accept a reply that is read in the poll phase after the timer', async () => {
  const { inflight, timedOut, send } = createTimeouts();
  const only = send();
  vi.advanceTimersByTime(500); // the loop was busy: the timer fires, then the poll phase runs
  inflight.delete(only);
  await nextTurn();
  expect(timedOut).toEqual([]);
});

test('reply timeouts: arm the timer again for a later send', async () => {
  const { inflight, timedOut, send } = createTimeouts();
  inflight.delete(send());
  vi.advanceTimersByTime(60);
  await nextTurn();
  const second = send();
  vi.advanceTimersByTime(49);
  await nextTurn();
  expect(timedOut).toEqual([]);
  vi.advanceTimersByTime(1);
  await nextTurn();
  expect(timedOut).toEqual([second]);
});

test('reply timeouts: with 1000 calls answered in any order, time out the rest', async () => {
  const { inflight, timedOut, send } = createTimeouts();
  const calls: Call[] = [];
  for (let i = 0; i < 1_000; i++) {
    calls.push(send());
    if (i % 3 === 2) inflight.delete(calls[i - 1]!);
    if (i >= 400 && i % 7 === 0) inflight.delete(calls[i - 400]!);
  }
  const expected = calls.filter((call) => call.setIndex >= 0);
  vi.advanceTimersByTime(60);
  await nextTurn();
  expect(expected.length).toBeGreaterThan(100);
  expect(new Set(timedOut)).toEqual(new Set(expected));
  inflight.delete(timedOut[0]!); // a reply after the timeout changes nothing
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(timedOut).toHaveLength(expected.length);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AwaitedReply, ReplyTimeouts } from './reply-timeouts.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const item = (): AwaitedReply => ({ sentAtMs: 0, ringIndex: -1 });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('reply timeouts: time out unanswered calls in order, each once', async () => {
  const timedOut: AwaitedReply[] = [];
  const replyTimeouts = new ReplyTimeouts<AwaitedReply>(50, (call) => void timedOut.push(call));
  const [first, second, third] = [item(), item(), item()];
  replyTimeouts.startWaiting(first);
  vi.advanceTimersByTime(20);
  replyTimeouts.startWaiting(second);
  replyTimeouts.startWaiting(third);
  replyTimeouts.stopWaiting(second);
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
  const timedOut: AwaitedReply[] = [];
  const replyTimeouts = new ReplyTimeouts<AwaitedReply>(50, (call) => void timedOut.push(call));
  const only = item();
  replyTimeouts.startWaiting(only);
  vi.advanceTimersByTime(500); // the loop was busy: the timer fires, then the poll phase runs
  replyTimeouts.stopWaiting(only);
  await nextTurn();
  expect(timedOut).toEqual([]);
});

test('reply timeouts: arm the timer again for a later send', async () => {
  const timedOut: AwaitedReply[] = [];
  const replyTimeouts = new ReplyTimeouts<AwaitedReply>(50, (call) => void timedOut.push(call));
  const first = item();
  replyTimeouts.startWaiting(first);
  replyTimeouts.stopWaiting(first);
  vi.advanceTimersByTime(60);
  await nextTurn();
  const second = item();
  replyTimeouts.startWaiting(second);
  vi.advanceTimersByTime(49);
  await nextTurn();
  expect(timedOut).toEqual([]);
  vi.advanceTimersByTime(1);
  await nextTurn();
  expect(timedOut).toEqual([second]);
});

test('reply timeouts: with 1000 calls answered in any order, time out the rest in order', async () => {
  const timedOut: AwaitedReply[] = [];
  const replyTimeouts = new ReplyTimeouts<AwaitedReply>(50, (call) => void timedOut.push(call));
  const items = Array.from({ length: 1_000 }, item);
  for (let i = 0; i < items.length; i++) {
    replyTimeouts.startWaiting(items[i]!);
    if (i % 3 === 2) replyTimeouts.stopWaiting(items[i - 1]!);
    if (i >= 400 && i % 7 === 0) replyTimeouts.stopWaiting(items[i - 400]!);
  }
  for (const call of items) if (items.indexOf(call) % 2 === 0) replyTimeouts.stopWaiting(call);
  const expected = items.filter((call) => call.ringIndex >= 0);
  vi.advanceTimersByTime(60);
  await nextTurn();
  expect(expected.length).toBeGreaterThan(100);
  expect(timedOut).toEqual(expected);
  replyTimeouts.stopWaiting(timedOut[0]!); // a reply after the timeout changes nothing
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(timedOut).toHaveLength(expected.length);
});

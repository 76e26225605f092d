import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AwaitedReply, ReplyTimeouts } from './reply-timeouts.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const item = (): AwaitedReply => ({ sentAtMs: 0, ringIndex: -1 });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('reply timeouts: time out unanswered calls in order, each once', async () => {
  const late: AwaitedReply[] = [];
  const deadline = new ReplyTimeouts<AwaitedReply>(50, (one) => void late.push(one));
  const [first, second, third] = [item(), item(), item()];
  deadline.start(first);
  vi.advanceTimersByTime(20);
  deadline.start(second);
  deadline.start(third);
  deadline.cancel(second);
  vi.advanceTimersByTime(30);
  await nextTurn();
  expect(late).toEqual([first]);
  vi.advanceTimersByTime(20);
  await nextTurn();
  expect(late).toEqual([first, third]);
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(late).toHaveLength(2);
});

test('reply timeouts: accept a reply that is read in the poll phase after the timer', async () => {
  const late: AwaitedReply[] = [];
  const deadline = new ReplyTimeouts<AwaitedReply>(50, (one) => void late.push(one));
  const only = item();
  deadline.start(only);
  vi.advanceTimersByTime(500); // the loop was busy: the timer fires, then the poll phase runs
  deadline.cancel(only);
  await nextTurn();
  expect(late).toEqual([]);
});

test('reply timeouts: arm the timer again for a later send', async () => {
  const late: AwaitedReply[] = [];
  const deadline = new ReplyTimeouts<AwaitedReply>(50, (one) => void late.push(one));
  const first = item();
  deadline.start(first);
  deadline.cancel(first);
  vi.advanceTimersByTime(60);
  await nextTurn();
  const second = item();
  deadline.start(second);
  vi.advanceTimersByTime(49);
  await nextTurn();
  expect(late).toEqual([]);
  vi.advanceTimersByTime(1);
  await nextTurn();
  expect(late).toEqual([second]);
});

test('reply timeouts: with 1000 calls answered in any order, time out the rest in order', async () => {
  const late: AwaitedReply[] = [];
  const deadline = new ReplyTimeouts<AwaitedReply>(50, (one) => void late.push(one));
  const items = Array.from({ length: 1_000 }, item);
  for (let i = 0; i < items.length; i++) {
    deadline.start(items[i]!);
    if (i % 3 === 2) deadline.cancel(items[i - 1]!);
    if (i >= 400 && i % 7 === 0) deadline.cancel(items[i - 400]!);
  }
  for (const one of items) if (items.indexOf(one) % 2 === 0) deadline.cancel(one);
  const expected = items.filter((one) => one.ringIndex >= 0);
  vi.advanceTimersByTime(60);
  await nextTurn();
  expect(expected.length).toBeGreaterThan(100);
  expect(late).toEqual(expected);
  deadline.cancel(late[0]!); // a reply after the timeout changes nothing
  vi.advanceTimersByTime(1_000);
  await nextTurn();
  expect(late).toHaveLength(expected.length);
});

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AnswerDeadline, type Awaited } from './answer-deadline.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const item = (): Awaited => ({ sentAtMs: 0 });
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('deadline: what is unanswered is late, in order, each once', async () => {
  const late: Awaited[] = [];
  const deadline = new AnswerDeadline<Awaited>(50, (one) => void late.push(one));
  const [first, second, third] = [item(), item(), item()];
  deadline.start(first);
  vi.advanceTimersByTime(20);
  deadline.start(second);
  deadline.start(third);
  deadline.answered(second);
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

test('deadline: an answer that is read in the poll after the timer is in time', async () => {
  const late: Awaited[] = [];
  const deadline = new AnswerDeadline<Awaited>(50, (one) => void late.push(one));
  const only = item();
  deadline.start(only);
  vi.advanceTimersByTime(500); // the loop was busy; the timer fires, the poll comes next
  deadline.answered(only);
  await nextTurn();
  expect(late).toEqual([]);
});

test('deadline: the timer starts again for what is sent later', async () => {
  const late: Awaited[] = [];
  const deadline = new AnswerDeadline<Awaited>(50, (one) => void late.push(one));
  const first = item();
  deadline.start(first);
  deadline.answered(first);
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

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BATCH_MAX, PENDING_QUERIES_MAX, ResolveBatcher, type TokenQuery } from './resolve-batcher.js';

const query = (i: number): TokenQuery => ({ tokenHash: `hash-${i}`, agentRef: '' });
/** Longer than the pause between two calls that are not full. */
const PAUSE_MS = 10;
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const found = (revision: number) => ({ context: null, rejection: 'unknown_token', revision }) as const;

function scene() {
  const calls: { queries: readonly TokenQuery[]; answer: (most?: number) => void; fail: (error: Error) => void }[] = [];
  const batch = new ResolveBatcher(
    (queries) =>
      new Promise((resolve, reject) => {
        const answer = (most?: number) =>
          resolve(queries.slice(0, most).map(({ tokenHash }) => found(Number(tokenHash.slice(5)))));
        calls.push({ queries, answer, fail: reject });
      }),
  );
  return { calls, batch };
}

test('resolve: sends all tokens of an event-loop tick in one call, and each gets its own answer', async () => {
  const { calls, batch } = scene();
  const answers = [0, 1, 2].map((i) => batch.resolve(query(i), null));
  await turn();
  expect(calls.map(({ queries }) => queries.length)).toEqual([3]);
  calls[0]!.answer();
  expect(await Promise.all(answers)).toEqual([found(0), found(1), found(2)]);
});

test('resolve: sends more than BATCH_MAX tokens in several calls, full ones at once', async () => {
  const { calls, batch } = scene();
  for (let i = 0; i <= 2 * BATCH_MAX; i++) void batch.resolve(query(i), null);
  await turn();
  expect(calls.map(({ queries }) => queries.length)).toEqual([BATCH_MAX, BATCH_MAX]);
  vi.advanceTimersByTime(PAUSE_MS);
  await turn();
  expect(calls.map(({ queries }) => queries.length)).toEqual([BATCH_MAX, BATCH_MAX, 1]);
});

test('resolve: tokens that come while a call is in flight share the next one', async () => {
  const { calls, batch } = scene();
  const answers = [batch.resolve(query(0), null)];
  await turn();
  for (let i = 1; i < 4; i++) {
    answers.push(batch.resolve(query(i), null));
    await turn();
  }
  expect(calls.map(({ queries }) => queries.length)).toEqual([1]);
  calls[0]!.answer();
  await answers[0];
  await turn();
  expect(calls.map(({ queries }) => queries.length)).toEqual([1, 3]);
  calls[1]!.answer();
  expect(await Promise.all(answers)).toEqual([0, 1, 2, 3].map(found));
});

test('resolve: queues tokens for the next call while four calls are in flight', async () => {
  const { calls, batch } = scene();
  for (let i = 0; i < 10; i++) {
    void batch.resolve(query(i), null);
    await turn();
    vi.advanceTimersByTime(PAUSE_MS);
    await turn();
  }
  expect(calls.map(({ queries }) => queries.length)).toEqual([1, 1, 1, 1]);
  calls[2]!.answer();
  await turn();
  await turn();
  expect(calls.map(({ queries }) => queries.length)).toEqual([1, 1, 1, 1, 6]);
});

test('resolve: a failed call rejects its own tokens only', async () => {
  const { calls, batch } = scene();
  const first = batch.resolve(query(0), null);
  await turn();
  const second = batch.resolve(query(1), null);
  vi.advanceTimersByTime(PAUSE_MS);
  await turn();
  calls[0]!.fail(new Error('away'));
  calls[1]!.answer();
  await expect(first).rejects.toThrow('away');
  expect(await second).toEqual(found(1));
});

test('resolve: an answer that is an error, or missing, rejects its own token only', async () => {
  const batch = new ResolveBatcher(async () => [new Error('odd'), found(1)]);
  const answers = await Promise.allSettled([0, 1, 2].map((i) => batch.resolve(query(i), null)));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
});

test('resolve: a client with thousands of tokens delays only itself', async () => {
  const { calls, batch } = scene();
  const [hostile, other] = [{}, {}];
  const flood = (): void => {
    for (let i = 0; i < 2_000; i++) void batch.resolve(query(i), hostile);
  };
  flood();
  await turn(); // 4 × 256 are in flight
  flood();
  const legitimate = batch.resolve(query(9_999), other);
  calls[0]!.answer();
  await turn();
  await turn();
  expect(calls[4]!.queries.slice(0, 2)).toContainEqual(query(9_999));
  calls[4]!.answer();
  expect(await legitimate).toEqual(found(9_999));
});

test('resolve: when the queue is full, only the longest lane loses its newest token', async () => {
  const { batch, calls } = scene();
  const hostile = {};
  const lost: number[] = [];
  const asked: number[] = [];
  for (let i = 0; i < PENDING_QUERIES_MAX + 100; i++) {
    asked.push(i);
    batch.resolve(query(i), hostile).catch(() => lost.push(i));
  }
  let others = 0;
  for (let i = 0; i < 300; i++) void batch.resolve(query(10_000 + i), {}).then(() => others++);
  await turn();
  expect(lost.length).toBe(400);
  expect(Math.min(...lost)).toBe(PENDING_QUERIES_MAX - 300);
  for (let at = 0; others < 300; at++) {
    while (calls[at] === undefined) await turn();
    calls[at]!.answer();
  }
  expect(lost.length).toBe(400);
});

test('resolve: with more lanes than queue slots, one token is rejected and the others are answered', async () => {
  const { batch, calls } = scene();
  const answers: Promise<unknown>[] = [];
  for (let i = 0; i <= PENDING_QUERIES_MAX; i++) answers.push(batch.resolve(query(i), {}));
  const settled = Promise.allSettled(answers);
  for (let at = 0; at * BATCH_MAX < PENDING_QUERIES_MAX; at++) {
    while (calls[at] === undefined) await turn();
    calls[at]!.answer();
  }
  expect((await settled).filter(({ status }) => status === 'rejected').length).toBe(1);
});

test('resolve: tokens that an answer omits are sent again, before newer ones of their lanes', async () => {
  const { calls, batch } = scene();
  const [big, other] = [{}, {}];
  const answers = [0, 1, 2].map((i) => batch.resolve(query(i), big));
  await turn();
  answers.push(batch.resolve(query(3), big), batch.resolve(query(4), other));
  for (let at = 0; at < 4; at++) {
    calls[at]!.answer(1);
    await turn();
    await turn();
  }
  expect(calls.map(({ queries }) => queries.map(({ tokenHash }) => tokenHash))).toEqual([
    ['hash-0', 'hash-1', 'hash-2'],
    ['hash-1', 'hash-4', 'hash-2', 'hash-3'],
    ['hash-4', 'hash-2', 'hash-3'],
    ['hash-2', 'hash-3'],
    ['hash-3'],
  ]);
  calls[4]!.answer();
  expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4].map(found));
});

test('resolve: an empty answer rejects its tokens', async () => {
  const batch = new ResolveBatcher(async () => []);
  await expect(batch.resolve(query(0), null)).rejects.toThrow('unanswered');
});

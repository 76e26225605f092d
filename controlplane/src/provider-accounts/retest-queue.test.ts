import { expect, test } from 'vitest';
import { RetestQueue } from './retest-queue.js';

const NOW = 1_790_000_000_000;

test('serves organizations in turn, so that one with thousands of accounts delays no other', () => {
  const queue = new RetestQueue();
  for (let n = 0; n < 5_000; n++) queue.enqueue({ accountId: `hostile-${n}`, orgId: 'hostile' }, NOW);
  queue.enqueue({ accountId: 'other-0', orgId: 'other' }, NOW);
  queue.enqueue({ accountId: 'other-1', orgId: 'other' }, NOW);
  expect(queue.dequeue(3, 50).map(({ accountId }) => accountId)).toEqual(['hostile-0', 'other-0', 'hostile-1']);
  expect(queue.dequeue(1, 50)).toEqual([{ accountId: 'other-1', orgId: 'other' }]);
  expect(queue.dequeue(5_000, 4)).toHaveLength(4); // The limit per organization bounds the delay for the others.
  expect(queue.dequeue(5_000, 50)).toHaveLength(44);
  expect(queue.dequeue(1, 50)).toEqual([]);
});

test('queues an account or shared credential at most once a minute', () => {
  const queue = new RetestQueue();
  const one = { accountId: 'a', orgId: 'o' };
  queue.enqueue(one, NOW);
  queue.enqueue(one, NOW + 59_999);
  expect(queue.dequeue(9, 50)).toEqual([one]);
  queue.enqueue(one, NOW + 60_000);
  expect(queue.dequeue(9, 50)).toEqual([one]);
  expect([NOW, NOW + 59_999, NOW + 60_000].map((ms) => queue.tryMark('shared', ms))).toEqual([true, false, true]);
});

test('limits the number of remembered ids', () => {
  const queue = new RetestQueue();
  for (let n = 0; n <= 20_000; n++) expect(queue.tryMark(`id-${n}`, NOW)).toBe(true);
  expect([queue.tryMark('id-1', NOW), queue.tryMark('id-0', NOW)]).toEqual([false, true]);
});

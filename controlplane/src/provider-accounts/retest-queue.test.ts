import { expect, test } from 'vitest';
import { RetestQueue } from './retest-queue.js';

const NOW = 1_790_000_000_000;

test('suspects: one organization with thousands keeps nobody else waiting', () => {
  const suspects = new RetestQueue();
  for (let n = 0; n < 5_000; n++) suspects.enqueue({ accountId: `hostile-${n}`, orgId: 'hostile' }, NOW);
  suspects.enqueue({ accountId: 'other-0', orgId: 'other' }, NOW);
  suspects.enqueue({ accountId: 'other-1', orgId: 'other' }, NOW);
  expect(suspects.dequeue(3, 50).map(({ accountId }) => accountId)).toEqual(['hostile-0', 'other-0', 'hostile-1']);
  expect(suspects.dequeue(1, 50)).toEqual([{ accountId: 'other-1', orgId: 'other' }]);
  expect(suspects.dequeue(5_000, 4)).toHaveLength(4); // of a turn, in which it may keep the others waiting
  expect(suspects.dequeue(5_000, 50)).toHaveLength(44);
  expect(suspects.dequeue(1, 50)).toEqual([]);
});

test('suspects: none more often than once a minute, nor what accounts share', () => {
  const suspects = new RetestQueue();
  const one = { accountId: 'a', orgId: 'o' };
  suspects.enqueue(one, NOW);
  suspects.enqueue(one, NOW + 59_999);
  expect(suspects.dequeue(9, 50)).toEqual([one]);
  suspects.enqueue(one, NOW + 60_000);
  expect(suspects.dequeue(9, 50)).toEqual([one]);
  expect([NOW, NOW + 59_999, NOW + 60_000].map((ms) => suspects.tryMark('shared', ms))).toEqual([true, false, true]);
});

test('suspects: what is remembered has a bound', () => {
  const suspects = new RetestQueue();
  for (let n = 0; n <= 20_000; n++) expect(suspects.tryMark(`id-${n}`, NOW)).toBe(true);
  expect([suspects.tryMark('id-1', NOW), suspects.tryMark('id-0', NOW)]).toEqual([false, true]);
});

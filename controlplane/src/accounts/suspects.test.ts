import { expect, test } from 'vitest';
import { Suspects } from './suspects.js';

const NOW = 1_790_000_000_000;

test('suspects: one organization with thousands keeps nobody else waiting', () => {
  const suspects = new Suspects();
  for (let n = 0; n < 5_000; n++) suspects.add({ accountId: `hostile-${n}`, orgId: 'hostile' }, NOW);
  suspects.add({ accountId: 'other-0', orgId: 'other' }, NOW);
  suspects.add({ accountId: 'other-1', orgId: 'other' }, NOW);
  expect(suspects.take(3, 50).map(({ accountId }) => accountId)).toEqual(['hostile-0', 'other-0', 'hostile-1']);
  expect(suspects.take(1, 50)).toEqual([{ accountId: 'other-1', orgId: 'other' }]);
  expect(suspects.take(5_000, 4)).toHaveLength(4); // of a turn, in which it may keep the others waiting
  expect(suspects.take(5_000, 50)).toHaveLength(44);
  expect(suspects.take(1, 50)).toEqual([]);
});

test('suspects: none more often than once a minute, nor what accounts share', () => {
  const suspects = new Suspects();
  const one = { accountId: 'a', orgId: 'o' };
  suspects.add(one, NOW);
  suspects.add(one, NOW + 59_999);
  expect(suspects.take(9, 50)).toEqual([one]);
  suspects.add(one, NOW + 60_000);
  expect(suspects.take(9, 50)).toEqual([one]);
  expect([NOW, NOW + 59_999, NOW + 60_000].map((ms) => suspects.mark('shared', ms))).toEqual([true, false, true]);
});

test('suspects: what is remembered has a bound', () => {
  const suspects = new Suspects();
  for (let n = 0; n <= 20_000; n++) expect(suspects.mark(`id-${n}`, NOW)).toBe(true);
  expect([suspects.mark('id-1', NOW), suspects.mark('id-0', NOW)]).toEqual([false, true]);
});

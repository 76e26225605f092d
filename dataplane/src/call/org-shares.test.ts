import { expect, test } from 'vitest';
import { OrgShares, type ShareHolder } from './org-shares.js';

function scene(perOrg = 25, max = 100) {
  const shares = new OrgShares(perOrg, max);
  const live: ShareHolder[] = [];
  const take = (orgId: string): boolean => {
    const x: ShareHolder = { share: null };
    if (!shares.take(x, orgId, live.length + 1)) return false;
    live.push(x);
    return true;
  };
  const times = (count: number, orgId: string): number =>
    Array.from({ length: count }, () => take(orgId)).filter(Boolean).length;
  const give = (count: number): void => {
    for (const x of live.splice(0, count)) shares.give(x);
  };
  return { times, give };
}

test('shares: one organization alone gets half of the places, its share does not bind before', () => {
  expect(scene().times(100, 'a')).toBe(50);
});

test('shares: above half each gets its share, and whoever holds more gets no further one', () => {
  const { times, give } = scene();
  expect(times(100, 'a')).toBe(50);
  expect(times(100, 'b')).toBe(25);
  expect(times(10, 'c')).toBe(10);
  give(40); // of a
  expect(times(100, 'a')).toBe(15);
});

test('shares: a place given back twice counts once', () => {
  const shares = new OrgShares(1, 1);
  const [x, y]: [ShareHolder, ShareHolder] = [{ share: null }, { share: null }];
  expect(shares.take(x, 'a', 1)).toBe(true);
  expect(shares.take(y, 'a', 2)).toBe(false);
  shares.give(x);
  shares.give(x);
  shares.give(y);
  expect(shares.take(y, 'a', 1)).toBe(true);
  expect(shares.take(x, 'a', 2)).toBe(false);
});

import { expect, test } from 'vitest';
import { Shares } from './shares.js';

/** Each organization in turn takes what it may, until nobody may take any more. */
function fill(shares: Shares, orgs: number): number[] {
  const held = new Array<number>(orgs).fill(0);
  for (let moved = true; moved; ) {
    moved = false;
    for (let i = 0; i < orgs; i++) {
      const room = shares.rooms().find(({ orgId }) => orgId === `${i}`)?.room ?? shares.room;
      if (room === 0) continue;
      shares.started(`${i}`);
      held[i]!++;
      moved = true;
    }
  }
  return held;
}

test.each([1, 2, 3, 4, 10, 50])(
  'shares: %i organizations that hold all they can leave slots to the next one',
  (orgs) => {
    const shares = new Shares(256);
    const held = fill(shares, orgs);
    expect(shares.room).toBeGreaterThan(0);
    expect(shares.free).toBeGreaterThan(0);
    expect(Math.max(...held)).toBeLessThanOrEqual(orgs === 1 ? 128 : 85);
  },
);

test('shares: alone an organization gets half of the slots, and at most a quarter while others have the rest', () => {
  const shares = new Shares(256);
  expect(fill(shares, 1)).toEqual([128]);
  for (let i = 0; i < 10; i++) shares.started('other');
  expect(shares.rooms().find(({ orgId }) => orgId === '0')!.room).toBe(0);
  for (let i = 0; i < 70; i++) shares.finished('0');
  const busy = new Shares(256);
  for (let i = 0; i < 60; i++) busy.started('a');
  for (let i = 0; i < 40; i++) busy.started('b');
  for (let i = 0; i < 30; i++) busy.started('c');
  expect(busy.rooms()).toEqual([
    { orgId: 'a', room: 4 },
    { orgId: 'b', room: 24 },
    { orgId: 'c', room: 34 },
  ]);
});

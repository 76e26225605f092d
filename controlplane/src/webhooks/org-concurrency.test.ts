import { expect, test } from 'vitest';
import { OrgConcurrency } from './org-concurrency.js';

/** Lets each organization in turn acquire its slots until none may acquire more. */
function fill(shares: OrgConcurrency, orgs: number): number[] {
  const held = new Array<number>(orgs).fill(0);
  for (let moved = true; moved; ) {
    moved = false;
    for (let i = 0; i < orgs; i++) {
      const room =
        shares.slotsOfRunningOrgs().find(({ orgId }) => orgId === `${i}`)?.freeSlots ?? shares.slotsOfIdleOrg;
      if (room === 0) continue;
      shares.onStarted(`${i}`);
      held[i]!++;
      moved = true;
    }
  }
  return held;
}

test.each([1, 2, 3, 4, 10, 50])(
  'org concurrency: %i organizations with all their slots leave slots to the next organization',
  (orgs) => {
    const shares = new OrgConcurrency(256);
    const held = fill(shares, orgs);
    expect(shares.slotsOfIdleOrg).toBeGreaterThan(0);
    expect(shares.free).toBeGreaterThan(0);
    expect(Math.max(...held)).toBeLessThanOrEqual(orgs === 1 ? 128 : 85);
  },
);

test('org concurrency: alone an organization gets half of the slots, and at most a quarter while others have the rest', () => {
  const shares = new OrgConcurrency(256);
  expect(fill(shares, 1)).toEqual([128]);
  for (let i = 0; i < 10; i++) shares.onStarted('other');
  expect(shares.slotsOfRunningOrgs().find(({ orgId }) => orgId === '0')!.freeSlots).toBe(0);
  for (let i = 0; i < 70; i++) shares.onFinished('0');
  const busy = new OrgConcurrency(256);
  for (let i = 0; i < 60; i++) busy.onStarted('a');
  for (let i = 0; i < 40; i++) busy.onStarted('b');
  for (let i = 0; i < 30; i++) busy.onStarted('c');
  expect(busy.slotsOfRunningOrgs()).toEqual([
    { orgId: 'a', freeSlots: 4 },
    { orgId: 'b', freeSlots: 24 },
    { orgId: 'c', freeSlots: 34 },
  ]);
});

import { expect, test } from 'vitest';
import { REJECTIONS } from '../rejection/rejections.js';
import { OrgSlots, type SlotHolder } from './org-slots.js';

const holder = (): SlotHolder => ({ slotOrgId: null });

test('org slots: rejects an organization beyond seven eighths, and every organization when none is left', () => {
  const slots = new OrgSlots(16);
  const take = (orgId: string, times: number) => Array.from({ length: times }, () => slots.acquire(holder(), orgId));
  expect(take('a', 14)).toEqual(Array(14).fill(null));
  expect(take('a', 1)).toEqual([REJECTIONS.orgConcurrencyExceeded]);
  expect(take('b', 1)).toEqual([null]);
  expect(take('c', 1)).toEqual([null]);
  expect(take('d', 1)).toEqual([REJECTIONS.overloaded]);
  expect(slots.used).toBe(16);
});

test('org slots: each organization has at most perOrgMax', () => {
  const slots = new OrgSlots(10_000, 25);
  const outcomes = Array.from({ length: 30 }, () => slots.acquire(holder(), 'a'));
  expect(outcomes.filter((rejection) => rejection === null).length).toBe(25);
});

test('org slots: slots that calls of unknown organizations use are not free', () => {
  const slots = new OrgSlots(16);
  expect(slots.acquire(holder(), 'a', 1)).toBeNull();
  expect(slots.acquire(holder(), 'a', 0)).toBe(REJECTIONS.overloaded);
});

test('org slots: a slot is released once, and only by its holder', () => {
  const slots = new OrgSlots(1);
  const [has, hasNone] = [holder(), holder()];
  expect(slots.acquire(has, 'a')).toBeNull();
  expect(slots.acquire(hasNone, 'a')).toBe(REJECTIONS.overloaded);
  slots.release(hasNone);
  expect(slots.used).toBe(1);
  slots.release(has);
  slots.release(has);
  expect(slots.used).toBe(0);
  expect(slots.acquire(hasNone, 'a')).toBeNull();
});

import { expect, test } from 'vitest';
import type { ShareHolder } from './org-shares.js';
import { REJECTIONS } from './rejections.js';
import { WebSocketPlaces } from './websocket-places.js';

const holder = (): ShareHolder => ({ share: null });

test('places: one organization gets all but an 8th; then it is refused, and when none is left everybody is', () => {
  const places = new WebSocketPlaces(16);
  const take = (orgId: string, times: number) => Array.from({ length: times }, () => places.take(holder(), orgId));
  expect(take('a', 14)).toEqual(Array(14).fill(null));
  expect(take('a', 1)).toEqual([REJECTIONS.orgInflight]);
  expect(take('b', 1)).toEqual([null]);
  expect(take('c', 1)).toEqual([null]);
  expect(take('d', 1)).toEqual([REJECTIONS.overloaded]);
  expect(places.taken).toBe(16);
});

test('places: one is given back once, and only by who has one', () => {
  const places = new WebSocketPlaces(1);
  const [has, hasNone] = [holder(), holder()];
  expect(places.take(has, 'a')).toBeNull();
  expect(places.take(hasNone, 'a')).toBe(REJECTIONS.overloaded);
  places.give(hasNone);
  expect(places.taken).toBe(1);
  places.give(has);
  places.give(has);
  expect(places.taken).toBe(0);
  expect(places.take(hasNone, 'a')).toBeNull();
});

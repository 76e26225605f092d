import { expect, test } from 'vitest';
import { REJECTIONS } from '../rejection/rejections.js';
import type { SlotHolder } from './org-concurrency-limiter.js';
import { WebSocketLimiter } from './websocket-limiter.js';

const holder = (): SlotHolder => ({ slot: null });

test('WebSocket slots: rejects an organization beyond seven eighths, and every organization when none is left', () => {
  const places = new WebSocketLimiter(16);
  const take = (orgId: string, times: number) => Array.from({ length: times }, () => places.acquire(holder(), orgId));
  expect(take('a', 14)).toEqual(Array(14).fill(null));
  expect(take('a', 1)).toEqual([REJECTIONS.orgConcurrencyExceeded]);
  expect(take('b', 1)).toEqual([null]);
  expect(take('c', 1)).toEqual([null]);
  expect(take('d', 1)).toEqual([REJECTIONS.overloaded]);
  expect(places.slotsUsed).toBe(16);
});

test('WebSocket slots: a slot is released once, and only by its holder', () => {
  const places = new WebSocketLimiter(1);
  const [has, hasNone] = [holder(), holder()];
  expect(places.acquire(has, 'a')).toBeNull();
  expect(places.acquire(hasNone, 'a')).toBe(REJECTIONS.overloaded);
  places.release(hasNone);
  expect(places.slotsUsed).toBe(1);
  places.release(has);
  places.release(has);
  expect(places.slotsUsed).toBe(0);
  expect(places.acquire(hasNone, 'a')).toBeNull();
});

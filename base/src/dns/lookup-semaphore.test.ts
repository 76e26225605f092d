import { expect, test } from 'vitest';
import { LookupSemaphore } from './lookup-semaphore.js';

test('lookups: so many of a tenant wait, and the next is turned away; each that ends lets one in', async () => {
  const slots = new LookupSemaphore(1, 2, 60_000);
  expect(await slots.acquire('a')).toBe(true);
  const waiting = [slots.acquire('a'), slots.acquire('a')];
  expect(await slots.acquire('a')).toBe(false);
  expect(await slots.acquire('b')).toBe(true);
  slots.release('a');
  expect(await waiting[0]).toBe(true);
  slots.release('a');
  expect(await waiting[1]).toBe(true);
});

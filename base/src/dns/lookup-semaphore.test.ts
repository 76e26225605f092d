import { expect, test } from 'vitest';
import { LookupSemaphore } from './lookup-semaphore.js';

test('lookup semaphore: queues up to the limit, rejects the next, and each release starts one', async () => {
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

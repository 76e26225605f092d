import { expect, test } from 'vitest';
import { LookupSlots } from './lookup-slots.js';

test('lookups: so many of a tenant wait, and the next is turned away; each that ends lets one in', async () => {
  const slots = new LookupSlots(1, 2, 60_000);
  expect(await slots.take('a')).toBe(true);
  const waiting = [slots.take('a'), slots.take('a')];
  expect(await slots.take('a')).toBe(false);
  expect(await slots.take('b')).toBe(true);
  slots.give('a');
  expect(await waiting[0]).toBe(true);
  slots.give('a');
  expect(await waiting[1]).toBe(true);
});

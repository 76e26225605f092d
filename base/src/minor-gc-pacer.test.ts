import { expect, test } from 'vitest';
import { createMinorGcTrigger, MinorGcPacer } from './minor-gc-pacer.js';

test('chunk garbage: collects once per 16 MiB of big chunks, in a later turn, and never for small ones', async () => {
  let collections = 0;
  const garbage = new MinorGcPacer(() => void collections++);
  for (let i = 0; i < 100_000; i++) garbage.onBytesAllocated(4_000);
  for (let i = 0; i < 255; i++) garbage.onBytesAllocated(65_536);
  await new Promise(setImmediate);
  expect(collections).toBe(0);
  for (let i = 0; i < 10; i++) garbage.onBytesAllocated(65_536);
  expect(collections).toBe(0);
  await new Promise(setImmediate);
  expect(collections).toBe(1);
});

test('chunk garbage: the collector of this runtime can be called', () => {
  expect(() => createMinorGcTrigger()()).not.toThrow();
});

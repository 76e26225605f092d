import { expect, test } from 'vitest';
import { createMinorGcTrigger, MinorGcPacer } from './minor-gc-by-buffer-bytes.js';

test('minor-GC pacer: collects once per 16 MiB of large chunks, asynchronously, and never for small chunks', async () => {
  let collections = 0;
  const pacer = new MinorGcPacer(() => void collections++);
  for (let i = 0; i < 100_000; i++) pacer.onBytesAllocated(4_000);
  for (let i = 0; i < 255; i++) pacer.onBytesAllocated(65_536);
  await new Promise(setImmediate);
  expect(collections).toBe(0);
  for (let i = 0; i < 10; i++) pacer.onBytesAllocated(65_536);
  expect(collections).toBe(0);
  await new Promise(setImmediate);
  expect(collections).toBe(1);
});

test('minor-GC pacer: the trigger works in this runtime', () => {
  expect(() => createMinorGcTrigger()()).not.toThrow();
});

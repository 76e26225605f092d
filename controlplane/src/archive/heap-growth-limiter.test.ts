import { expect, test } from 'vitest';
import { HeapGrowthLimiter } from './heap-growth-limiter.js';

const MIB = 1_048_576;

test('collects after each growth by 32 MiB since the last collection', () => {
  let used = 100 * MIB;
  let collections = 0;
  const limiter = new HeapGrowthLimiter(
    () => {
      collections++;
      used = 110 * MIB;
    },
    () => used,
  );
  const grow = (mib: number): number => {
    used += mib * MIB;
    limiter.collectIfGrown();
    return collections;
  };
  expect([grow(31), grow(1)]).toEqual([0, 1]);
  expect([grow(31), grow(1)]).toEqual([1, 2]);
  used = 60 * MIB; // V8 collected more by itself
  limiter.collectIfGrown();
  expect([grow(31), grow(1)]).toEqual([2, 3]);
});

test('the collection of this runtime frees old objects', async () => {
  let used = 0;
  const limiter = new HeapGrowthLimiter(undefined, () => (used += 100 * MIB));
  let object: object | null = {};
  const reference = new WeakRef(object);
  // What has survived two collections is old: a collection of new objects only does not free it.
  limiter.collectIfGrown();
  limiter.collectIfGrown();
  object = null;
  await new Promise(setImmediate); // WeakRef keeps its target until the end of the turn
  limiter.collectIfGrown();
  expect(reference.deref()).toBeUndefined();
});

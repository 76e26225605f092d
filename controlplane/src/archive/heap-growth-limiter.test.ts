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

test('the collection of this runtime frees old objects', () => {
  const limiter = new HeapGrowthLimiter();
  const full = leaveGarbage();
  limiter.collectIfGrown();
  expect(process.memoryUsage().heapUsed).toBeLessThan(full - 32 * MIB);
});

/** Returns the used heap, in bytes. A function of its own, so that no variable keeps the objects. */
function leaveGarbage(): number {
  const objects = Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
  return objects.length > 0 ? process.memoryUsage().heapUsed : 0;
}

import { expect, test } from 'vitest';
import { checkMemoryGrowth, MAX_BYTES_PER_CALL } from './memory-growth.js';

const figures = (bytesPerCall: number) => [
  { name: 'data-1', calls: 1_000, grownBytes: 1_000 * bytesPerCall, liveBytes: 50_000_000 },
];

test('held: a little more, or less than before, is sound', () => {
  expect(checkMemoryGrowth(figures(MAX_BYTES_PER_CALL))).toEqual([]);
  expect(checkMemoryGrowth(figures(-1_000))).toEqual([]);
});

test('held: a kilobyte a call is a leak', () => {
  expect(checkMemoryGrowth(figures(1_024))).toEqual([expect.stringContaining('data-1: 1024000 bytes more')]);
});

import { expect, test } from 'vitest';
import { checkMemoryGrowth, MAX_BYTES_PER_CALL } from './memory-growth.js';

const growths = (bytesPerCall: number) => [
  { name: 'data-1', calls: 1_000, grownBytes: 1_000 * bytesPerCall, liveBytes: 50_000_000 },
];

test('memory growth: accepts a little more or less than before', () => {
  expect(checkMemoryGrowth(growths(MAX_BYTES_PER_CALL))).toEqual([]);
  expect(checkMemoryGrowth(growths(-1_000))).toEqual([]);
});

test('memory growth: reports a kilobyte per call as a leak', () => {
  expect(checkMemoryGrowth(growths(1_024))).toEqual([expect.stringContaining('data-1: 1024000 bytes more')]);
});

import { expect, test } from 'vitest';
import { checkLiveHeapGrowth, MAX_BYTES_PER_CALL } from './live-heap-growth-per-call.js';

const growths = (bytesPerCall: number) => [
  { name: 'data-1', calls: 1_000, grownBytes: 1_000 * bytesPerCall, liveBytes: 50_000_000 },
];

test('memory growth: accepts a little more or less than before', () => {
  expect(checkLiveHeapGrowth(growths(MAX_BYTES_PER_CALL))).toEqual([]);
  expect(checkLiveHeapGrowth(growths(-1_000))).toEqual([]);
});

test('memory growth: reports a kilobyte per call as a leak', () => {
  expect(checkLiveHeapGrowth(growths(1_024))).toEqual([expect.stringContaining('data-1: 1024000 bytes more')]);
});

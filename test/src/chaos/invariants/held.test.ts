import { expect, test } from 'vitest';
import { BYTES_PER_CALL_MAX, nothingHeldPerCall } from './held.js';

const figures = (bytesPerCall: number) => [
  { name: 'data-1', calls: 1_000, grownBytes: 1_000 * bytesPerCall, heldBytes: 50_000_000 },
];

test('held: a little more, or less than before, is sound', () => {
  expect(nothingHeldPerCall(figures(BYTES_PER_CALL_MAX))).toEqual([]);
  expect(nothingHeldPerCall(figures(-1_000))).toEqual([]);
});

test('held: a kilobyte a call is a leak', () => {
  expect(nothingHeldPerCall(figures(1_024))).toEqual([expect.stringContaining('data-1: 1024000 bytes more')]);
});

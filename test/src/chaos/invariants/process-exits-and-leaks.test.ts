import { expect, test } from 'vitest';
import { checkProcesses, MAX_GROWTH_BYTES, MAX_NEW_DESCRIPTORS } from './process-exits-and-leaks.js';

const BEFORE = { residentBytes: 100_000_000, descriptors: 40 };
const grown = (bytes: number, descriptors: number) => ({
  name: 'data-1',
  before: BEFORE,
  after: { residentBytes: BEFORE.residentBytes + bytes, descriptors: BEFORE.descriptors + descriptors },
});

test('process usage: accepts about as much as before', () => {
  expect(checkProcesses([grown(0, 0), grown(MAX_GROWTH_BYTES, MAX_NEW_DESCRIPTORS), grown(-1e6, -5)], [])).toEqual([]);
});

test.each([
  ['memory', [grown(2 * MAX_GROWTH_BYTES, 0)], [], /data-1: 192 MiB more/],
  ['file descriptors', [grown(0, MAX_NEW_DESCRIPTORS + 1)], [], /data-1: 25 file descriptors more/],
  ['an unexpected exit', [], ['data-2 (SIGSEGV)'], /exited unexpectedly: data-2/],
])('process usage: reports %s', (_name, figures, ends, expected) => {
  expect(checkProcesses(figures, ends)).toEqual([expect.stringMatching(expected)]);
});

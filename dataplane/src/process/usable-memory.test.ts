import { expect, test } from 'vitest';
import { usableMemoryBytes } from './usable-memory.js';

const GIB = 2 ** 30;

test.each([
  ['no container', undefined, 8 * GIB],
  ['a container without a limit, by one kernel', 0, 8 * GIB],
  ['a container without a limit, by another', 2 ** 64, 8 * GIB],
  ['a container with one', 2 * GIB, 2 * GIB],
  ['a container that may have more than there is', 16 * GIB, 8 * GIB],
])('memory: %s', (_what, container, expected) => {
  expect(usableMemoryBytes(8 * GIB, container)).toBe(expected);
});

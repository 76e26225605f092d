import { expect, test } from 'vitest';
import { isOriginUnreachable, type OriginReachability } from './fleet-breakers.js';

const reach = (connected: number, inContact: number, unreachable: number): OriginReachability => ({
  connected,
  inContact,
  unreachable,
});

test.each([
  ['nobody was in contact', reach(3, 0, 0), false],
  ['all reach it', reach(3, 3, 0), false],
  ['one of two in contact does not', reach(3, 2, 1), false],
  ['the only one in contact does not, and others are connected', reach(3, 1, 1), false],
  ['the only data plane does not', reach(1, 1, 1), true],
  ['both in contact do not', reach(3, 2, 2), true],
  ['all but one do not', reach(9, 9, 8), false],
])('fleet: %s', (_name, seen, unreachable) => {
  expect(isOriginUnreachable(seen)).toBe(unreachable);
});

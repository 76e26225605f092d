import { expect, test } from 'vitest';
import { isOriginUnreachable, type OriginReachability } from './fleet-unreachability-breakers.js';

const reach = (connected: number, inContact: number, unreachable: number): OriginReachability => ({
  connected,
  inContact,
  unreachable,
});

test.each([
  ['stays closed if no data plane was in contact', reach(3, 0, 0), false],
  ['stays closed if all data planes can connect', reach(3, 3, 0), false],
  ['stays closed if one of two data planes cannot connect', reach(3, 2, 1), false],
  ['stays closed if the only one in contact cannot connect, but others exist', reach(3, 1, 1), false],
  ['opens if the only data plane cannot connect', reach(1, 1, 1), true],
  ['opens if both data planes in contact cannot connect', reach(3, 2, 2), true],
  ['stays closed if one of many can connect', reach(9, 9, 8), false],
])('fleet breaker: %s', (_name, seen, unreachable) => {
  expect(isOriginUnreachable(seen)).toBe(unreachable);
});

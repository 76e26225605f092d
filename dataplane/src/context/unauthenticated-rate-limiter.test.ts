import { expect, test } from 'vitest';
import { type ClientBucket, UnauthenticatedRateLimiter } from './unauthenticated-rate-limiter.js';

function scene(perSecond = 20) {
  const clock = { nowMs: 0 };
  const gate = new UnauthenticatedRateLimiter(perSecond, () => clock.nowMs);
  /** Asks and hears the answer; true: it was asked. */
  const once = (address: string, unknown: boolean): boolean => {
    const asker = gate.startLookup(address);
    if (typeof asker === 'number') return false;
    gate.finishLookup(asker, unknown);
    return true;
  };
  const times = (count: number, address: string, unknown: boolean): number =>
    Array.from({ length: count }, () => once(address, unknown)).filter(Boolean).length;
  return { clock, gate, once, times };
}

test('unknown tokens: tokens that exist are asked about without bound', () => {
  expect(scene().times(10_000, '192.0.2.1', false)).toBe(10_000);
});

test('unknown tokens: ten seconds’ worth at once, then so many a second, and each address on its own', () => {
  const { clock, gate, times } = scene();
  expect(times(1_000, '192.0.2.1', true)).toBe(200);
  expect(gate.startLookup('192.0.2.1')).toBe(1);
  expect(times(10, '192.0.2.2', true)).toBe(10);
  clock.nowMs += 1_000;
  expect(times(1_000, '192.0.2.1', true)).toBe(20);
  clock.nowMs += 3_600_000;
  expect(times(1_000, '192.0.2.1', true)).toBe(200);
});

test('unknown tokens: IPv4 clients of a listener on :: have an allowance each', () => {
  const { times } = scene();
  expect(times(1_000, '0000:0000:0000:0000:0000:ffff:c000:0201', true)).toBe(200);
  expect(times(10, '0000:0000:0000:0000:0000:ffff:c000:0202', true)).toBe(10);
  expect(times(10, '::ffff:192.0.2.1', true)).toBe(0);
});

test('unknown tokens: what an address had under way together counts altogether', () => {
  const { gate, once, clock } = scene();
  const asked = Array.from({ length: 500 }, () => gate.startLookup('192.0.2.1')).filter(
    (a): a is ClientBucket => typeof a !== 'number',
  );
  expect(asked.length).toBe(500); // nothing is known against it yet: a fleet behind one address starts like this
  for (const asker of asked) gate.finishLookup(asker, true);
  expect(gate.startLookup('192.0.2.1')).toBe(11); // 200 too many, paid off at 20 a second
  clock.nowMs += 10_500;
  expect(once('192.0.2.1', true)).toBe(true);
});

test('unknown tokens: whoever asked about one lately has no more under way than its allowance', () => {
  const { gate, once } = scene();
  once('192.0.2.1', true);
  const asked = Array.from({ length: 500 }, () => gate.startLookup('192.0.2.1')).filter(
    (asker) => typeof asker !== 'number',
  );
  expect(asked.length).toBe(199);
});

test('unknown tokens: an IPv6 host is its /64', () => {
  const { times } = scene(1);
  expect(times(10, '2001:db8:1:2::1', true)).toBe(10);
  expect(times(10, '2001:db8:1:2:ffff::2', true)).toBe(0);
  expect(times(10, '2001:db8:1:3::1', true)).toBe(10);
  expect(times(10, '2001:db8::1', true)).toBe(10);
});

test('flood: ten seconds’ worth of refusals are answered at once, further ones of that address alone are a flood', () => {
  const { clock, gate, times } = scene();
  const refused = (count: number, address: string): number =>
    Array.from({ length: count }, () => gate.isOverRejectionLimit(address)).filter((flood) => !flood).length;
  expect(refused(1_000, '192.0.2.1')).toBe(200);
  expect(refused(10, '192.0.2.2')).toBe(10);
  clock.nowMs += 1_000;
  expect(refused(1_000, '192.0.2.1')).toBe(20);
  expect(times(1_000, '192.0.2.1', true)).toBe(200); // questions are another matter
});

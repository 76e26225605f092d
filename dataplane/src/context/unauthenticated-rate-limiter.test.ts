import { expect, test } from 'vitest';
import { type ClientBucket, UnauthenticatedRateLimiter } from './unauthenticated-rate-limiter.js';

function scene(perSecond = 20) {
  const clock = { nowMs: 0 };
  const gate = new UnauthenticatedRateLimiter(perSecond, () => clock.nowMs);
  /** Runs one lookup; true: it was allowed. */
  const once = (address: string, unknown: boolean): boolean => {
    const bucket = gate.startLookup(address);
    if (typeof bucket === 'number') return false;
    gate.finishLookup(bucket, unknown);
    return true;
  };
  const times = (count: number, address: string, unknown: boolean): number =>
    Array.from({ length: count }, () => once(address, unknown)).filter(Boolean).length;
  return { clock, gate, once, times };
}

test('unauthenticated limit: lookups of existing tokens are unlimited', () => {
  expect(scene().times(10_000, '192.0.2.1', false)).toBe(10_000);
});

test('unauthenticated limit: each address has a burst of ten seconds, then its rate per second', () => {
  const { clock, gate, times } = scene();
  expect(times(1_000, '192.0.2.1', true)).toBe(200);
  expect(gate.startLookup('192.0.2.1')).toBe(1);
  expect(times(10, '192.0.2.2', true)).toBe(10);
  clock.nowMs += 1_000;
  expect(times(1_000, '192.0.2.1', true)).toBe(20);
  clock.nowMs += 3_600_000;
  expect(times(1_000, '192.0.2.1', true)).toBe(200);
});

test('unauthenticated limit: IPv4 clients of a listener on :: have a bucket each', () => {
  const { times } = scene();
  expect(times(1_000, '0000:0000:0000:0000:0000:ffff:c000:0201', true)).toBe(200);
  expect(times(10, '0000:0000:0000:0000:0000:ffff:c000:0202', true)).toBe(10);
  expect(times(10, '::ffff:192.0.2.1', true)).toBe(0);
});

test('unauthenticated limit: all lookups that were in flight together are counted', () => {
  const { gate, once, clock } = scene();
  const asked = Array.from({ length: 500 }, () => gate.startLookup('192.0.2.1')).filter(
    (a): a is ClientBucket => typeof a !== 'number',
  );
  expect(asked.length).toBe(500); // no unknown token was seen yet: a fleet behind one address starts like this
  for (const asker of asked) gate.finishLookup(asker, true);
  expect(gate.startLookup('192.0.2.1')).toBe(11); // 200 too many, refilled at 20 a second
  clock.nowMs += 10_500;
  expect(once('192.0.2.1', true)).toBe(true);
});

test('unauthenticated limit: after an unknown token, lookups in flight count against the bucket', () => {
  const { gate, once } = scene();
  once('192.0.2.1', true);
  const asked = Array.from({ length: 500 }, () => gate.startLookup('192.0.2.1')).filter(
    (asker) => typeof asker !== 'number',
  );
  expect(asked.length).toBe(199);
});

test('unauthenticated limit: an IPv6 client is its /64', () => {
  const { times } = scene(1);
  expect(times(10, '2001:db8:1:2::1', true)).toBe(10);
  expect(times(10, '2001:db8:1:2:ffff::2', true)).toBe(0);
  expect(times(10, '2001:db8:1:3::1', true)).toBe(10);
  expect(times(10, '2001:db8::1', true)).toBe(10);
});

test('rejection limit: rejections beyond a burst of ten seconds are over the limit, for that address only', () => {
  const { clock, gate, times } = scene();
  const refused = (count: number, address: string): number =>
    Array.from({ length: count }, () => gate.isOverRejectionLimit(address)).filter((flood) => !flood).length;
  expect(refused(1_000, '192.0.2.1')).toBe(200);
  expect(refused(10, '192.0.2.2')).toBe(10);
  clock.nowMs += 1_000;
  expect(refused(1_000, '192.0.2.1')).toBe(20);
  expect(times(1_000, '192.0.2.1', true)).toBe(200); // lookups are counted separately
});

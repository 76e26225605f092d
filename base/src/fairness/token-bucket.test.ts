import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.js';

test('bucket: a burst of one capacity, then the rate, and full again after capacity ÷ rate', () => {
  const bucket = new TokenBucket({ capacity: 200, perSecond: 20 }, 0);
  const takeAll = (nowMs: number): number =>
    Array.from({ length: 1_000 }, () => bucket.tryTake(1, nowMs)).filter(Boolean).length;
  expect([takeAll(0), bucket.waitMs(1, 0), takeAll(1_000), takeAll(11_000), takeAll(3_600_000)]).toEqual([
    200, 50, 20, 200, 200,
  ]);
});

test('bucket: equals the model that refills in single milliseconds, and is overdrawn by at most one capacity', () => {
  const steps = fc.array(fc.record({ afterMs: fc.nat(50), tokens: fc.nat(15), isForced: fc.boolean() }), {
    maxLength: 50,
  });
  // A rate of a power of two times 1 000, so that each millisecond refills a whole number of tokens.
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 2, 4), steps, (capacity, perMs, all) => {
      const bucket = new TokenBucket({ capacity, perSecond: 1_000 * perMs }, 0);
      let nowMs = 0;
      let left = capacity;
      for (const { afterMs, tokens, isForced } of all) {
        nowMs += afterMs;
        for (let ms = 0; ms < afterMs; ms++) left = Math.min(capacity, left + perMs);
        expect(bucket.available(nowMs)).toBeCloseTo(left, 6);
        expect(bucket.waitMs(tokens, nowMs)).toBeCloseTo(Math.max(0, tokens - left) / perMs, 6);
        if (isForced) {
          bucket.take(tokens, nowMs);
          left = Math.max(-capacity, left - tokens);
        } else {
          expect(bucket.tryTake(tokens, nowMs)).toBe(tokens <= left);
          if (tokens <= left) left -= tokens;
        }
      }
    }),
  );
});

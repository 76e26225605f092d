import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sketch } from './sketch.js';

const exact = (sorted: readonly number[], q: number) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
const sketchOf = (values: readonly number[]) => {
  const sketch = new Sketch();
  for (const value of values) sketch.add(value);
  return sketch;
};

test('sketch: quantiles are within 2 % of the exact ones, for any durations', () => {
  const durations = fc.array(
    fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(4_000_000), fc.integer({ min: 0, max: 4_294_967_295 })),
    { minLength: 1, maxLength: 500 },
  );
  fc.assert(
    fc.property(durations, fc.constantFrom(0.01, 0.5, 0.9, 0.95, 0.99, 1), (values, q) => {
      const truth = exact(
        [...values].sort((a, b) => a - b),
        q,
      );
      expect(Math.abs(sketchOf(values).quantile(q) - truth)).toBeLessThanOrEqual(truth <= 100 ? 0 : truth * 0.02);
    }),
  );
});

test('sketch: however durations are split, the stored parts put together say the same', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000_000), { maxLength: 200 }), fc.nat(200), (values, at) => {
      const parts = Buffer.concat([sketchOf(values.slice(0, at)).encode(), sketchOf(values.slice(at)).encode()]);
      expect(Sketch.decode(parts).encode()).toEqual(sketchOf(values).encode());
      expect(Sketch.decode(parts).total).toBe(values.length);
    }),
  );
});

test('sketch: counts beyond one pair survive', () => {
  const sketch = new Sketch();
  for (let i = 0; i < 200_000; i++) sketch.add(7);
  expect(sketch.encode()).toHaveLength(4 * 4);
  expect(Sketch.decode(sketch.encode()).total).toBe(200_000);
});

test('sketch: empty says 0; what one hour can hold stays small', () => {
  expect(new Sketch().quantile(0.5)).toBe(0);
  const sketch = new Sketch();
  for (let ms = 0; ms <= 3_600_000; ms += 13) sketch.add(ms);
  expect(sketch.encode().length).toBeLessThan(2_400);
});

test('sketch: statuses are counted beside durations and change nothing about them', () => {
  const sketch = sketchOf([10, 20, 30]);
  for (const status of [200, 200, 0, 999]) sketch.addStatus(status);
  const parts = Sketch.decode(Buffer.concat([sketch.encode(), sketch.encode()]));
  expect([...parts.statuses()].sort(([a], [b]) => a - b)).toEqual([
    [0, 2],
    [200, 4],
    [999, 2],
  ]);
  expect([parts.total, parts.quantile(0.5), parts.quantile(1)]).toEqual([6, 20, 30]);
  expect([...sketchOf([4_294_967_295]).statuses()]).toEqual([]); // the longest duration is no status
});

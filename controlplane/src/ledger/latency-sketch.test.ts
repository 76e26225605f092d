import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatencySketch } from './latency-sketch.js';

const exactQuantile = (sorted: readonly number[], q: number) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
const sketchOf = (values: readonly number[]) => {
  const sketch = new LatencySketch();
  for (const value of values) sketch.addLatency(value);
  return sketch;
};

test('quantiles are within 2 % of the exact ones for any durations', () => {
  const durations = fc.array(
    fc.oneof(fc.nat(50), fc.nat(5_000), fc.nat(4_000_000), fc.integer({ min: 0, max: 4_294_967_295 })),
    { minLength: 1, maxLength: 500 },
  );
  fc.assert(
    fc.property(durations, fc.constantFrom(0.01, 0.5, 0.9, 0.95, 0.99, 1), (values, q) => {
      const truth = exactQuantile(
        [...values].sort((a, b) => a - b),
        q,
      );
      expect(Math.abs(sketchOf(values).quantile(q) - truth)).toBeLessThanOrEqual(truth <= 100 ? 0 : truth * 0.02);
    }),
  );
});

test('concatenated sketches equal one sketch of all durations, for any split', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000_000), { maxLength: 200 }), fc.nat(200), (values, at) => {
      const parts = Buffer.concat([sketchOf(values.slice(0, at)).encode(), sketchOf(values.slice(at)).encode()]);
      expect(LatencySketch.decode(parts).encode()).toEqual(sketchOf(values).encode());
      expect(LatencySketch.decode(parts).total).toBe(values.length);
    }),
  );
});

test('a count larger than one pair can hold survives encoding', () => {
  const sketch = new LatencySketch();
  for (let i = 0; i < 200_000; i++) sketch.addLatency(7);
  expect(sketch.encode()).toHaveLength(4 * 4);
  expect(LatencySketch.decode(sketch.encode()).total).toBe(200_000);
});

test('an empty sketch returns 0, and a sketch of one hour stays below 2,400 bytes', () => {
  expect(new LatencySketch().quantile(0.5)).toBe(0);
  const sketch = new LatencySketch();
  for (let ms = 0; ms <= 3_600_000; ms += 13) sketch.addLatency(ms);
  expect(sketch.encode().length).toBeLessThan(2_400);
});

test('statuses are counted separately and do not change quantiles', () => {
  const sketch = sketchOf([10, 20, 30]);
  for (const status of [200, 200, 0, 999]) sketch.addStatus(status);
  const parts = LatencySketch.decode(Buffer.concat([sketch.encode(), sketch.encode()]));
  expect([...parts.statusCounts()].sort(([a], [b]) => a - b)).toEqual([
    [0, 2],
    [200, 4],
    [999, 2],
  ]);
  expect([parts.total, parts.quantile(0.5), parts.quantile(1)]).toEqual([6, 20, 30]);
  expect([...sketchOf([4_294_967_295]).statusCounts()]).toEqual([]); // the longest duration is no status
});

test('decoding many concatenated sketches equals merging them one by one, also when repeated', () => {
  const values = Array.from({ length: 20_000 }, (_, i) => (i * 7_919) % 90_000);
  const parts = Array.from({ length: 400 }, (_, i) => {
    const part = sketchOf(values.slice(50 * i, 50 * i + 50));
    for (let n = 0; n < 7; n++) part.addStatus([200, 429, 999][(i + n) % 3]!);
    return part.encode();
  });
  const one = LatencySketch.decode(new Uint8Array(0));
  for (const part of parts) one.merge(part);
  const run = Buffer.concat([...parts, Buffer.from([1, 2, 3])]); // an incomplete pair at the end is ignored
  const text = run.toString('base64').replace(/.{76}/g, '$&\n'); // as Postgres writes it
  for (const sketch of [LatencySketch.decode(run), LatencySketch.fromBase64(text), LatencySketch.decode(run)]) {
    expect(sketch.encode()).toEqual(one.encode());
    expect(sketch.total).toBe(20_000);
    expect([...sketch.statusCounts()].reduce((sum, [, count]) => sum + count, 0)).toBe(2_800);
  }
  expect(LatencySketch.fromBase64('').encode()).toHaveLength(0);
});

test('keeps an unknown bucket in short and in long input', () => {
  const odd = Buffer.from([0xff, 0xfe, 0, 3]);
  for (const times of [1, 1_000]) {
    const sketch = LatencySketch.decode(Buffer.concat(Array.from({ length: times }, () => odd)));
    expect([...sketch.statusCounts()]).toEqual([[0xfffe - 1_024, 3 * times]]);
  }
});

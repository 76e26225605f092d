import { expect, test } from 'vitest';
import { storeAwayIn, united } from './store-away.js';

const T0 = Date.UTC(2026, 0, 1);
const line = (atMs: number, msg: string, pid = 1): string =>
  JSON.stringify({ level: 'info', time: new Date(T0 + atMs).toISOString(), pid, msg });
const AWAY = 'counter store unavailable: requests pass unchecked';
const BACK = 'counter store is back: limits are enforced';
const gap = (from: number, to: number) => ({ from: T0 + from - 2_000, to: T0 + to });
const read = (...lines: string[]) => storeAwayIn(lines.join('\n'), T0 + 99_000);

test('store away: from what is said of it to what is said of its return', () => {
  expect(read(line(0, 'data plane listening'), line(5_000, AWAY), line(8_000, BACK))).toEqual([gap(5_000, 8_000)]);
});

test('store away: until the end where nothing more is said', () => {
  expect(read(line(5_000, AWAY))).toEqual([gap(5_000, 99_000)]);
});

test('store away: a run that ended lets nothing pass, and the next one speaks for itself', () => {
  expect(read(line(5_000, AWAY), line(9_000, 'data plane listening', 2))).toEqual([gap(5_000, 9_000)]);
  expect(read(line(5_000, AWAY), line(9_000, AWAY, 2), line(9_500, 'data plane listening', 2))).toEqual([
    gap(5_000, 9_000),
    gap(9_000, 99_000),
  ]);
});

test('store away: lines that are none, or were cut off, say nothing', () => {
  expect(read('Killed', line(5_000, AWAY).slice(0, 40), '{"pid":1}')).toEqual([]);
});

test('store away: intervals that overlap are one', () => {
  const one = (from: number, to: number) => ({ from, to });
  expect(united([one(10, 20), one(1, 2), one(15, 30), one(12, 14)])).toEqual([one(1, 2), one(10, 30)]);
});

import { expect, test } from 'vitest';
import { mergeIntervals, parseStoreOutages } from './parse-counter-store-outages.js';

const T0 = Date.UTC(2026, 0, 1);
const logLine = (atMs: number, msg: string, pid = 1): string =>
  JSON.stringify({ level: 'info', time: new Date(T0 + atMs).toISOString(), pid, msg });
const OUTAGE_MESSAGE = 'counter store unavailable: requests pass unchecked';
const RECOVERY_MESSAGE = 'counter store is back: limits are enforced';
const outage = (from: number, to: number) => ({ from: T0 + from - 2_000, to: T0 + to });
const parse = (...lines: string[]) => parseStoreOutages(lines.join('\n'), T0 + 99_000);

test('store outages: last from the outage message to the recovery message', () => {
  expect(
    parse(logLine(0, 'data plane listening'), logLine(5_000, OUTAGE_MESSAGE), logLine(8_000, RECOVERY_MESSAGE)),
  ).toEqual([outage(5_000, 8_000)]);
});

test('store outages: last until the end of the run without a recovery message', () => {
  expect(parse(logLine(5_000, OUTAGE_MESSAGE))).toEqual([outage(5_000, 99_000)]);
});

test('store outages: end with the process; its successor logs its own outage', () => {
  expect(parse(logLine(5_000, OUTAGE_MESSAGE), logLine(9_000, 'data plane listening', 2))).toEqual([
    outage(5_000, 9_000),
  ]);
  expect(
    parse(logLine(5_000, OUTAGE_MESSAGE), logLine(9_000, OUTAGE_MESSAGE, 2), logLine(9_500, 'data plane listening', 2)),
  ).toEqual([outage(5_000, 9_000), outage(9_000, 99_000)]);
});

test('store outages: truncated lines and lines that are not JSON are ignored', () => {
  expect(parse('Killed', logLine(5_000, OUTAGE_MESSAGE).slice(0, 40), '{"pid":1}')).toEqual([]);
});

test('store outages: overlapping intervals are merged', () => {
  const one = (from: number, to: number) => ({ from, to });
  expect(mergeIntervals([one(10, 20), one(1, 2), one(15, 30), one(12, 14)])).toEqual([one(1, 2), one(10, 30)]);
});

/** Comparison of booked usage with a provider's report: each cause of a difference by itself and together. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { expect, test } from 'vitest';
import { type BookedLine, type ReconcileInput, reconcile } from './reconcile.js';
import { canonicalModel, matchesRedacted, type ProviderReport, type TokenCounts } from './report/provider-report.js';

const DAY = Date.UTC(2026, 9, 5);
const LABEL = 'sk-abc***xyz';
/** Nano-dollars per token. */
const LIST: TokenCounts = { input: 100, cacheRead: 10, cacheWrite: 125, cacheWrite1h: 200, output: 400 };
const tokens = (calls: number): TokenCounts => ({
  input: 100 * calls,
  cacheRead: 20 * calls,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 50 * calls,
});
const CALL_NANOS = 100 * 100 + 20 * 10 + 50 * 400;

const booked = (calls: number, failed = 0, changes: Partial<BookedLine> = {}): BookedLine => ({
  startMs: DAY,
  keyLabel: LABEL,
  isHeld: true,
  model: 'gpt-5-mini',
  requests: calls,
  failed,
  tokens: tokens(calls),
  nanos: calls * CALL_NANOS,
  ...changes,
});

/** A report of `calls` in the first hour, at `priceFactor` times the list price. */
function reportOf(
  calls: number,
  { priceFactor = 1, requests = calls as number | null, keyId = 'key_1' } = {},
): ProviderReport {
  const cost = (tokenClass: 'input' | 'cacheRead' | 'output', count: number) => ({
    dayMs: DAY,
    model: 'gpt-5-mini-2025-08-07',
    tokenClass,
    nanos: Math.round(count * LIST[tokenClass] * priceFactor),
  });
  const { input, cacheRead, output } = tokens(calls);
  return {
    keys: [{ id: 'key_1', label: LABEL, matches: () => true }],
    usage: [{ startMs: DAY, keyId, model: 'gpt-5-mini-2025-08-07', tokens: tokens(calls), requests, costNanos: null }],
    costs: [cost('input', input), cost('cacheRead', cacheRead), cost('output', output)],
  };
}

const run = (lines: readonly BookedLine[], report: ProviderReport, changes: Partial<ReconcileInput> = {}) =>
  reconcile({
    booked: lines,
    report,
    heldLabels: new Set([LABEL]),
    ambiguousLabels: new Set(),
    listPrices: () => LIST,
    settledBeforeMs: DAY + 3 * DAY_MS,
    ...changes,
  });

test('the same calls at the same price match', () => {
  const { lines, drifts } = run([booked(10)], reportOf(10));
  expect(lines).toMatchObject([
    { state: 'match', ourNanos: 10 * CALL_NANOS, theirNanos: 10 * CALL_NANOS, isHeld: true },
  ]);
  expect(drifts).toEqual([]);
});

test('billed failures are drift, calls of another client are unattributed', () => {
  expect(run([booked(10, 3)], reportOf(12)).lines).toMatchObject([
    { state: 'drift', failureNanos: 2 * CALL_NANOS, unattributedNanos: 0, priceNanos: 0 },
  ]);
  expect(run([booked(10)], reportOf(15)).lines).toMatchObject([
    { state: 'unattributed', failureNanos: 0, unattributedNanos: 5 * CALL_NANOS },
  ]);
  expect(run([booked(10, 2)], reportOf(15)).lines).toMatchObject([
    { state: 'unattributed', failureNanos: 2 * CALL_NANOS, unattributedNanos: 3 * CALL_NANOS },
  ]);
});

test('what exceeds the booked calls of a label that several keys have is ambiguous, failures included', () => {
  const ambiguousLabels = new Set([LABEL]);
  expect(run([booked(10, 2)], reportOf(15), { ambiguousLabels }).lines).toMatchObject([
    { state: 'ambiguous', ambiguousNanos: 5 * CALL_NANOS, failureNanos: 0, unattributedNanos: 0, priceNanos: 0 },
  ]);
  expect(run([booked(10)], reportOf(10), { ambiguousLabels }).lines).toMatchObject([{ state: 'match' }]);
  expect(run([booked(10)], reportOf(8), { ambiguousLabels }).lines).toMatchObject([
    { state: 'unbilled', ambiguousNanos: 0, unbilledNanos: -2 * CALL_NANOS },
  ]);
});

test('a provider that counts no requests: failures are valued at the mean of the calls', () => {
  const report = reportOf(15, { requests: null });
  expect(run([booked(10, 2)], report).lines).toMatchObject([
    { failureNanos: 2 * CALL_NANOS, unattributedNanos: 3 * CALL_NANOS, theirRequests: null },
  ]);
});

test('failed calls without a model count once for the key and hour', () => {
  const withoutModel = booked(0, 2, { model: '', requests: 0, tokens: tokens(0), nanos: 0 });
  expect(run([booked(10), withoutModel], reportOf(13)).lines).toMatchObject([
    { failureNanos: 2 * CALL_NANOS, unattributedNanos: CALL_NANOS },
  ]);
});

test('another price is drift with the price of each class', () => {
  const { lines, drifts } = run([booked(100)], reportOf(100, { priceFactor: 1.25 }));
  expect(lines).toMatchObject([{ state: 'drift', priceNanos: 25 * CALL_NANOS, theirNanos: 125 * CALL_NANOS }]);
  expect(drifts).toMatchObject([
    { tokenClass: 'input', ours: 100, theirs: 125, model: 'gpt-5-mini', dayMs: DAY },
    { tokenClass: 'cacheRead', ours: 10, theirs: 12.5 },
    { tokenClass: 'output', ours: 400, theirs: 500 },
  ]);
});

test('usage that the provider lacks is pending at first, later unbilled', () => {
  expect(run([booked(10)], reportOf(7)).lines).toMatchObject([{ state: 'unbilled', unbilledNanos: -3 * CALL_NANOS }]);
  const young = run([booked(10)], { ...reportOf(7), costs: [] }, { settledBeforeMs: DAY - HOUR_MS });
  expect(young.lines).toMatchObject([{ state: 'pending', unbilledNanos: -3 * CALL_NANOS, priceNanos: 0 }]);
});

test('calls of another client show before the costs of the day are final', () => {
  const { lines } = run([booked(10)], { ...reportOf(14), costs: [] }, { settledBeforeMs: DAY - HOUR_MS });
  expect(lines).toMatchObject([{ state: 'unattributed', unattributedNanos: 4 * CALL_NANOS, priceNanos: 0 }]);
});

test('usage of a key that no account holds is marked as not held', () => {
  const { lines } = run([], reportOf(3, { keyId: 'key_of_others' }));
  expect(lines).toMatchObject([
    { isHeld: false, keyLabel: 'key_of_others', state: 'unattributed', theirNanos: 3 * CALL_NANOS },
  ]);
});

test('a cost per line, as OpenRouter states it, needs no costs per day', () => {
  const [usage] = reportOf(10).usage;
  const report = { ...reportOf(10), costs: [], usage: [{ ...usage!, costNanos: 10 * CALL_NANOS }] };
  expect(run([booked(10)], report).lines).toMatchObject([{ state: 'match', theirNanos: 10 * CALL_NANOS }]);
  const dearer = { ...report, usage: [{ ...usage!, costNanos: 20 * CALL_NANOS }] };
  expect(run([booked(10)], dearer).lines).toMatchObject([{ state: 'drift', priceNanos: 10 * CALL_NANOS }]);
});

test('the causes add up to the difference', () => {
  for (const [ours, failed, theirs, priceFactor] of [
    [10, 2, 15, 1.1],
    [100, 0, 90, 0.8],
    [7, 7, 9, 2],
  ] as const) {
    for (const line of run([booked(ours, failed)], reportOf(theirs, { priceFactor })).lines) {
      const { failureNanos, unattributedNanos, unbilledNanos, priceNanos } = line;
      expect(failureNanos + unattributedNanos + unbilledNanos + priceNanos).toBe(line.theirNanos - line.ourNanos);
    }
  }
});

test('a fee without tokens is a line of its own', () => {
  const report = reportOf(10);
  const fee = { dayMs: DAY, model: 'web search tool calls', tokenClass: null, nanos: 5_000_000 };
  const { lines } = run([booked(10)], { ...report, costs: [...report.costs, fee] });
  expect(lines.filter(({ state }) => state !== 'match')).toMatchObject([
    { model: 'web search tool calls (fee)', theirNanos: 5_000_000, state: 'drift' },
  ]);
});

test('models match without their date, keys by their redacted form', () => {
  expect(canonicalModel('claude-haiku-4-5-20251001')).toBe('claude-haiku-4-5');
  expect(canonicalModel('openai/gpt-4.1:free')).toBe('openai/gpt-4.1');
  expect(matchesRedacted('sk-ant-api03-R2D...igAA', 'sk-ant-api03-R2D-more-igAA')).toBe(true);
  expect(matchesRedacted('sk-abc***xyz', 'sk-abd-0000-xyz')).toBe(false);
  expect(matchesRedacted('no mask', 'no mask')).toBe(false);
});

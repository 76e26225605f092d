import { expect, test } from 'vitest';
import { isMet, measure, nextStep, type OpenAlert, RESOLVE_AFTER_MS, type Sums } from './alert-state.js';

const sums = (more: Partial<Sums>): Sums => ({ requests: 100, errors: 0, costNanos: 0n, latencyMs: null, ...more });

test.each([
  ['error_rate', sums({ errors: 25 }), 25],
  ['error_rate', sums({ requests: 20, errors: 20 }), 100],
  ['error_rate', sums({ requests: 19, errors: 19 }), null],
  ['latency', sums({ latencyMs: 900 }), 900],
  ['latency', sums({ requests: 19, latencyMs: 900 }), null],
  ['spend', sums({ requests: 1, costNanos: 125_000_000n }), 12.5],
  ['spend', sums({ requests: 0 }), null],
] as const)('measure: %s of %o is %s', (metric, of, value) => {
  expect(measure(metric, of)).toBe(value);
});

test.each([
  // A rule of 50 percent more, and at least 10.
  [15, 10, true],
  [14.9, 10, false],
  [9.9, 0, false],
  [10, 0, true],
  [10, null, true],
  [9.9, null, false],
  [null, 5, false],
])('a value of %s against %s meets the rule: %s', (value, baseline, met) => {
  expect(isMet({ increasePercent: 50, atLeast: 10 }, value, baseline)).toBe(met);
});

const NOW = 1_000_000_000;
const open = (more: Partial<OpenAlert>): OpenAlert => ({
  ...{ metAtMs: NOW, notified: true, acknowledged: false },
  ...more,
});
const old = NOW - RESOLVE_AFTER_MS;

test.each([
  // met, open alert, silenced → action, event
  [false, null, false, 'none', false],
  [true, null, false, 'open', true],
  [true, null, true, 'open', false],
  [true, open({}), false, 'keep', false],
  [true, open({ notified: false }), true, 'keep', false],
  [true, open({ notified: false }), false, 'keep', true],
  [true, open({ notified: false, acknowledged: true }), false, 'keep', false],
  [false, open({ metAtMs: old + 1 }), false, 'none', false],
  [false, open({ metAtMs: old }), false, 'resolve', true],
  [false, open({ metAtMs: old }), true, 'resolve', true],
  [false, open({ metAtMs: old, notified: false }), false, 'resolve', false],
  [false, open({ metAtMs: old, notified: false }), true, 'resolve', false],
] as const)('met %s, alert %o, silenced %s: %s, event %s', (met, alert, silenced, action, notify) => {
  expect(nextStep(met, alert, { silenced, nowMs: NOW })).toEqual({ action, notify });
});

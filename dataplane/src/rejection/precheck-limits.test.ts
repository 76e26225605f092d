/** The precheck rejects what admission would reject now, and counts what it would admit. */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { expect, test } from 'vitest';
import type { LimitSnapshot } from '../limits/counters-interface.js';
import { RPD_ROW, RPM_ROW, TPM_ROW } from '../limits/limit-table.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { countAdmissibleCalls, precheckLimits } from './precheck-limits.js';

/** The budget is 100 of these. */
const PERCENT = NANOS_PER_CENT / 100;
const LIMITS = createTestLimits({ budgetCents: 1, tpmLimit: 1, hardBudget: true });
const NOW_SEC = Date.UTC(2026, 10, 23) / 1000;

interface State {
  readonly rpm?: number;
  readonly rpd?: number;
  readonly tpm?: number;
  /** Percent of the budget. */
  readonly spent?: number;
  readonly reserved?: number;
}

function createSnapshot({ rpm = 60, rpd = 10_000, tpm = 1, spent = 0, reserved = 0 }: State): LimitSnapshot {
  const remaining: number[] = [];
  Object.assign(remaining, { [RPM_ROW]: rpm, [RPD_ROW]: rpd, [TPM_ROW]: tpm });
  const full = [RPM_ROW, RPD_ROW, TPM_ROW].find((row) => remaining[row] === 0);
  return {
    takenAtSec: NOW_SEC,
    windows: [
      {
        providerSlug: 'openai',
        remaining,
        resetAtSec: remaining.map(() => null),
        rejection: full === undefined ? null : { row: full, retryAtSec: NOW_SEC + 7 },
      },
    ],
    spends: [{ budget: LIMITS.budgets[0]!, spentNanos: spent * PERCENT, reservedNanos: reserved * PERCENT }],
  };
}

test.each<[State, number, string | null]>([
  [{}, 0, null],
  [{}, 100, null],
  [{ rpm: 0, spent: 100 }, 0, 'rpm'],
  [{ tpm: 0 }, 0, 'tpm'],
  [{ spent: 99, reserved: 100 }, 0, null], // without a hard budget
  [{ spent: 100 }, 0, 'budget'],
  [{}, 101, 'budget_never_fits'],
  [{ spent: 40 }, 60, null],
  [{ spent: 40 }, 61, 'budget'],
  [{ spent: 20, reserved: 20 }, 60, null],
  [{ spent: 20, reserved: 20 }, 61, 'budget_in_flight'],
])('precheck: %j with a reservation of %d percent is rejected as %s', (state, reservation, reason) => {
  const rejection = precheckLimits(createSnapshot(state), LIMITS, reservation * PERCENT);
  expect(rejection?.reason ?? null).toBe(reason);
});

test.each<[State, number, number]>([
  [{ rpm: 3, rpd: 8 }, 0, 3],
  [{ rpm: 8, rpd: 3 }, 0, 3],
  [{ rpm: 8, rpd: 8 }, 0, 8], // tokens set no number of calls
  [{ rpm: 8, rpd: 8, spent: 20, reserved: 20 }, 20, 3],
  [{ rpm: 2, rpd: 8, spent: 20, reserved: 20 }, 20, 2],
])('precheck: with %j and a reservation of %d percent, %d calls would be admitted', (state, reservation, calls) => {
  expect(countAdmissibleCalls(createSnapshot(state), LIMITS, reservation * PERCENT)).toBe(calls);
});

test('precheck: without a snapshot of windows nothing sets a number of calls', () => {
  expect(countAdmissibleCalls({ takenAtSec: NOW_SEC, windows: [], spends: [] }, LIMITS, 0)).toBe(
    Number.POSITIVE_INFINITY,
  );
});

import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { expect, test } from 'vitest';
import { ADMITTED, createRejectedAdmission } from '../call/testing/proxy-fixture.js';
import type { AgentLimits } from '../limits/agent-limits.js';
import { LIMIT_TABLE, TOOL_RATE_ROW } from '../limits/limit-table.js';
import { createTestBudget, createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { createLimitRejection } from './limit-rejection.js';

const limits = createTestLimits({ budgetCents: 500 });
const hardLimits = createTestLimits({ budgetCents: 500, hardBudget: true });
const allBudgets = { budgetCents: 500, projectBudgetNanos: 5 * NANOS_PER_CENT, orgBudgetNanos: 5 * NANOS_PER_CENT };
const budgetOf = (limits: AgentLimits, row: number) =>
  limits.checkedBudgets.find(({ tableRow }) => tableRow === row) ?? null;

/** Rejected at an instant by the store's clock, Unix seconds. */
const at = (admittedAtSec: number, ...rejected: Parameters<typeof createRejectedAdmission>) => ({
  ...createRejectedAdmission(...rejected),
  admittedAtSec,
});

test('limit rejections: null for an admitted call', () => {
  expect(createLimitRejection(ADMITTED, limits)).toBeNull();
});

const everyRow = LIMIT_TABLE.map((row, at) => ({ ...row, at }));
test.each(everyRow)(
  'limit rejections: $type of $scope has its text as error and as message',
  ({ type, message, at }) => {
    const all = createTestLimits(allBudgets);
    const rejected = { ...createRejectedAdmission(type, 1), rejectedByRow: at, rejectedByBudget: budgetOf(all, at) };
    const refusal = createLimitRejection(rejected, all)!;
    expect(refusal).toMatchObject({ status: 429, reason: expect.stringMatching(type) });
    expect(JSON.parse(refusal.body)).toMatchObject({ error: message, message, limitType: type });
  },
);

test('limit rejections: rpm has a Retry-After of at most a minute', () => {
  const refusal = createLimitRejection(at(1_900_000_000, 'rpm', 1_900_000_030), limits)!;
  expect(JSON.parse(refusal.body)).toEqual({
    error: refusal.message,
    message: refusal.message,
    limitType: 'rpm',
    limit: 60,
    remaining: 0,
    resetAt: 1_900_000_030,
  });
  expect(refusal.headers).toEqual([
    'x-ratelimit-limit',
    '60',
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    '1900000030',
    'retry-after',
    '30',
  ]);
  const far = createLimitRejection(at(1_900_000_000, 'rpm', 1_900_009_999), limits)!;
  expect(far.headers.at(-1)).toBe('60');
});

test('limit rejections: rpd and budget send x-should-retry: false and no Retry-After', () => {
  const rpd = createLimitRejection(createRejectedAdmission('rpd', 1_900_050_000), limits)!;
  expect(rpd.headers).toEqual([
    'x-ratelimit-limit',
    '10000',
    'x-ratelimit-remaining',
    '0',
    'x-ratelimit-reset',
    '1900050000',
    'x-should-retry',
    'false',
  ]);
  const budget = createLimitRejection(createRejectedAdmission('budget', 0, 5_005_000_000), limits)!;
  expect(budget.headers).toEqual(['x-should-retry', 'false']);
  expect(JSON.parse(budget.body)).toEqual({
    error: budget.message,
    message: budget.message,
    limitType: 'budget',
    scope: 'agent',
    window: 'month',
    spentCents: 501,
    budgetCents: 500,
  });
});

test.each([
  [600, 0, 0, 'never_fits', 'budget_never_fits', ['x-should-retry', 'false']],
  [200, 301, 0, 'spent', 'budget', ['x-should-retry', 'false']],
  [200, 300, 1, 'in_flight', 'budget_in_flight', ['retry-after', '1']],
])('limit rejections: a reservation of %i ¢ above a budget of 500 with %i spent and %i reserved is %s', (...given) => {
  const [hold, spent, held, reason, tallied, headers] = given;
  const cents = (count: number): number => count * 10_000_000;
  const admission = {
    ...createRejectedAdmission('budget', 0, cents(spent)),
    rejectedByBudget: hardLimits.budgets[0]!,
    reservedNanos: cents(held),
    reservationNanos: cents(hold),
  };
  const refusal = createLimitRejection(admission, hardLimits)!;
  expect(refusal.headers).toEqual(headers);
  expect(refusal.reason).toBe(tallied);
  expect(JSON.parse(refusal.body)).toMatchObject({
    limitType: 'budget',
    scope: 'agent',
    spentCents: spent,
    budgetCents: 500,
    heldCents: held,
    reason,
  });
  const isSpent = 'The monthly budget of this agent is spent.';
  expect([refusal.message === isSpent, JSON.parse(refusal.body).error]).toEqual([reason === 'spent', refusal.message]);
});

test.each(LIMIT_TABLE.filter(({ unit }) => unit === 'cents'))(
  'limit rejections: metrics and usage separate the budget of $scope from others for any reservation',
  ({ scope }) => {
    const rejectedByRow = LIMIT_TABLE.findIndex((row) => row.unit === 'cents' && row.scope === scope);
    const budgets = createTestLimits({ ...allBudgets, budgetCents: 5, hardBudget: true });
    const rejectedByBudget = budgetOf(budgets, rejectedByRow);
    const admission = { ...createRejectedAdmission('budget', 0, 5 * NANOS_PER_CENT), rejectedByRow, rejectedByBudget };
    const reasons = [0, 1].map(
      (holdNanos) => createLimitRejection({ ...admission, reservationNanos: holdNanos }, budgets)!.reason,
    );
    const reason = scope === 'agent' ? 'budget' : `budget_${scope}`;
    expect(reasons).toEqual([reason, reason]);
  },
);

test('limit rejections: the share of a cell is named in text and fields', () => {
  const row = createTestBudget({ id: 'row-1', mode: 'hard', limitNanos: 5 * NANOS_PER_CENT, cell: 'eu' });
  const admission = {
    ...createRejectedAdmission('budget', 0, 5 * NANOS_PER_CENT),
    rejectedByRow: -1,
    rejectedByBudget: row,
  };
  const rejection = createLimitRejection({ ...admission, reservationNanos: 1 }, limits)!;
  expect(rejection.message).toBe('The share of the cell eu in the daily budget of this agent is spent.');
  const fields = { scope: 'agent', budgetId: 'row-1', window: 'day', cell: 'eu', spentCents: 5, budgetCents: 5 };
  expect(JSON.parse(rejection.body)).toMatchObject(fields);
  expect(rejection).toMatchObject({ reason: 'budget', budgetId: 'row-1' });
});

test('limit rejections: the limit of a tool names the tools, and has its own reason', () => {
  const admission = { ...at(1_900_000_000, 'rpm', 1_900_000_030), rejectedByRow: TOOL_RATE_ROW };
  const rejection = createLimitRejection(admission, limits, { pattern: 'delete_*', rpm: 3 })!;
  expect(rejection).toMatchObject({ status: 429, reason: 'rpm_tool' });
  expect(JSON.parse(rejection.body)).toEqual({
    error: rejection.message,
    message: rejection.message,
    limitType: 'rpm',
    scope: 'tool',
    tool: 'delete_*',
    limit: 3,
    remaining: 0,
    resetAt: 1_900_000_030,
  });
  expect(rejection.headers).toEqual(expect.arrayContaining(['x-ratelimit-limit', '3', 'retry-after', '30']));
});

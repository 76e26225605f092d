import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { BUDGET_ROW, BUDGET_ROWS, LIMIT_TABLE, RPD_ROW, RPM_ROW, UNLIMITED } from '../limits/limit-table.js';
import { decodeLimits } from './decode-limits.js';

const limitsOf = (message: IAgentContext) => decodeLimits(message, 'agent-1').byRow;
const wire = (row: number, value: number, change: Partial<ILimit> = {}): ILimit => {
  const { type, window, unit, scope } = LIMIT_TABLE[row]!;
  return { type, window, unit, scope, value, ...change };
};

test('limits: decodes limits by row, money in nano-dollars', () => {
  const limits = limitsOf({ limits: [wire(BUDGET_ROW, 7), wire(RPD_ROW, 5), wire(RPM_ROW, 3)] });
  expect([limits[RPM_ROW], limits[RPD_ROW], limits[BUDGET_ROW]]).toEqual([3, 5, 7 * NANOS_PER_CENT]);
});

test('limits: a missing limit has its default', () => {
  expect(limitsOf({})).toEqual(LIMIT_TABLE.map((row) => row.default ?? UNLIMITED));
  expect(limitsOf({ limits: [wire(RPD_ROW, 5)] })[RPM_ROW]).toBe(60);
  const limits = limitsOf({ limits: [wire(RPM_ROW, 0)], rpdLimit: 0 });
  expect([limits[RPM_ROW], limits[RPD_ROW]]).toEqual([60, 10_000]);
});

test('limits: decodes the old fields of a control plane of the previous release', () => {
  const limits = limitsOf({ rpmLimit: 3, rpdLimit: 5, budgetCents: 0 });
  expect([limits[RPM_ROW], limits[RPD_ROW], limits[BUDGET_ROW]]).toEqual([3, 5, 0]);
});

test('limits: rows take precedence over the old fields', () => {
  expect(limitsOf({ rpmLimit: 99, limits: [wire(RPM_ROW, 3)] })[RPM_ROW]).toBe(3);
});

test.each([{ type: 'requests_per_moon' }, { window: 'hour' }, { unit: 'tokens' }, { scope: 'galaxy' }])(
  'limits: ignores a limit with %o, which this data plane does not know',
  (change) => {
    expect(limitsOf({ limits: [wire(RPM_ROW, 3, change)] })[RPM_ROW]).toBe(60);
  },
);

test('limits: counts spend of project and organization without a budget, unless the context omits them', () => {
  const of = { projectId: 'p1', orgId: 'o1' };
  const [, project, org] = BUDGET_ROWS;
  const { budgets, checkedBudgets } = decodeLimits({ ...of, limits: [wire(project!, 7)] }, 'agent-1');
  expect(budgets.map(({ name, limitNanos }) => [name, limitNanos])).toEqual([
    ['agent:agent-1', UNLIMITED],
    ['project:p1', 7 * NANOS_PER_CENT],
    ['org:o1', UNLIMITED],
  ]);
  expect(checkedBudgets.map(({ name }) => name)).toEqual(['project:p1']);
  const names = (message: IAgentContext) => decodeLimits(message, 'agent-1').budgets.map(({ name }) => name);
  expect(names(of)).toEqual(['agent:agent-1', 'project:p1', 'org:o1']);
  expect(names({ limits: [wire(org!, 7)] })).toEqual(['agent:agent-1', 'org:']);
  expect(names({})).toEqual(['agent:agent-1']);
});

test('limits: nothing is reserved without a budget', () => {
  const hard = (message: IAgentContext) => decodeLimits({ ...message, hardBudget: true }, 'agent-1').hasHardBudget;
  expect([hard({ limits: [wire(BUDGET_ROW, 7)] }), hard({})]).toEqual([true, false]);
  const [, project, org] = BUDGET_ROWS;
  expect([project!, org!].map((row) => hard({ limits: [wire(row, 7)] }))).toEqual([true, true]);
  expect(decodeLimits({ limits: [wire(BUDGET_ROW, 7)] }, 'agent-1').hasHardBudget).toBe(false);
});

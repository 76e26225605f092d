import { expect, test } from 'vitest';
import { describeBudgetRow } from '../limits/budget-row.js';
import { parseMonth } from '../limits/calendar-window.js';
import { createTestBudget } from '../limits/testing/agent-limits-fixture.js';
import { createCellBudgets } from './cell-budgets.js';
import { decodeLimits } from './decode-limits.js';

const EU = { name: 'eu', sharePercent: 30 };
const MONTH = parseMonth('2026-11')!;
const ROW = { id: 'row-1', mode: 'hard', window: 'month', limitNanos: 1_000 } as const;

test('cell budgets: only hard rows with a budget are divided, and only in a cell with a name', () => {
  const rows = [
    createTestBudget(ROW),
    createTestBudget({ ...ROW, id: 'soft', mode: 'soft' }),
    createTestBudget({ ...ROW, id: 'audit', mode: 'audit' }),
    createTestBudget({ id: 'unlimited', mode: 'hard' }),
  ];
  const [share, ...others] = createCellBudgets(rows, [], EU);
  expect(others).toEqual([]);
  expect(share).toMatchObject({ name: 'cell:eu:row-1', limitNanos: 300, mode: 'hard', tableRow: -1, isPlain: false });
  expect(describeBudgetRow(share!)).toEqual({ scope: 'agent', budgetId: 'row-1', window: 'month', cell: 'eu' });
  expect(createCellBudgets(rows, [], { name: '', sharePercent: 30 })).toEqual([]);
});

test('cell budgets: a window starts from what the cell has spent, and its part of what no cell has', () => {
  const row = createTestBudget({ ...ROW, ledger: [{ window: MONTH, nanos: 601, ledgerOnlyNanos: 50 }] });
  const spend = [
    { id: 'row-1', window: '2026-11', cellNanos: 100, allCellsNanos: 400 },
    { id: 'row-1', window: '2026-10', cellNanos: 7, allCellsNanos: 7 },
    { id: 'row-2', window: '2026-11', cellNanos: 9, allCellsNanos: 9 },
  ];
  const [share] = createCellBudgets([row], spend, EU);
  const outside = 61; // 30 % of 201, rounded up
  expect(share!.ledger).toEqual([{ window: MONTH, nanos: 100 + outside, ledgerOnlyNanos: outside }]);
});

test('cell budgets: a budget of all time counts all months of the cell, and the closed ones as closed', () => {
  const row = createTestBudget({
    ...ROW,
    window: 'total',
    closedNanos: 300,
    ledger: [{ window: MONTH, nanos: 200, ledgerOnlyNanos: 0 }],
  });
  const spend = [
    { id: 'row-1', window: '2026-11', cellNanos: 20, allCellsNanos: 150 },
    { id: 'row-1', window: '', cellNanos: 40, allCellsNanos: 250 },
  ];
  const [share] = createCellBudgets([row], spend, EU);
  expect(share!.ledger).toEqual([{ window: MONTH, nanos: 20, ledgerOnlyNanos: 0 }]);
  expect([share!.openLimitNanos, share!.closedNanos]).toEqual([300 - 70, 40 + 30]);
});

test('cell budgets: shares of the plain monthly budgets and of runs follow the budgets of all cells', () => {
  const limits = [{ type: 'budget', scope: 'agent', window: 'month', unit: 'cents', value: 10 }];
  const run = { id: 'run-1', scope: 'run', scopeId: 'run-1', window: 'total', cents: 5, mode: 'hard' };
  const message = { limits, hardBudget: true, budgets: [run] };
  const { checkedBudgets } = decodeLimits(message, 'agent-1', EU);
  expect(checkedBudgets.map(({ name, window }) => `${name} ${window}`)).toEqual([
    'agent:agent-1 month',
    'run:run-1 total',
    'cell:eu:agent-1 month',
    'cell:eu:run-1 total',
  ]);
  expect(checkedBudgets[3]!.windowsAt(0)[0]!.name).toBe('total');
  expect(decodeLimits(message, 'agent-1').checkedBudgets).toHaveLength(2);
});

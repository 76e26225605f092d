import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits, type FaultTrace, type Interval } from '../evidence/evidence-types.js';
import { checkHardBudgets, sumHardBudgetSpend } from './hard-budgets.js';
import { createBrokenCall, createCall, createFault, createLedgerCall, T0 } from './history-fixture.js';

const HARD = createAgentLimits('hard', { hardBudget: true, budgetNanos: 20 });

function violations(
  calls: readonly CallTrace[],
  { faults = [], storeOutages = [] }: { faults?: readonly FaultTrace[]; storeOutages?: readonly Interval[] } = {},
): string[] {
  const ledgerCalls = calls.map(({ id }) => createLedgerCall(id, { agent: 'hard' }));
  return checkHardBudgets(sumHardBudgetSpend({ agents: [HARD], calls, ledgerCalls, faults, storeOutages }));
}
const calls = (...ids: string[]): CallTrace[] => ids.map((id) => createCall(id, { agent: 'hard' }));

test('hard budgets: the whole budget may be spent', () => {
  expect(violations(calls('a', 'b'))).toEqual([]);
});

test('hard budgets: spending more is a violation', () => {
  expect(violations(calls('a', 'b', 'c'))).toEqual([expect.stringContaining('hard: spent 30 of 20 nano-dollars')]);
});

test('hard budgets: only a call of a killed process is exempt', () => {
  const killed = createBrokenCall('c', { agent: 'hard' });
  expect(violations([...calls('a', 'b'), killed], { faults: [createFault('data-1', 'kill')] })).toEqual([]);
  expect(violations([...calls('a', 'b'), killed], { faults: [createFault('data-1', 'freeze')] })).toHaveLength(1);
  expect(violations([...calls('a', 'b', 'd'), killed], { faults: [createFault('data-2', 'kill')] })).toHaveLength(1);
});

test('hard budgets: a call during a store outage is exempt', () => {
  const storeOutages = [{ from: T0 + 500, to: T0 + 600 }];
  const then = createCall('c', { agent: 'hard', sentAt: T0 + 550, endedAt: T0 + 560 });
  const later = createCall('c', { agent: 'hard', sentAt: T0 + 601, endedAt: T0 + 610 });
  expect(violations([...calls('a', 'b'), then], { storeOutages })).toEqual([]);
  expect(violations([...calls('a', 'b'), later], { storeOutages })).toHaveLength(1);
});

test('hard budgets: soft budgets are not checked', () => {
  const agents = [{ ...HARD, hardBudget: false }];
  const history = {
    agents,
    calls: calls('a', 'b', 'c'),
    ledgerCalls: ['a', 'b', 'c'].map((id) => createLedgerCall(id)),
  };
  expect(sumHardBudgetSpend({ ...history, faults: [], storeOutages: [] })).toEqual([]);
});

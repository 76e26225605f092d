import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits, type FaultTrace, type Interval } from '../evidence/history.js';
import { checkHardBudgets, sumHardBudgetSpend } from './hard-budgets.js';
import { createBrokenCall, createCall, createFault, createLedgerCall, T0 } from './history-fixture.js';

const HARD = createAgentLimits('hard', { hardBudget: true, budgetNanos: 20 });

function broken(
  calls: readonly CallTrace[],
  { faults = [], storeAway = [] }: { faults?: readonly FaultTrace[]; storeAway?: readonly Interval[] } = {},
): string[] {
  const booked = calls.map(({ id }) => createLedgerCall(id, { agent: 'hard' }));
  return checkHardBudgets(
    sumHardBudgetSpend({ agents: [HARD], calls, ledgerCalls: booked, faults, storeOutages: storeAway }),
  );
}
const calls = (...ids: string[]): CallTrace[] => ids.map((id) => createCall(id, { agent: 'hard' }));

test('budgets: all of it may be spent', () => {
  expect(broken(calls('a', 'b'))).toEqual([]);
});

test('budgets: more than it is a violation', () => {
  expect(broken(calls('a', 'b', 'c'))).toEqual([expect.stringContaining('hard: spent 30 of 20 nano-dollars')]);
});

test('budgets: a call of a killed process stands outside, and no other call does', () => {
  const killed = createBrokenCall('c', { agent: 'hard' });
  expect(broken([...calls('a', 'b'), killed], { faults: [createFault('data-1', 'kill')] })).toEqual([]);
  expect(broken([...calls('a', 'b'), killed], { faults: [createFault('data-1', 'freeze')] })).toHaveLength(1);
  expect(broken([...calls('a', 'b', 'd'), killed], { faults: [createFault('data-2', 'kill')] })).toHaveLength(1);
});

test('budgets: so does a call that ran while the store was away', () => {
  const storeAway = [{ from: T0 + 500, to: T0 + 600 }];
  const then = createCall('c', { agent: 'hard', sentAt: T0 + 550, endedAt: T0 + 560 });
  const later = createCall('c', { agent: 'hard', sentAt: T0 + 601, endedAt: T0 + 610 });
  expect(broken([...calls('a', 'b'), then], { storeAway })).toEqual([]);
  expect(broken([...calls('a', 'b'), later], { storeAway })).toHaveLength(1);
});

test('budgets: a soft one promises nothing here', () => {
  const agents = [{ ...HARD, hardBudget: false }];
  const made = { agents, calls: calls('a', 'b', 'c'), ledgerCalls: ['a', 'b', 'c'].map((id) => createLedgerCall(id)) };
  expect(sumHardBudgetSpend({ ...made, faults: [], storeOutages: [] })).toEqual([]);
});

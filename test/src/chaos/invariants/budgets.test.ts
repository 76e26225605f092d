import { expect, test } from 'vitest';
import { type CallTrace, type FaultTrace, type Interval, termsOf } from '../history.js';
import { hardBudgetsKept, hardSpends } from './budgets.js';
import { brokenCall, call, fault, record, T0 } from './made-history.js';

const HARD = termsOf('hard', { hardBudget: true, budgetNanos: 20 });

function broken(
  calls: readonly CallTrace[],
  { faults = [], storeAway = [] }: { faults?: readonly FaultTrace[]; storeAway?: readonly Interval[] } = {},
): string[] {
  const booked = calls.map(({ id }) => record(id, { agent: 'hard' }));
  return hardBudgetsKept(hardSpends({ agents: [HARD], calls, booked, faults, storeAway }));
}
const calls = (...ids: string[]): CallTrace[] => ids.map((id) => call(id, { agent: 'hard' }));

test('budgets: all of it may be spent', () => {
  expect(broken(calls('a', 'b'))).toEqual([]);
});

test('budgets: more than it is a violation', () => {
  expect(broken(calls('a', 'b', 'c'))).toEqual([expect.stringContaining('hard: spent 30 of 20 nano-dollars')]);
});

test('budgets: a call of a killed process stands outside, and no other call does', () => {
  const killed = brokenCall('c', { agent: 'hard' });
  expect(broken([...calls('a', 'b'), killed], { faults: [fault('data-1', 'kill')] })).toEqual([]);
  expect(broken([...calls('a', 'b'), killed], { faults: [fault('data-1', 'freeze')] })).toHaveLength(1);
  expect(broken([...calls('a', 'b', 'd'), killed], { faults: [fault('data-2', 'kill')] })).toHaveLength(1);
});

test('budgets: so does a call that ran while the store was away', () => {
  const storeAway = [{ from: T0 + 500, to: T0 + 600 }];
  const then = call('c', { agent: 'hard', sentAt: T0 + 550, endedAt: T0 + 560 });
  const later = call('c', { agent: 'hard', sentAt: T0 + 601, endedAt: T0 + 610 });
  expect(broken([...calls('a', 'b'), then], { storeAway })).toEqual([]);
  expect(broken([...calls('a', 'b'), later], { storeAway })).toHaveLength(1);
});

test('budgets: a soft one promises nothing here', () => {
  const agents = [{ ...HARD, hardBudget: false }];
  const made = { agents, calls: calls('a', 'b', 'c'), booked: ['a', 'b', 'c'].map((id) => record(id)) };
  expect(hardSpends({ ...made, faults: [], storeAway: [] })).toEqual([]);
});

import { expect, test } from 'vitest';
import { createAgentLimits } from '../evidence/evidence-types.js';
import { checkBudgetEvents, type ReceivedDelivery } from './budget-event-delivery.js';
import { createLedgerCall } from './history-fixture.js';

const AGENT = createAgentLimits('wide', { budgetNanos: 20 });
const SPENT = [createLedgerCall('a'), createLedgerCall('b')];

const delivery = (fields: Partial<ReceivedDelivery> = {}): ReceivedDelivery => ({
  deliveryId: 'd1',
  event: 'agent.budget_exceeded',
  agent: 'wide',
  accepted: true,
  genuine: true,
  ...fields,
});
const threshold = delivery({ deliveryId: 'd2', event: 'usage.threshold' });
const check = (deliveries: ReceivedDelivery[], ledgerCalls = SPENT, agent = AGENT): string[] =>
  checkBudgetEvents({ agents: [agent], ledgerCalls, deliveries });

test('budget events: accepts an event that is sent once, or repeatedly under one id', () => {
  expect(check([delivery(), threshold])).toEqual([]);
  expect(check([delivery({ accepted: false }), delivery(), delivery(), threshold])).toEqual([]);
  expect(check([], [createLedgerCall('a')])).toEqual([]); // half of the budget
});

test.each([
  ['an event that never arrived', [threshold], /budget_exceeded was never delivered/],
  [
    'an event that was never accepted',
    [delivery({ accepted: false }), threshold],
    /budget_exceeded was never delivered/,
  ],
  ['a threshold event that never arrived', [delivery()], /usage.threshold was never delivered/],
  ['an event under two ids', [delivery(), delivery({ deliveryId: 'd3' }), threshold], /arrived under 2 ids/],
  ['a wrong signature', [delivery({ genuine: false }), threshold], /d1: its signature is wrong/],
])('budget events: reports %s', (_name, deliveries, expected) => {
  expect(check(deliveries)).toEqual([expect.stringMatching(expected)]);
});

test('budget events: reports an event of an agent without a budget', () => {
  expect(check([delivery()], SPENT, createAgentLimits('wide'))).toEqual([expect.stringContaining('without a budget')]);
});

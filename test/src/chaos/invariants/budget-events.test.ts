import { expect, test } from 'vitest';
import { createAgentLimits } from '../evidence/history.js';
import { checkBudgetEvents, type ReceivedDelivery } from './budget-events.js';
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
const look = (deliveries: ReceivedDelivery[], booked = SPENT, agent = AGENT): string[] =>
  checkBudgetEvents({ agents: [agent], ledgerCalls: booked, deliveries });

test('webhooks: each event once, or more often under one id, is fine', () => {
  expect(look([delivery(), threshold])).toEqual([]);
  expect(look([delivery({ accepted: false }), delivery(), delivery(), threshold])).toEqual([]);
  expect(look([], [createLedgerCall('a')])).toEqual([]); // half of the budget
});

test.each([
  ['an event that never came', [threshold], /budget_exceeded was never delivered/],
  ['an event that was never taken', [delivery({ accepted: false }), threshold], /budget_exceeded was never delivered/],
  ['a threshold that never came', [delivery()], /usage.threshold was never delivered/],
  ['an event under two ids', [delivery(), delivery({ deliveryId: 'd3' }), threshold], /came under 2 ids/],
  ['a wrong signature', [delivery({ genuine: false }), threshold], /d1: its signature is wrong/],
])('webhooks: %s is a violation', (_name, deliveries, expected) => {
  expect(look(deliveries)).toEqual([expect.stringMatching(expected)]);
});

test('webhooks: an agent without a budget exceeds none', () => {
  expect(look([delivery()], SPENT, createAgentLimits('wide'))).toEqual([expect.stringContaining('without a budget')]);
});

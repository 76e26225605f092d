import type { IReportUsageResponse } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { MemoryCounters } from '../counters/memory/memory-counters.js';
import { applyLedgerSpend } from './apply-ledger-spend.js';
import { formatMonth, monthOfMs } from './calendar-month.js';
import type { Admission } from './counters.js';
import { findLimitRow } from './limit-table.js';
import { createTestLimits } from './testing/agent-limits-fixture.js';

const nowMs = Date.UTC(2026, 10, 15);
const month = formatMonth(monthOfMs(nowMs));
const agentId = 'agent-1';
const budgets = { budgetNanos: 1_000, projectBudgetNanos: 1_000, orgBudgetNanos: 1_000 };

/** Counters that know the scopes of one agent, which has spent 100. */
function counted() {
  const counters = new MemoryCounters(() => nowMs * 1_000);
  const terms = createTestLimits({ agentId, ...budgets });
  const settlement = { limits: terms, providerSlug: 'openai', month: monthOfMs(nowMs), tokens: 0, reservationNanos: 0 };
  counters.settle({ ...settlement, costNanos: 100 });
  const admitted = (): Admission => {
    let seen: Admission | null = null;
    counters.admit({ limits: terms, providerSlug: 'openai', reservationNanos: 0 }, (admission) => {
      seen = admission;
    });
    return seen!;
  };
  return { counters, admitted };
}

const figures = { month, spentNanos: 1_000, ledgerNanos: 0 };

test.each<['agent' | 'project' | 'org', IReportUsageResponse]>([
  ['agent', { spend: [{ agentId, ...figures }] }],
  ['project', { scopes: [{ scope: 'project', id: 'project-1', ...figures }] }],
  ['org', { scopes: [{ scope: 'org', id: 'org-1', ...figures }] }],
])('ledger: its figure of the %s’s month decides', (scope, response) => {
  const { counters, admitted } = counted();
  expect(admitted().outcome).toBe('admitted');
  applyLedgerSpend(counters, response);
  expect(admitted()).toMatchObject({ refusedBy: findLimitRow('budget', scope), spentNanos: 1_000 });
});

test('ledger: what data planes told it is not added to what they have spent, the rest is', () => {
  const { counters, admitted } = counted();
  applyLedgerSpend(counters, { spend: [{ agentId, month, spentNanos: 130, ledgerNanos: 30 }] });
  expect(admitted().spentNanos).toBe(130);
  applyLedgerSpend(counters, { spend: [{ agentId, month, spentNanos: 140, ledgerNanos: 50 }] });
  expect(admitted().spentNanos).toBe(150);
});

test('ledger: a figure of no month, or of another one, says nothing', () => {
  const { counters, admitted } = counted();
  for (const other of ['2026-10', '2026-13', '', 'November']) {
    applyLedgerSpend(counters, { spend: [{ agentId, month: other, spentNanos: 1_000, ledgerNanos: 1_000 }] });
  }
  expect(admitted()).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
});

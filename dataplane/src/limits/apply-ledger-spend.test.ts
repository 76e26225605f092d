import type { IReportUsageResponse } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { MemoryCounters } from '../counters/memory/memory-counters.js';
import { applyLedgerSpend } from './apply-ledger-spend.js';
import { calendarWindowAt } from './calendar-window.js';
import type { Admission } from './counters-interface.js';
import { findLimitRow } from './limit-table.js';
import { createTestBudget, createTestLimits } from './testing/agent-limits-fixture.js';

const nowMs = Date.UTC(2026, 10, 15);
const month = calendarWindowAt('month', nowMs / 1000).name;
const agentId = 'agent-1';
const budgets = { budgetNanos: 1_000, projectBudgetNanos: 1_000, orgBudgetNanos: 1_000 };

/** Counters that track the scopes of one agent with a spend of 100 nano-dollars. */
function createCountersWithSpend() {
  const counters = new MemoryCounters(() => nowMs * 1_000);
  const limits = createTestLimits({ agentId, ...budgets });
  const settlement = { limits, providerSlug: 'openai', admittedAtSec: nowMs / 1000, tokens: 0, reservationNanos: 0 };
  counters.settle({ ...settlement, costNanos: 100 });
  const admitted = (): Admission => {
    let seen: Admission | null = null;
    counters.admit({ limits, providerSlug: 'openai', reservationNanos: 0 }, (admission) => {
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
])('ledger spend: rejects by the ledger’s month figure of the %s', (scope, response) => {
  const { counters, admitted } = createCountersWithSpend();
  expect(admitted().outcome).toBe('admitted');
  applyLedgerSpend(counters, response);
  expect(admitted()).toMatchObject({ rejectedByRow: findLimitRow('budget', scope), spentNanos: 1_000 });
});

test('ledger spend: adds only the ledger’s own part to the spend of data planes', () => {
  const { counters, admitted } = createCountersWithSpend();
  applyLedgerSpend(counters, { spend: [{ agentId, month, spentNanos: 130, ledgerNanos: 30 }] });
  expect(admitted().spentNanos).toBe(130);
  applyLedgerSpend(counters, { spend: [{ agentId, month, spentNanos: 140, ledgerNanos: 50 }] });
  expect(admitted().spentNanos).toBe(150);
});

test('ledger spend: ignores figures of other or invalid months', () => {
  const { counters, admitted } = createCountersWithSpend();
  for (const other of ['2026-10', '2026-13', '', 'November']) {
    applyLedgerSpend(counters, { spend: [{ agentId, month: other, spentNanos: 1_000, ledgerNanos: 1_000 }] });
  }
  expect(admitted()).toMatchObject({ outcome: 'admitted', spentNanos: 100 });
});

test('ledger spend: figures of a cell count in its share only', () => {
  const counters = new MemoryCounters(() => nowMs * 1_000);
  const of = { id: 'row-1', window: 'month', mode: 'hard', limitNanos: 1_000 } as const;
  const rows = [createTestBudget(of), ...['eu', 'us'].map((cell) => createTestBudget({ ...of, cell }))];
  const limits = createTestLimits({ budgets: rows });
  const peek = (): number[] => {
    const spent: number[] = [];
    counters.peek({ limits, providerSlugs: [] }, (snapshot) => {
      for (const { budget, spentNanos } of snapshot!.spends) if (budget.id === 'row-1') spent.push(spentNanos);
    });
    return spent;
  };
  peek();
  for (const window of [`${month}/eu`, `${month}/`, `${month}/EU`, '2026-13/us'])
    applyLedgerSpend(counters, { budgets: [{ budgetId: 'row-1', window, spentNanos: 7, ledgerNanos: 0 }] });
  expect(peek()).toEqual([0, 7, 0]);
});

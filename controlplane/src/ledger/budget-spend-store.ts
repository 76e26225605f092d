/** SQL of what budget rows have spent, in nano-dollars (0205_budget_rows.sql). */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { BudgetPeriod, BudgetRowOfScope, BudgetSpendSum } from './budget-row-sums.js';
import type { DeferredUsageEntry } from './deferred-usage-deduplication.js';
import { freeSpendSlotSql } from './month-spend-store.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';

interface BudgetPeriodSpend extends BudgetPeriod {
  readonly spentNanos: number;
  readonly ledgerNanos: number;
}

/** Adds the sums, which are in key order. */
export async function addBudgetSpend(tx: Tx, sums: readonly BudgetSpendSum[]): Promise<void> {
  if (sums.length === 0) return;
  await tx`
    with free as (${freeSpendSlotSql(tx)})
    insert into budget_spend as s (org_id, budget_id, period, slot, spent_nanos, ledger_nanos, calls)
    select r.org_id, r.budget_id, r.period, free.slot, r.spent_nanos, r.ledger_nanos, r.calls from free, unnest(
      ${arrayLiteral(sums, (s) => s.orgId)}::text::uuid[],
      ${arrayLiteral(sums, (s) => s.budgetId)}::text::uuid[],
      ${arrayLiteral(sums, (s) => s.period)}::text::text[],
      ${arrayLiteral(sums, (s) => s.spentNanos)}::text::bigint[],
      ${arrayLiteral(sums, (s) => s.ledgerNanos)}::text::bigint[],
      ${arrayLiteral(sums, (s) => s.calls)}::text::bigint[]) as r(org_id, budget_id, period, spent_nanos, ledger_nanos, calls)
     order by r.budget_id, r.period
    on conflict (budget_id, period, slot, org_id) do update set updated_at = now(), calls = s.calls + excluded.calls,
      spent_nanos = least(s.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos,
      ledger_nanos = least(s.ledger_nanos, ${NANOS_SUM_MAX}) + excluded.ledger_nanos`;
}

/** The totals of these rows and windows; 0 where nothing was spent. */
export async function selectBudgetSpend(
  sql: Sql | Tx,
  periods: readonly BudgetPeriod[],
): Promise<readonly BudgetPeriodSpend[]> {
  if (periods.length === 0) return [];
  return sql<BudgetPeriodSpend[]>`
    select r.org_id as "orgId", r.budget_id as "budgetId", r.period, s.spent_nanos as "spentNanos", s.ledger_nanos as "ledgerNanos"
      from unnest(
        ${arrayLiteral(periods, (s) => s.orgId)}::text::uuid[],
        ${arrayLiteral(periods, (s) => s.budgetId)}::text::uuid[],
        ${arrayLiteral(periods, (s) => s.period)}::text::text[]) as r(org_id, budget_id, period)
     cross join lateral budget_period_spend(r.org_id, r.budget_id, r.period) s`;
}

/** The rows of the agents, projects and organizations of deferred usage, and its runs with their ancestors. */
export async function selectRowsOfDeferredUsage(
  sql: Sql | Tx,
  deferredUsage: readonly DeferredUsageEntry[],
): Promise<readonly BudgetRowOfScope[]> {
  const scopeIds = new Set<string>();
  const runIds = new Set<string>();
  for (const { fetch } of deferredUsage) {
    for (const id of [fetch.agentId, fetch.projectId, fetch.orgId]) if (id !== '') scopeIds.add(id);
    if (fetch.runId !== '') runIds.add(fetch.runId);
  }
  if (scopeIds.size === 0) return [];
  return sql<BudgetRowOfScope[]>`
    select id, org_id as "orgId", scope_id as "scopeId", time_window as window, models, tag from budgets
     where scope_id = any(${[...scopeIds]}::uuid[])
    union all
    select c.id, c.org_id, r.id, 'run', '{}', ''
      from runs r join runs c on c.id = r.id or c.id = any(r.ancestors)
     where r.id = any(${[...runIds]}::uuid[])`;
}

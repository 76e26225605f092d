/**
 * Starts a new budget row from what the ledger holds of its window (docs/contract.md#budget-rows). All of it is the
 * ledger's part: no data plane counts it. Rows with a tag read the retained records, other rows read rollups.
 */
import { type BudgetRowFilter, type BudgetWindow, windowStartMs } from '@acg/base/budget-rows';
import type { Tx } from '../db/postgres-client.js';
import type { BudgetScope } from './merge-budget-fields.js';

interface NewBudgetRow extends BudgetRowFilter {
  readonly id: string;
  readonly window: BudgetWindow;
}

const EPOCH_MS = 0;

export async function seedBudgetSpend(tx: Tx, scope: BudgetScope, row: NewBudgetRow, nowMs: number): Promise<void> {
  await tx`
    insert into budget_spend (org_id, budget_id, period, slot, spent_nanos, ledger_nanos)
    select ${scope.orgId}, ${row.id}, s.period, 0, s.nanos, s.nanos from (
      select period, least(sum(nanos), 9223372036854775807)::bigint as nanos from (${spendByPeriod(tx, scope, row, nowMs)}) parts
       group by period) s
     where s.nanos > 0`;
}

/** Selects `period, nanos`, perhaps several rows of one period. */
function spendByPeriod(tx: Tx, scope: BudgetScope, row: NewBudgetRow, nowMs: number) {
  const { window, models, tag } = row;
  const start = new Date(windowStartMs(window, nowMs) ?? EPOCH_MS);
  const period = (time: string) =>
    tx.unsafe(
      window === 'total'
        ? `to_char(${time} at time zone 'UTC', 'YYYY-MM')`
        : `(budget_periods('${window}', ${time}))[1]`,
    );
  if (tag !== '')
    return tx`
      select ${period('started_at')} as period, cost_nanos as nanos from usage_records
       where ${scopeCondition(tx, scope)} and started_at >= ${start} and cost_nanos > 0
         and strpos(',' || tags || ',', ${`,${tag},`}) > 0 ${modelCondition(tx, models, false)}`;
  const hours = (since: Date) => tx`
    select ${period('hour')} as period, cost_nanos as nanos from usage_hourly
     where ${scopeCondition(tx, scope)} and hour >= ${since} and cost_nanos > 0 ${modelCondition(tx, models, true)}`;
  if (window !== 'total') return hours(start);
  if (models.length === 0)
    return scope.scope === 'agent'
      ? tx`select month as period, spent_nanos as nanos from month_spend where agent_id = ${scope.id} and org_id = ${scope.orgId}`
      : tx`select month as period, spent_nanos as nanos from scope_spend where scope = ${scope.scope} and scope_id = ${scope.id}
           union all
           select month, spent_nanos from scope_spend_slots where scope = ${scope.scope} and scope_id = ${scope.id}`;
  return tx`
    select ${period('day')} as period, cost_nanos as nanos from usage_daily
     where ${scopeCondition(tx, scope)} and cost_nanos > 0 ${modelCondition(tx, models, true)}
       and day < (select rolled_until from usage_daily_progress)
    union all
    select ${period('hour')}, cost_nanos from usage_hourly
     where ${scopeCondition(tx, scope)} and cost_nanos > 0 ${modelCondition(tx, models, true)}
       and hour >= (select rolled_until from usage_daily_progress)`;
}

function scopeCondition(tx: Tx, { orgId, scope, id }: BudgetScope) {
  if (scope === 'org') return tx`org_id = ${orgId}`;
  return scope === 'agent' ? tx`org_id = ${orgId} and agent_id = ${id}` : tx`org_id = ${orgId} and project_id = ${id}`;
}

/** A call that names no model counts in every row; rollups keep the tool of a call in the column of the model. */
function modelCondition(tx: Tx, models: readonly string[], isRollup: boolean) {
  if (models.length === 0) return tx``;
  const patterns = models.map((model) =>
    model
      .toLowerCase()
      .replace(/[\\%_]/g, '\\$&')
      .replaceAll('*', '%'),
  );
  const noModel = isRollup ? tx`model = '' or starts_with(model, 'tool:')` : tx`model = ''`;
  return tx`and (${noModel} or lower(model) like any(${patterns}::text[]))`;
}

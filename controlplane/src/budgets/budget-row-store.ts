/** SQL of budget rows. A row of the plain month is stored only where its mode needs it (0205_budget_rows.sql). */
import type { BudgetRowMode, BudgetWindow } from '@acg/base/budget-rows';
import { uuidv7 } from '@acg/base/uuidv7';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { InvalidInput } from '../domain/errors.js';
import { type BudgetRowSpec, type BudgetScope, budgetRowKey } from './merge-budget-fields.js';
import { seedBudgetSpend } from './seed-budget-spend.js';

export interface StoredBudgetRow {
  readonly id: string;
  readonly window: BudgetWindow;
  readonly cents: number;
  readonly models: readonly string[];
  readonly tag: string;
  readonly mode: BudgetRowMode;
  /** In the current window; of all time for the window total. */
  readonly spentNanos: number;
}

/** The rows of one object in their order. */
export async function loadBudgetRows(sql: Sql | Tx, { orgId, id }: BudgetScope): Promise<readonly StoredBudgetRow[]> {
  return sql<StoredBudgetRow[]>`
    select b.id, b.time_window as window, b.cents, b.models, b.tag, b.mode,
           (select least(coalesce(sum(s.spent_nanos), 0), 9223372036854775807)::bigint from budget_spend s
             where s.budget_id = b.id and s.org_id = b.org_id
               and (b.time_window = 'total' or s.period = any(budget_periods(b.time_window, now())))) as "spentNanos"
      from budgets b where b.org_id = ${orgId} and b.scope_id = ${id} order by b.position, b.id`;
}

/**
 * Makes the stored rows equal to `rows`. A row keeps its id while window, models and tag stay the same. A new row starts
 * from the ledger's spend. The caller has locked the object. Returns whether anything changed.
 */
export async function replaceBudgetRows(
  tx: Tx,
  scope: BudgetScope,
  rows: readonly BudgetRowSpec[],
  nowMs: number,
): Promise<boolean> {
  const before = await loadBudgetRows(tx, scope);
  const idByKey = new Map(before.map((row) => [budgetRowKey(row), row.id]));
  const ids = new Set(before.map(({ id }) => id));
  rows.forEach(({ id }, i) => {
    if (id !== undefined && !ids.has(id))
      throw new InvalidInput(`budgets[${i}].id: no budget of this ${scope.scope}: leave the id out for a new one`);
  });
  const kept = rows.filter((row) => idByKey.has(budgetRowKey(row)));
  const keptIds = new Set(kept.map((row) => idByKey.get(budgetRowKey(row))!));
  const removed = before.filter(({ id }) => !keptIds.has(id)).map(({ id }) => id);
  if (removed.length > 0) await tx`delete from budgets where org_id = ${scope.orgId} and id = any(${removed}::uuid[])`;
  const changed = rows.flatMap((row, position) => {
    const old = before.find(({ id }) => id === idByKey.get(budgetRowKey(row)));
    const isSame = old?.cents === row.cents && old.mode === row.mode && before.indexOf(old) === position;
    return old === undefined || isSame ? [] : [{ id: old.id, cents: row.cents, mode: row.mode, position }];
  });
  if (changed.length > 0)
    await tx`
      update budgets b set cents = r.cents, mode = r.mode, position = r.position from unnest(
        ${arrayLiteral(changed, ({ id }) => id)}::text::uuid[],
        ${arrayLiteral(changed, ({ cents }) => cents)}::text::bigint[],
        ${arrayLiteral(changed, ({ mode }) => mode)}::text::text[],
        ${arrayLiteral(changed, ({ position }) => position)}::text::smallint[]) as r(id, cents, mode, position)
       where b.id = r.id and b.org_id = ${scope.orgId}`;
  const added = rows.filter((row) => !idByKey.has(budgetRowKey(row)));
  for (const row of added) {
    const id = uuidv7(nowMs);
    await tx`
      insert into budgets ${tx({
        id,
        org_id: scope.orgId,
        project_id: scope.scope === 'project' ? scope.id : null,
        agent_id: scope.scope === 'agent' ? scope.id : null,
        time_window: row.window,
        cents: row.cents,
        models: [...row.models],
        tag: row.tag,
        mode: row.mode,
        position: rows.indexOf(row),
      })}`;
    await seedBudgetSpend(tx, scope, { ...row, id }, nowMs);
  }
  return removed.length + changed.length + added.length > 0;
}

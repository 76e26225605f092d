/**
 * What cells have spent of their shares of hard budgets (docs/regions.md#hard-budgets): sums of new usage and their SQL
 * (0330_cell_spend.sql). A record names the shares that counted it, `<id>@<window>/<cell>`. Nano-dollars.
 */
import { parseWindowInCell } from '@acg/base/cells';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { type BudgetPeriod, isBudgetPeriod } from './budget-row-sums.js';
import { freeSpendSlotSql } from './month-spend-store.js';
import { isUuid, NANOS_SUM_MAX } from './usage-field-validation.js';
import type { UsageDimensions, UsageEntry } from './usage-record-with-shared-dimensions.js';

interface CellPeriod extends BudgetPeriod {
  readonly cell: string;
}

interface CellSpend extends CellPeriod {
  readonly spentNanos: number;
}

/** Of one call: the rows of budget-row-sums, their shares, and the shares of the three plain monthly budgets. */
const ENTRIES_PER_CALL_MAX = 150;

/** Leaves out what is malformed. */
function parseCellPeriods({ orgId, budgetRows }: UsageDimensions): readonly CellPeriod[] {
  if (!budgetRows.includes('/')) return [];
  return budgetRows.split(',', ENTRIES_PER_CALL_MAX).flatMap((entry) => {
    const at = entry.indexOf('@');
    const inCell = parseWindowInCell(entry.slice(at + 1));
    const budgetId = entry.slice(0, at).toLowerCase();
    if (at < 0 || inCell === null || !isUuid(budgetId) || !isBudgetPeriod(inCell.window)) return [];
    return { orgId, budgetId, period: inCell.window, cell: inCell.cell };
  });
}

const keyOf = ({ orgId, budgetId, period, cell }: CellPeriod): string => `${budgetId} ${period} ${cell} ${orgId}`;

/** In key order, in which transactions lock their rows. */
export function sumByCell(entries: readonly UsageEntry[]): readonly CellSpend[] {
  const costs = new Map<UsageDimensions, number>();
  for (const { dimensions, costNanos } of entries)
    if (costNanos > 0) costs.set(dimensions, (costs.get(dimensions) ?? 0) + costNanos);
  const sums = new Map<string, CellSpend>();
  for (const [dimensions, costNanos] of costs) {
    for (const period of new Map(parseCellPeriods(dimensions).map((one) => [keyOf(one), one])).values()) {
      const key = keyOf(period);
      sums.set(key, { ...period, spentNanos: (sums.get(key)?.spentNanos ?? 0) + costNanos });
    }
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** The shares that these records touch, also where they were booked before. */
export function cellPeriodsOf(entries: readonly UsageEntry[]): readonly CellPeriod[] {
  const periods = new Map<string, CellPeriod>();
  for (const dimensions of new Set(entries.map((entry) => entry.dimensions)))
    for (const period of parseCellPeriods(dimensions)) periods.set(keyOf(period), period);
  return [...periods.values()];
}

/** Adds the sums, which are in key order. */
export async function addCellSpend(tx: Tx, sums: readonly CellSpend[]): Promise<void> {
  if (sums.length === 0) return;
  await tx`
    with free as (${freeSpendSlotSql(tx)})
    insert into cell_spend as s (org_id, budget_id, period, cell, slot, spent_nanos)
    select r.org_id, r.budget_id, r.period, r.cell, free.slot, r.spent_nanos from free, unnest(
      ${arrayLiteral(sums, (s) => s.orgId)}::text::uuid[],
      ${arrayLiteral(sums, (s) => s.budgetId)}::text::uuid[],
      ${arrayLiteral(sums, (s) => s.period)}::text::text[],
      ${arrayLiteral(sums, (s) => s.cell)}::text::text[],
      ${arrayLiteral(sums, (s) => s.spentNanos)}::text::bigint[]) as r(org_id, budget_id, period, cell, spent_nanos)
     order by r.budget_id, r.period, r.cell
    on conflict (budget_id, period, cell, slot, org_id) do update set updated_at = now(),
      spent_nanos = least(s.spent_nanos, ${NANOS_SUM_MAX}) + excluded.spent_nanos`;
}

/** The totals of these shares; 0 where nothing was spent. */
export async function selectCellSpend(sql: Sql | Tx, periods: readonly CellPeriod[]): Promise<readonly CellSpend[]> {
  if (periods.length === 0) return [];
  return sql<CellSpend[]>`
    select r.org_id as "orgId", r.budget_id as "budgetId", r.period, r.cell, s.nanos as "spentNanos"
      from unnest(
        ${arrayLiteral(periods, (s) => s.orgId)}::text::uuid[],
        ${arrayLiteral(periods, (s) => s.budgetId)}::text::uuid[],
        ${arrayLiteral(periods, (s) => s.period)}::text::text[],
        ${arrayLiteral(periods, (s) => s.cell)}::text::text[]) as r(org_id, budget_id, period, cell)
     cross join lateral (
       select least(coalesce(sum(s.spent_nanos), 0), 9223372036854775807)::bigint as nanos from cell_spend s
        where s.budget_id = r.budget_id and s.period = r.period and s.cell = r.cell and s.org_id = r.org_id) s`;
}

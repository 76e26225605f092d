/** The budgets of one object, as its own feature reads and writes them: within that feature's transaction. */
import { type BudgetRowMode, windowEndMs } from '@acg/base/budget-rows';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { loadBudgetRows, replaceBudgetRows, type StoredBudgetRow } from './budget-row-store.js';
import {
  type BudgetRowSpec,
  type BudgetScope,
  budgetRowKey,
  type MonthlyRow,
  mergeBudgetFields,
  PLAIN_MONTHLY,
} from './merge-budget-fields.js';
import type { BudgetRow, BudgetRowInput } from './schema.js';

/** The columns of the plain monthly row. Projects and organizations have no mode of their own: soft. */
interface MonthlyColumns {
  readonly budgetCentsMonthly: number | null;
  readonly budgetMode?: 'soft' | 'hard';
}

interface BudgetPatch {
  readonly budgets?: readonly BudgetRowInput[];
  readonly budgetCentsMonthly?: number | null;
  readonly budgetMode?: 'soft' | 'hard';
}

export interface LoadedBudgets {
  readonly monthly: MonthlyRow;
  /** Without the plain monthly row. */
  readonly rows: readonly StoredBudgetRow[];
  /** The stored plain monthly row, where its mode needs one. */
  readonly storedMonthly: StoredBudgetRow | null;
}

const PLAIN_KEY = budgetRowKey(PLAIN_MONTHLY);

export async function loadBudgets(sql: Sql | Tx, scope: BudgetScope, columns: MonthlyColumns): Promise<LoadedBudgets> {
  const stored = await loadBudgetRows(sql, scope);
  const storedMonthly = stored.find((row) => budgetRowKey(row) === PLAIN_KEY) ?? null;
  const cents = columns.budgetCentsMonthly;
  const mode = cents === null || storedMonthly === null ? (columns.budgetMode ?? 'soft') : storedMonthly.mode;
  return { monthly: { cents, mode }, rows: stored.filter((row) => row !== storedMonthly), storedMonthly };
}

/** The columns that the patch leads to. Throws `InvalidInput` for fields that contradict each other. */
export function planBudgetChange(patch: BudgetPatch, before: LoadedBudgets) {
  const { monthly, rows } = mergeBudgetFields(patch, before.monthly);
  const budgetMode: 'soft' | 'hard' = monthly.mode === 'hard' ? 'hard' : 'soft';
  return { monthly, rows, columns: { budgetCentsMonthly: monthly.cents, budgetMode } };
}

/** Call it after the object's columns are written, which locks the object. Returns whether a row changed. */
export async function writeBudgetRows(
  tx: Tx,
  scope: BudgetScope,
  { monthly, rows }: ReturnType<typeof planBudgetChange>,
  before: LoadedBudgets,
): Promise<boolean> {
  const isImplied = (mode: BudgetRowMode) => mode === 'soft' || (mode === 'hard' && scope.scope === 'agent');
  const stored: BudgetRowSpec[] =
    monthly.cents === null || isImplied(monthly.mode)
      ? []
      : [{ ...PLAIN_MONTHLY, id: undefined, cents: monthly.cents, mode: monthly.mode }];
  return replaceBudgetRows(tx, scope, [...(rows ?? before.rows), ...stored], Date.now());
}

/** As responses show them. `monthNanos`: spend of the object in this month. */
export function presentBudgets({ monthly, rows }: LoadedBudgets, monthNanos: number, nowMs: number): BudgetRow[] {
  const resetAt = (window: StoredBudgetRow['window']): string | null => {
    const endMs = windowEndMs(window, nowMs);
    return endMs === null ? null : new Date(endMs).toISOString();
  };
  const cents = (nanos: number): number => Math.round(nanos / NANOS_PER_CENT);
  const plain: BudgetRow[] =
    monthly.cents === null
      ? []
      : [
          {
            window: 'month',
            cents: monthly.cents,
            models: [],
            mode: monthly.mode,
            spentCents: cents(monthNanos),
            resetAt: resetAt('month'),
          },
        ];
  return [
    ...plain,
    ...rows.map(({ id, window, cents: limit, models, tag, mode, spentNanos }) => ({
      id,
      window,
      cents: limit,
      models: [...models],
      ...(tag === '' ? {} : { tag }),
      mode,
      spentCents: cents(spentNanos),
      resetAt: resetAt(window),
    })),
  ];
}

/** For the audit trail: what was configured, without spend. */
export const auditedBudgets = ({ monthly, rows }: LoadedBudgets): JSONValue => [
  ...(monthly.cents === null ? [] : [{ window: 'month', cents: monthly.cents, mode: monthly.mode }]),
  ...rows.map(({ window, cents, models, tag, mode }) => ({
    window,
    cents,
    mode,
    ...(models.length === 0 ? {} : { models: [...models] }),
    ...(tag === '' ? {} : { tag }),
  })),
];

/** Spend of the object in the current calendar month (UTC), nano-dollars. */
export async function loadMonthNanos(sql: Sql | Tx, { orgId, scope, id }: BudgetScope): Promise<number> {
  const month = sql`to_char(now() at time zone 'UTC', 'YYYY-MM')`;
  const rows =
    scope === 'agent'
      ? await sql<{ nanos: number }[]>`
          select spent_nanos as nanos from month_spend where agent_id = ${id} and month = ${month} and org_id = ${orgId}`
      : await sql<{ nanos: number }[]>`select spent_nanos as nanos from scope_month(${scope}, ${id}, ${month})`;
  return rows[0]?.nanos ?? 0;
}

/**
 * Merges `budgets` with the older fields `budgetCentsMonthly` and `budgetMode`, which are the plain monthly row
 * (docs/contract.md#budget-rows). Pure.
 */
import type { BudgetRowMode, BudgetWindow } from '@acg/base/budget-rows';
import { InvalidInput } from '../domain/errors.js';
import type { BudgetRowInput } from './schema.js';

/** An object with budgets. */
export interface BudgetScope {
  readonly orgId: string;
  readonly scope: 'agent' | 'project' | 'org';
  readonly id: string;
}

/** What identifies a row within its object. */
interface BudgetRowKey {
  readonly window: BudgetWindow;
  /** Sorted. */
  readonly models: readonly string[];
  /** `''`: every call. */
  readonly tag: string;
}

export interface BudgetRowSpec extends BudgetRowKey {
  readonly id: string | undefined;
  readonly cents: number;
  readonly mode: BudgetRowMode;
}

/** The row of the window month without models and tag. */
export interface MonthlyRow {
  /** US cents; null: no budget. */
  readonly cents: number | null;
  readonly mode: BudgetRowMode;
}

interface BudgetFields {
  readonly budgets?: readonly BudgetRowInput[];
  readonly budgetCentsMonthly?: number | null;
  readonly budgetMode?: 'soft' | 'hard';
}

interface MergedBudgets {
  readonly monthly: MonthlyRow;
  /** All other rows; null: they stay as they are. */
  readonly rows: readonly BudgetRowSpec[] | null;
}

export const budgetRowKey = ({ window, models, tag }: BudgetRowKey): string => JSON.stringify([window, models, tag]);
const isPlainMonthly = ({ window, models, tag }: BudgetRowKey): boolean =>
  window === 'month' && models.length === 0 && tag === '';
export const PLAIN_MONTHLY: BudgetRowKey = { window: 'month', models: [], tag: '' };

/** Throws {@link InvalidInput}, which names the fields that contradict each other. */
export function mergeBudgetFields(given: BudgetFields, before: MonthlyRow): MergedBudgets {
  const { budgets, budgetCentsMonthly, budgetMode } = given;
  if (budgets === undefined) {
    const cents = budgetCentsMonthly === undefined ? before.cents : budgetCentsMonthly;
    return { monthly: monthlyRow(cents, budgetMode ?? before.mode), rows: null };
  }
  const rows: BudgetRowSpec[] = [];
  const indexByKey = new Map<string, number>();
  let monthly: MonthlyRow | null = null;
  budgets.forEach((row, i) => {
    const key = { window: row.window, models: [...(row.models ?? [])].sort(), tag: row.tag ?? '' };
    const first = indexByKey.get(budgetRowKey(key));
    if (first !== undefined)
      throw new InvalidInput(
        `budgets[${first}] and budgets[${i}] have the same window, models and tag: leave one of them out`,
      );
    indexByKey.set(budgetRowKey(key), i);
    if (!isPlainMonthly(key)) {
      rows.push({ ...key, id: row.id, cents: row.cents, mode: row.mode ?? 'soft' });
      return;
    }
    assertEqual('budgetCentsMonthly', budgetCentsMonthly, `budgets[${i}].cents`, row.cents);
    if (row.mode !== undefined) assertEqual('budgetMode', budgetMode, `budgets[${i}].mode`, row.mode);
    monthly = { cents: row.cents, mode: row.mode ?? budgetMode ?? before.mode };
  });
  monthly ??= monthlyRow(budgetCentsMonthly ?? null, budgetMode ?? before.mode);
  return { monthly, rows };
}

/** Only an existing row can be in audit mode. */
const monthlyRow = (cents: number | null, mode: BudgetRowMode): MonthlyRow => ({
  cents,
  mode: cents === null && mode === 'audit' ? 'soft' : mode,
});

function assertEqual<T>(oldField: string, old: T | undefined, newField: string, value: T): void {
  if (old !== undefined && old !== value)
    throw new InvalidInput(`${oldField} (${old}) and ${newField} (${value}) contradict each other: state only one`);
}

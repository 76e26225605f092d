/** A budget row as the API shows it, and as a change sends it. */
import type { BudgetRowMode, BudgetWindow } from '@acg/base/budget-rows';

export const BUDGET_MODE_LABELS: Readonly<Record<BudgetRowMode, string>> = {
  soft: 'Soft: rejects calls once it is spent',
  hard: 'Hard: rejects calls that may exceed it',
  audit: 'Audit: counts, and never rejects',
};

export interface BudgetRow {
  readonly id?: string;
  readonly window: BudgetWindow;
  readonly cents: number;
  readonly models: readonly string[];
  readonly tag?: string;
  readonly mode: BudgetRowMode;
  readonly spentCents: number;
  readonly resetAt: string | null;
}

export type BudgetRowInput = {
  window: BudgetWindow;
  cents: number;
  models: string[];
  tag?: string;
  mode: BudgetRowMode;
};

export const isPlainMonthly = ({ window, models, tag }: Pick<BudgetRow, 'window' | 'models' | 'tag'>): boolean =>
  window === 'month' && models.length === 0 && tag === undefined;

export const toBudgetRowInput = ({ window, cents, models, tag, mode }: BudgetRow | BudgetRowInput): BudgetRowInput => ({
  window,
  cents,
  models: [...models],
  ...(tag === undefined ? {} : { tag }),
  mode,
});

/**
 * Budget rows (docs/contract.md#budget-rows): their windows, and which calls they count. Pure. The ledger, the replay of
 * limits and tests use it; data planes choose the rows of a call the same way. Runs in browsers, too.
 */
import { matchesWildcard } from './policy/call-pattern.js';
import { DAY_MS } from './time-and-money-units.js';

export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];
export const BUDGET_ROW_MODES = ['soft', 'hard', 'audit'] as const;
export type BudgetRowMode = (typeof BUDGET_ROW_MODES)[number];
export const BUDGET_ROWS_MAX = 20;
export const BUDGET_ROW_MODELS_MAX = 20;
/** `key=value`. The value has no comma, because records join tags by commas. */
export const TAG_PATTERN = '^[a-z0-9_]{1,32}=[\\x20-\\x2b\\x2d-\\x7e]{1,64}$';

/** `YYYY-MM-DD`, UTC. */
export const utcDayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** `2026-W48`: the ISO week of a day. It begins on Monday and belongs to the year of its Thursday. */
export function isoWeekOf(day: string): string {
  const ms = Date.parse(day);
  const weekday = (new Date(ms).getUTCDay() + 6) % 7; // Monday = 0
  const thursday = new Date(ms + (3 - weekday) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** The instance of the window in which a day (`YYYY-MM-DD`) lies. A row of all time is counted by months. */
export function windowInstanceOf(window: BudgetWindow, day: string): string {
  if (window === 'day') return day;
  return window === 'week' ? isoWeekOf(day) : day.slice(0, 7);
}

/** First instant after the window that holds `ms`, Unix ms. Null: the window is all time. */
export function windowEndMs(window: BudgetWindow, ms: number): number | null {
  const date = new Date(ms);
  const dayMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  if (window === 'day') return dayMs + DAY_MS;
  if (window === 'week') return dayMs + (7 - ((date.getUTCDay() + 6) % 7)) * DAY_MS;
  return window === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) : null;
}

/** First instant of the window that holds `ms`, Unix ms. Null: the window is all time. */
export function windowStartMs(window: BudgetWindow, ms: number): number | null {
  const date = new Date(ms);
  const dayMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  if (window === 'day') return dayMs;
  if (window === 'week') return dayMs - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return window === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) : null;
}

export interface BudgetRowFilter {
  /** Patterns, `*` matches any run of characters, case is ignored. Empty: every model. */
  readonly models: readonly string[];
  /** `key=value`; `''`: every call. */
  readonly tag: string;
}

/** Whether a row counts a call. `tags`: `customer=acme,feature=x`. A call that names no model counts in every row. */
export function compileBudgetRowFilter({ models, tag }: BudgetRowFilter): (model: string, tags: string) => boolean {
  const patterns = models.map((pattern) => foldCase(pattern).split('*'));
  return (model, tags) => {
    if (tag !== '' && !`,${tags},`.includes(`,${tag},`)) return false;
    if (patterns.length === 0 || model === '') return true;
    const name = foldCase(model);
    return patterns.some((pieces) => matchesWildcard(pieces, name));
  };
}

const foldCase = (text: string): string => text.normalize('NFKC').toLowerCase();

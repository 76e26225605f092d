/**
 * Sums a batch of new usage by budget row and window instance. A record names the rows that counted it, chosen at its
 * admission. Deferred usage counts in the rows that match its own model and tags. Pure.
 */
import {
  type BudgetRowFilter,
  type BudgetWindow,
  compileBudgetRowFilter,
  windowInstanceOf,
} from '@acg/base/budget-rows';
import type { DeferredUsageEntry } from './deferred-usage-deduplication.js';
import { billingDayOf } from './usage-aggregation.js';
import { isUuid } from './usage-field-validation.js';
import type { UsageDimensions, UsageEntry } from './usage-record-with-shared-dimensions.js';

export interface BudgetPeriod {
  readonly orgId: string;
  readonly budgetId: string;
  /** `2026-11-28`, `2026-W48`, `2026-11`, or `total` for runs. */
  readonly period: string;
}

export interface BudgetSpendSum extends BudgetPeriod {
  spentNanos: number;
  /** The part that only the ledger counts: deferred usage. */
  ledgerNanos: number;
  calls: number;
}

/**
 * A row of an agent, a project or an organization; `scopeId` is the id of that object. Or, with the window `run`, a run
 * or an ancestor of the run `scopeId`.
 */
export interface BudgetRowOfScope extends BudgetRowFilter {
  readonly id: string;
  readonly orgId: string;
  readonly scopeId: string;
  readonly window: BudgetWindow | 'run';
}

/** Rows of one call: 20 each of agent, project and organization, and a run with four ancestors. */
const ROWS_PER_CALL_MAX = 70;
const PERIOD = /^(?:\d{4}-(?:0[1-9]|1[0-2])(?:-\d{2})?|\d{4}-W\d{2}|total)$/;

export const isBudgetPeriod = (text: string): boolean => PERIOD.test(text);

/** Reads `<id>@<window>,…`. Leaves out what is malformed. */
function parseBudgetRows({ orgId, budgetRows }: UsageDimensions): readonly BudgetPeriod[] {
  if (budgetRows === '') return [];
  const periods = new Map<string, BudgetPeriod>();
  for (const entry of budgetRows.split(',', ROWS_PER_CALL_MAX)) {
    const at = entry.indexOf('@');
    const [budgetId, period] = [entry.slice(0, at).toLowerCase(), entry.slice(at + 1)];
    if (at > 0 && isUuid(budgetId) && isBudgetPeriod(period)) periods.set(entry, { orgId, budgetId, period });
  }
  return [...periods.values()];
}

const periodKey = ({ orgId, budgetId, period }: BudgetPeriod): string => `${budgetId} ${period} ${orgId}`;

/** In key order, in which transactions lock their rows. */
export function sumByBudgetRow(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[],
  rowsOfScopes: readonly BudgetRowOfScope[],
): readonly BudgetSpendSum[] {
  const counted = new Map<UsageDimensions, { costNanos: number; calls: number }>();
  for (const { dimensions, costNanos } of entries) {
    // Runs show their calls, also those without a cost.
    if (dimensions.budgetRows === '' || (costNanos <= 0 && dimensions.runId === '')) continue;
    const sum = counted.get(dimensions) ?? { costNanos: 0, calls: 0 };
    counted.set(dimensions, { costNanos: sum.costNanos + costNanos, calls: sum.calls + 1 });
  }
  const sums = new Map<string, BudgetSpendSum>();
  const add = (period: BudgetPeriod, spentNanos: number, ledgerNanos: number, calls: number): void => {
    const key = periodKey(period);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...period, spentNanos, ledgerNanos, calls });
    else {
      sum.spentNanos += spentNanos;
      sum.ledgerNanos += ledgerNanos;
      sum.calls += calls;
    }
  };
  for (const [dimensions, { costNanos, calls }] of counted) {
    for (const period of parseBudgetRows(dimensions)) add(period, costNanos, 0, calls);
  }
  const filters = rowsOfScopes.map((row) => ({ row, matches: compileBudgetRowFilter(row) }));
  for (const { fetch, model, costNanos } of deferredUsage) {
    if (costNanos === 0) continue;
    for (const period of deferredPeriods(fetch, model, filters)) add(period, costNanos, costNanos, 0);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

type CompiledRow = { readonly row: BudgetRowOfScope; readonly matches: (model: string, tags: string) => boolean };

function* deferredPeriods(
  fetch: DeferredUsageEntry['fetch'],
  model: string,
  filters: readonly CompiledRow[],
): Generator<BudgetPeriod> {
  const { orgId, agentId, projectId, tags, runId } = fetch;
  const day = billingDayOf(fetch.startedAtMs, fetch);
  for (const { row, matches } of filters) {
    const isOfCall = row.orgId === orgId && [agentId, projectId, orgId, runId].includes(row.scopeId);
    if (!isOfCall || !matches(model, tags)) continue;
    yield { orgId, budgetId: row.id, period: row.window === 'run' ? 'total' : windowInstanceOf(row.window, day) };
  }
}

/** The rows and windows that these items touch, also where they were booked before. */
export function budgetPeriodsOf(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[],
  rowsOfScopes: readonly BudgetRowOfScope[],
): readonly BudgetPeriod[] {
  const periods = new Map<string, BudgetPeriod>();
  for (const dimensions of new Set(entries.map((entry) => entry.dimensions)))
    for (const period of parseBudgetRows(dimensions)) periods.set(periodKey(period), period);
  const filters = rowsOfScopes.map((row) => ({ row, matches: compileBudgetRowFilter(row) }));
  for (const { fetch, model } of deferredUsage)
    for (const period of deferredPeriods(fetch, model, filters)) periods.set(periodKey(period), period);
  return [...periods.values()];
}

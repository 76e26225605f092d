/**
 * Limits and budget settings of one agent, as admission needs them. Created once per context and shared by all of its
 * calls.
 */
import type { BudgetRow } from './budget-row.js';
import { AGENT_PROVIDER_ROWS, type LimitValues, TPM_ROW, UNLIMITED } from './limit-table.js';

interface AgentLimitsInput {
  readonly orgId: string;
  readonly agentId: string;
  readonly byRow: LimitValues;
  /** Rows of the limit table that count per provider and never reject. */
  readonly auditedRows: readonly number[];
  /**
   * Every row that counts a call, in the order of their checks: the plain monthly ones of agent, project and
   * organization first.
   */
  readonly budgets: readonly BudgetRow[];
  /** Output tokens assumed for a call that sets no maximum. */
  readonly defaultMaxOutputTokens: number;
  /** Calls are rejected while the counter store is unavailable. */
  readonly rejectsUnchecked: boolean;
}

export interface AgentLimits extends AgentLimitsInput {
  /** The rows that have a budget. */
  readonly checkedBudgets: readonly BudgetRow[];
  /** Whether a limit that rejects calls counts cost: a budget, or a token limit. */
  readonly hasCostLimit: boolean;
  /** A row is hard: admission reserves the maximum cost of a call. */
  readonly hasHardBudget: boolean;
  /** Some rows do not count every call; see {@link limitsOfCall}. */
  readonly hasFilters: boolean;
  /** Some rows count only calls of some models. */
  readonly hasModelFilters: boolean;
  /** Something is in audit mode. */
  readonly hasAudit: boolean;
}

export const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;

export function createAgentLimits(input: AgentLimitsInput): AgentLimits {
  const checkedBudgets = input.budgets.filter(({ hasLimit }) => hasLimit);
  const limitsTokens = input.byRow[TPM_ROW] !== UNLIMITED && !input.auditedRows.includes(TPM_ROW);
  return Object.freeze({
    ...input,
    auditedRows: Object.freeze(input.auditedRows.filter((row) => AGENT_PROVIDER_ROWS.includes(row))),
    budgets: Object.freeze([...input.budgets]),
    checkedBudgets: Object.freeze(checkedBudgets),
    hasCostLimit: limitsTokens || checkedBudgets.some(({ mode }) => mode !== 'audit'),
    hasHardBudget: checkedBudgets.some(({ mode }) => mode === 'hard'),
    hasFilters: input.budgets.some(({ isFiltered }) => isFiltered),
    hasModelFilters: input.budgets.some(({ models }) => models.length > 0),
    hasAudit: input.auditedRows.length > 0 || checkedBudgets.some(({ mode }) => mode === 'audit'),
  });
}

/** Limits of calls by the rows that count them, so that calls of one tick that share all limits share one check. */
const selections = new WeakMap<AgentLimits, Map<string, AgentLimits>>();
/** Kept selections of one agent. Tags and models are the agent's, so their combinations have no other bound. */
const SELECTIONS_MAX = 64;

/**
 * The limits that apply to one call. `models`: those that the call names; null: it counts in rows of every model.
 * `tags`: `key=value` each. Returns the same object for calls that the same rows count.
 */
export function limitsOfCall(
  limits: AgentLimits,
  models: readonly string[] | null,
  tags: readonly string[],
): AgentLimits {
  if (!limits.hasFilters) return limits;
  const tagText = tags.join();
  const counting = limits.budgets.map((row) => row.countsCall(models, tagText));
  const key = counting.map(Number).join('');
  let known = selections.get(limits);
  if (known === undefined) {
    known = new Map();
    selections.set(limits, known);
  }
  let selected = known.get(key);
  if (selected === undefined) {
    selected = createAgentLimits({ ...limits, budgets: limits.budgets.filter((_, i) => counting[i]) });
    if (known.size >= SELECTIONS_MAX) known.clear();
    known.set(key, selected);
  }
  return selected;
}

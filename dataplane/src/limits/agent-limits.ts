/**
 * Limits and budget settings of one agent, as admission needs them. Created once per context and shared by all of its
 * calls.
 */
import type { CalendarWindow } from './calendar-window.js';
import { type LimitValues, TPM_ROW, UNLIMITED } from './limit-table.js';

/** Spend of one scope by the ledger, and the budget on it. */
export interface ScopeSpend {
  /** Row of the scope's budget in the limit table. */
  readonly row: number;
  /** Names the scope in keys; see scopeTag. */
  readonly tag: string;
  /** Nano-dollars; UNLIMITED = no budget. */
  readonly budgetNanos: number;
  /** The ledger's spend figure for `ledgerWindow`, nano-dollars. */
  readonly ledgerNanos: number;
  /**
   * The part of `ledgerNanos` that only the ledger counts, nano-dollars. Data planes never add it to their own totals.
   */
  readonly ledgerOnlyNanos: number;
}

export interface AgentLimits {
  readonly orgId: string;
  readonly agentId: string;
  readonly byRow: LimitValues;
  /** The month of the ledger's figures, which apply to no other window. Null: the control plane sent none. */
  readonly ledgerWindow: CalendarWindow | null;
  /**
   * The agent's own scope first, then its project and organization. Spend is counted without a budget, too, so that a
   * budget set in mid-month starts from the month's spend.
   */
  readonly scopes: readonly ScopeSpend[];
  /** The scopes that have a budget. */
  readonly budgetedScopes: readonly ScopeSpend[];
  /** Whether a limit counts cost: a budget of the agent, its project or its organization, or a token limit. */
  readonly hasCostLimit: boolean;
  /** Admission reserves the maximum cost of a call, in each of `budgetedScopes`. */
  readonly hardBudget: boolean;
  /** Output tokens assumed for a call that sets no maximum. */
  readonly defaultMaxOutputTokens: number;
  /** Calls are rejected while the counter store is unavailable. */
  readonly rejectsUnchecked: boolean;
}

export const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;

interface AgentLimitsInput {
  readonly orgId: string;
  readonly agentId: string;
  readonly byRow: LimitValues;
  readonly ledgerWindow: CalendarWindow | null;
  readonly scopes: readonly Omit<ScopeSpend, 'budgetNanos'>[];
  readonly hardBudget: boolean;
  readonly defaultMaxOutputTokens: number;
  readonly rejectsUnchecked: boolean;
}

export function createAgentLimits(input: AgentLimitsInput): AgentLimits {
  const scopes = input.scopes.map((spend) => Object.freeze({ ...spend, budgetNanos: input.byRow[spend.row]! }));
  const budgetedScopes = scopes.filter(({ budgetNanos }) => budgetNanos !== UNLIMITED);
  const hardBudget = input.hardBudget && budgetedScopes.length > 0;
  const hasCostLimit = budgetedScopes.length > 0 || input.byRow[TPM_ROW] !== UNLIMITED;
  return Object.freeze({
    ...input,
    scopes: Object.freeze(scopes),
    budgetedScopes: Object.freeze(budgetedScopes),
    hasCostLimit,
    hardBudget,
  });
}

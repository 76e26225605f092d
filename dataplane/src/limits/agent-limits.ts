/** What admission has to know of an agent. Made once per context; the same object serves all of its calls. */
import { BUDGET_ROW, type LimitValues, TPM_ROW, UNLIMITED } from './limit-table.js';

/** The month spend of one scope, as the ledger has it, and the budget on it. */
export interface ScopeSpend {
  /** Row of its budget in the limit table. */
  readonly row: number;
  /** Hash tag of its keys: the agent's id; of a project or an organization another one than any agent's. */
  readonly tag: string;
  /** Nano-dollars; UNLIMITED = no budget. */
  readonly budgetNanos: number;
  /** The ledger's figure of `month`. */
  readonly ledgerNanos: number;
  /** The part of it that only the ledger counts: data planes never add it to their own totals. */
  readonly ledgerOwnNanos: number;
}

export interface AgentLimits {
  readonly agentId: string;
  readonly byRow: LimitValues;
  /** Month of the ledger's figures (see calendar-month.ts); they say nothing of any other month. */
  readonly month: number;
  /** The agent's own first, always; then those of its project and organization that have a budget. */
  readonly scopes: readonly ScopeSpend[];
  /** Those of `spends` that have a budget. */
  readonly budgetedScopes: readonly ScopeSpend[];
  /**
   * Hash tags of its project and organization without a budget. Their spend is counted, too: a budget that is set in
   * mid-month starts from what was spent.
   */
  readonly unbudgetedTags: readonly string[];
  /** What calls cost counts: there is a budget of the agent, its project or its organization, or a limit of tokens. */
  readonly hasCostLimit: boolean;
  /** Admission reserves what a call may cost at most. */
  readonly hardBudget: boolean;
  /** Output tokens that a call is taken to want when it states no maximum. */
  readonly defaultMaxOutputTokens: number;
  /** Calls are refused while the store is away. */
  readonly rejectsUnchecked: boolean;
}

export const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;

interface AgentLimitsInput {
  readonly agentId: string;
  readonly byRow: LimitValues;
  readonly month: number;
  /** Of the agent; of project and organization, where they have a budget. */
  readonly scopes: readonly Omit<ScopeSpend, 'budgetNanos'>[];
  readonly unbudgetedTags: readonly string[];
  readonly hardBudget: boolean;
  readonly defaultMaxOutputTokens: number;
  readonly rejectsUnchecked: boolean;
}

export function createAgentLimits(input: AgentLimitsInput): AgentLimits {
  const scopes = input.scopes.map((spend) => Object.freeze({ ...spend, budgetNanos: input.byRow[spend.row]! }));
  const budgetedScopes = scopes.filter(({ budgetNanos }) => budgetNanos !== UNLIMITED);
  const hardBudget = input.hardBudget && input.byRow[BUDGET_ROW] !== UNLIMITED;
  const hasCostLimit = budgetedScopes.length > 0 || input.byRow[TPM_ROW] !== UNLIMITED;
  return Object.freeze({
    ...input,
    scopes: Object.freeze(scopes),
    budgetedScopes: Object.freeze(budgetedScopes),
    hasCostLimit,
    hardBudget,
  });
}

/** What one call of admit.lua is about. */
import type { AgentTerms } from './agent-terms.js';
import type { OwnTotal, Purse } from './purse.js';

export interface PurseItem {
  readonly purse: Purse;
  /** The total that it tells; null = this process has spent nothing of it. Chosen when the call is sent. */
  total: OwnTotal | null;
  /** What the total was then. */
  sentNanos: number;
  /** Some pair check asks for the month's spend. */
  asked: boolean;
  /** It tells of holds, or some pair check asks for one. */
  holds: boolean;
}

export interface Check {
  readonly purseIndex: number;
  readonly row: number;
  readonly budgetNanos: number;
}

/** Requests of one pair that came in one turn with the same terms. */
export interface PairCheck {
  readonly terms: AgentTerms;
  /** Null: money only. */
  readonly providerSlug: string | null;
  /** How many ask to pass; 0 = only to see. */
  wanted: number;
  /** Of each that asks. */
  readonly holdNanos: number;
  readonly checks: readonly Check[];
}

export interface TokenItem {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly row: number;
  tokens: number;
}

export interface CallItems {
  readonly purses: readonly PurseItem[];
  readonly pairChecks: readonly PairCheck[];
  readonly tokens: readonly TokenItem[];
}

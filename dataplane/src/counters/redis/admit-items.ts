/** What one call of admit.lua is about. */
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { SpendCounter, WriterTotal } from './spend-counter.js';

export interface SpendItem {
  readonly counter: SpendCounter;
  /** The total that it tells; null = this process has spent nothing of it. Chosen when the call is sent. */
  total: WriterTotal | null;
  /** What the total was then. */
  sentNanos: number;
  /** Some pair check asks for the month's spend. */
  needsSpent: boolean;
  /** It tells of holds, or some pair check asks for one. */
  hasReservations: boolean;
}

export interface BudgetCheck {
  readonly spendIndex: number;
  readonly row: number;
  readonly budgetNanos: number;
}

/** Requests of one pair that came in one turn with the same terms. */
export interface AdmissionCheck {
  readonly limits: AgentLimits;
  /** Null: money only. */
  readonly providerSlug: string | null;
  /** How many ask to pass; 0 = only to see. */
  requestCount: number;
  /** Of each that asks. */
  readonly reservationNanos: number;
  readonly budgetChecks: readonly BudgetCheck[];
}

export interface TokenUsageItem {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly row: number;
  tokens: number;
}

export interface AdmitItems {
  readonly spends: readonly SpendItem[];
  readonly admissionChecks: readonly AdmissionCheck[];
  readonly tokens: readonly TokenUsageItem[];
}

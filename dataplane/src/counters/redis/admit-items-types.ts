/** Input of one admit.lua call: spend items, admission checks and token usage. */
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { SpendCounter, WriterTotal } from './spend-counter-sent-as-totals.js';

export interface SpendItem {
  readonly counter: SpendCounter;
  /** The total to report, chosen when the call is sent; null = this process has spent nothing in this scope. */
  total: WriterTotal | null;
  /** Value of `total` when the call was sent, nano-dollars. */
  sentNanos: number;
  /** A budget check of the call needs the month's spend. */
  needsSpent: boolean;
  /** The item reports reservations, or a check of the call asks for one. */
  hasReservations: boolean;
}

export interface BudgetCheck {
  readonly spendIndex: number;
  readonly row: number;
  readonly budgetNanos: number;
}

/** Requests of one agent and provider that arrived in one event-loop tick with the same limits. */
export interface AdmissionCheck {
  readonly limits: AgentLimits;
  /** Null: the check concerns budgets only. */
  readonly providerSlug: string | null;
  /** Number of requests to admit; 0 = peek. */
  requestCount: number;
  /** Reservation of each request, nano-dollars. */
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

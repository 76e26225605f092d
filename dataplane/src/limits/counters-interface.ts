/**
 * Interface of the counters that enforce limits and track spend. The Redis and the in-memory implementation pass one
 * conformance suite. Money is integer nano-dollars. Results arrive by callback, which runs at most once and possibly
 * synchronously.
 */
import type { AgentLimits } from './agent-limits.js';
import type { BudgetRow } from './budget-row.js';
import type { BudgetWindow } from './calendar-window.js';
import type { LimitType } from './limit-table.js';

/** One request that needs admission. */
export interface AdmissionRequest {
  /** Those of the call; see `limitsOfCall`. */
  readonly limits: AgentLimits;
  readonly providerSlug: string;
  /** Maximum cost of the request in nano-dollars, reserved in every hard row until it is settled; 0 = no reservation. */
  readonly reservationNanos: number;
  /** Absent or null: no limit for the tool that the request names. */
  readonly toolRate?: ToolRate | null;
}

/** A limit for tools of an MCP server, counted for each agent and provider beside their other limits. */
export interface ToolRate {
  /** The tools, as the policy writes them; names the window. */
  readonly pattern: string;
  /** Requests in any 60 s. */
  readonly rpm: number;
}

type AdmissionOutcome =
  | 'admitted' // one request consumed in every window; the reservation is taken
  | 'unchecked' // the store is unavailable: admitted without consuming anything
  | 'tool_rpm' // rejected by the limit for its tool
  | LimitType; // rejected by this limit

export interface Admission {
  readonly outcome: AdmissionOutcome;
  /**
   * Row of the limit table that rejected the request; TOOL_RATE_ROW; -1 = none, or a budget row that is not in the
   * table.
   */
  readonly rejectedByRow: number;
  /** The budget row that rejected the request; null = none, or another limit. */
  readonly rejectedByBudget: BudgetRow | null;
  /**
   * When the rejecting check admits the next request, Unix seconds; 0 when admitted, and of a budget without a
   * window.
   */
  readonly retryAtSec: number;
  /** Limits and rows in audit mode that would have rejected the request, `rpm,budget:<id>`; `''` = none. */
  readonly wouldReject: string;
  /** Requests left in the RPM window after this one; 0 when rejected by rpm; the whole limit when unchecked. */
  readonly rpmRemaining: number;
  /**
   * When the oldest counted request leaves the RPM window, Unix seconds; 0 when none is counted; now when unchecked.
   */
  readonly rpmResetAtSec: number;
  /** Time of the decision by the store's clock, Unix seconds. The request belongs to its calendar windows. */
  readonly admittedAtSec: number;
  /**
   * Spend of the window and open reservations (including this request's) of the rejecting budget, else of the first one;
   * nano-dollars.
   */
  readonly spentNanos: number;
  readonly reservedNanos: number;
  /** The reservation taken; for a rejected request the one requested. Nano-dollars. */
  readonly reservationNanos: number;
}

/** Final cost of an admitted request. */
export interface Settlement {
  /** Those of the request's admission. */
  readonly limits: AgentLimits;
  readonly providerSlug: string;
  /** `admittedAtSec` of the request's admission. Cost and reservation belong to its calendar windows. */
  readonly admittedAtSec: number;
  readonly costNanos: number;
  /** Input and output tokens. */
  readonly tokens: number;
  /** The request's whole reservation in nano-dollars, released in the same step that adds the cost. */
  readonly reservationNanos: number;
}

/** Rate-limit state of one provider for `GET /v1/self`, by row of the limit table (rows that count per provider). */
export interface WindowSnapshot {
  readonly providerSlug: string;
  readonly remaining: readonly number[];
  /** When the counted requests leave, Unix seconds. Null when the count is zero or leaves gradually. */
  readonly resetAtSec: readonly (number | null)[];
  /** First row that would reject the next request, and when it admits one (Unix seconds); null: none, or in audit mode. */
  readonly rejection: { readonly row: number; readonly retryAtSec: number } | null;
}

/** Spend of one of the agent's `budgets` in its current window, in their order; nano-dollars. */
export interface SpendSnapshot {
  readonly budget: BudgetRow;
  readonly spentNanos: number;
  readonly reservedNanos: number;
}

export interface LimitSnapshot {
  /** Time of the reading by the store's clock, Unix seconds: its calendar windows are the current ones. */
  readonly takenAtSec: number;
  readonly windows: readonly WindowSnapshot[];
  readonly spends: readonly SpendSnapshot[];
}

export interface PeekRequest {
  readonly limits: AgentLimits;
  readonly providerSlugs: readonly string[];
}

/**
 * Which keys of the store count during an upgrade, see docs/counters.md#upgrade. `sinceMs`: when the last data plane of
 * the previous release had gone, Unix ms; 0 = there has never been one.
 */
export type LayoutStage = { readonly name: 'both' } | { readonly name: 'new'; readonly sinceMs: number };

/** Metrics that the counters report. */
export interface CountersMetrics {
  /** Requests admitted unchecked because the store was unavailable. */
  countUnchecked(count: number): void;
  /** State change: whether limits are enforced from now on. */
  setEnforcing(enforcing: boolean): void;
  /** Whether a server of the store may evict keys when its memory is full. */
  setEvictable(isEvictable: boolean): void;
  /** Time from sending a store call to its reply, ms. */
  observeStoreLatency(ms: number): void;
}

export interface Counters {
  /** Reported to the control plane with Watch: in-memory counters can serve one data plane only. */
  readonly kind: 'memory' | 'redis';
  /** Checks the limits in table order and consumes from all windows atomically, or from none. */
  admit(request: AdmissionRequest, done: (admission: Admission) => void): void;
  /**
   * Enlarges the reservation of a running request in the windows of its admission. Only hard rows can reject it. While
   * the store is unavailable, `rejectsUnchecked` of the agent decides.
   */
  growReservation(
    limits: AgentLimits,
    admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void;
  /**
   * Records the final cost of a request; the caller calls it once per request. Never blocks. Spend that cannot be added
   * now is kept and added later, exactly once.
   */
  settle(settlement: Settlement): void;
  /**
   * Updates the ledger's figures of a window, which arrive with acknowledged usage. Nano-dollars. `name`: see
   * `spendName`.
   */
  updateLedgerSpend(name: string, window: Pick<BudgetWindow, 'name'>, nanos: number, ledgerOnlyNanos: number): void;
  /** The run has ended: its spend may be forgotten once its last calls have ended. */
  endRun(runId: string): void;
  /** Reads the current state without consuming; null = the store is unavailable. */
  peek(request: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void;
  /**
   * Calls `listener` when the store has lost data (flushed, restarted empty, rolled back). Spend of other data planes
   * is then known to the ledger only, so its figures should be fetched again.
   */
  setDataLostListener(listener: () => void): void;
  /** Whether limits are enforced right now. */
  readonly isEnforcing: boolean;
  close(): Promise<void>;
}

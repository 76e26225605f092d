/**
 * Limits and spend of agents. Two implementations, Redis and in-process, pass one conformance suite. Money is integer
 * nano-dollars. Callbacks instead of promises: they run at most once, possibly synchronously.
 */
import type { AgentLimits } from './agent-limits.js';
import type { LimitType } from './limit-table.js';

/** One request that asks to pass. */
export interface AdmissionRequest {
  readonly limits: AgentLimits;
  readonly providerSlug: string;
  /** What it may cost at most, reserved until it is settled; 0 = nothing is reserved. */
  readonly reservationNanos: number;
}

type AdmissionOutcome =
  | 'admitted' // consumed one from every window, and the hold is taken
  | 'unchecked' // the store is unavailable: allowed, nothing consumed
  | LimitType; // refused

export interface Admission {
  readonly outcome: AdmissionOutcome;
  /** Row of the limit table that refused; -1 = none did. */
  readonly rejectedByRow: number;
  /** When the next request passes the check that refused, Unix seconds; 0 when none did. */
  readonly retryAtSec: number;
  /** Requests left in the RPM window after this one; 0 when refused by rpm; the whole limit when unchecked. */
  readonly rpmRemaining: number;
  /** When the oldest counted request leaves the RPM window, Unix seconds; 0 when none is counted; now when unchecked. */
  readonly rpmResetAtSec: number;
  /** The month that the request belongs to, by the store's clock (see calendar-month.ts). */
  readonly month: number;
  /** Month spend and live holds (also those just taken) of the scope that refused, else of the agent. */
  readonly spentNanos: number;
  readonly reservedNanos: number;
  /** Taken; when refused, what was asked for. */
  readonly reservationNanos: number;
}

/** What a request that was admitted has cost in the end. */
export interface Settlement {
  readonly limits: AgentLimits;
  readonly providerSlug: string;
  /** Of its admission. */
  readonly month: number;
  readonly costNanos: number;
  /** In and out. */
  readonly tokens: number;
  /** All that it has reserved: given back in the step that adds the cost. */
  readonly reservationNanos: number;
}

/** What `GET /v1/self` shows of one provider, by row of the limit table (the rows that count per provider). */
export interface WindowSnapshot {
  readonly providerSlug: string;
  readonly remaining: readonly number[];
  /** When what is counted leaves, Unix seconds; null = nothing is counted, or it leaves bit by bit. */
  readonly resetAtSec: readonly (number | null)[];
  /** The first row that would refuse the next request, and when one passes it, Unix seconds; null = none would. */
  readonly rejection: { readonly row: number; readonly retryAtSec: number } | null;
}

/** One of the terms' `spends`, in their order. */
export interface SpendSnapshot {
  readonly row: number;
  readonly spentNanos: number;
  readonly reservedNanos: number;
}

export interface LimitSnapshot {
  readonly windows: readonly WindowSnapshot[];
  readonly spends: readonly SpendSnapshot[];
}

export interface PeekRequest {
  readonly limits: AgentLimits;
  readonly providerSlugs: readonly string[];
}

/** What the counters report of themselves. */
export interface CountersMetrics {
  /** Requests that passed unchecked because the store was unavailable. */
  countUnchecked(count: number): void;
  /** A state change: whether checks are enforced from now on. */
  setEnforcing(enforcing: boolean): void;
  /** Time from sending a call to its answer, ms. */
  observeStoreLatency(ms: number): void;
}

export interface Counters {
  /** What the control plane is told at Watch: in-process counters serve one data plane only. */
  readonly kind: 'memory' | 'redis';
  /** Checks the limits in the order of their table and consumes, atomically: all or nothing. */
  admit(request: AdmissionRequest, done: (admission: Admission) => void): void;
  /** Asks for a larger hold of a request that is under way; while the store is unavailable as the terms say. */
  growReservation(limits: AgentLimits, reservationNanos: number, done: (granted: boolean) => void): void;
  /**
   * Books the end of a request; the caller does so once per request. Never blocks it; spend that cannot be added is kept
   * and added later, once.
   */
  settle(settlement: Settlement): void;
  /** The ledger's figures of a scope's month, as they come with acknowledged usage. */
  updateLedgerSpend(tag: string, month: number, nanos: number, ownNanos: number): void;
  /** Null: the store is unavailable. */
  peek(request: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void;
  /**
   * `listener` is called when the store turns out to have lost data (flushed, restarted empty, rolled back): spend that
   * other data planes added is known to the ledger alone, so its figures should be asked for anew.
   */
  onDataLost(listener: () => void): void;
  /** Whether checks are enforced right now. */
  readonly isEnforcing: boolean;
  close(): Promise<void>;
}

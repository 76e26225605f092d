/**
 * Limits and spend of agents. Two implementations, Redis and in-process, pass one conformance
 * suite. Money is integer nano-dollars. Callbacks instead of promises: they run at most once, possibly synchronously.
 */
import type { AgentTerms } from './agent-terms.js';
import type { LimitType } from './limit-table.js';

/** One request that asks to pass. */
export interface AdmissionRequest {
  readonly terms: AgentTerms;
  readonly providerSlug: string;
}

type AdmissionOutcome =
  | 'admitted' // consumed one from every window
  | 'unchecked' // the store is unavailable: allowed, nothing consumed
  | LimitType; // refused

export interface Admission {
  readonly outcome: AdmissionOutcome;
  /** Row of the limit table that refused; -1 = none did. */
  readonly refusedBy: number;
  /** When the next request passes the check that refused, Unix seconds; 0 when none did. */
  readonly passesAtSec: number;
  /** Requests left in the RPM window after this one; 0 when refused by rpm; the whole limit when unchecked. */
  readonly rpmRemaining: number;
  /** When the oldest counted request leaves the RPM window, Unix seconds; now when none is counted or unchecked. */
  readonly rpmResetAtSec: number;
  /** Month spend used in the decision. */
  readonly spentNanos: number;
}

/** What `GET /v1/self` shows of one provider, by row of the limit table; rows of another scope are 0 and null. */
export interface WindowStanding {
  readonly providerSlug: string;
  readonly remaining: readonly number[];
  /** Unix seconds; null = nothing is counted. */
  readonly resetAtSec: readonly (number | null)[];
}

export interface AgentStanding {
  readonly windows: readonly WindowStanding[];
  readonly spentNanos: number;
}

export interface StandingRequest {
  readonly terms: AgentTerms;
  readonly providerSlugs: readonly string[];
}

/** What the counters report of themselves. */
export interface CountersMetrics {
  /** Requests that passed unchecked because the store was unavailable. */
  unchecked(count: number): void;
  /** A state change: whether checks are enforced from now on. */
  enforcing(enforcing: boolean): void;
  /** Time from sending a call to its answer, ms. */
  storeLatency(ms: number): void;
}

export interface Counters {
  /** What the control plane is told at Watch: in-process counters serve one data plane only. */
  readonly kind: 'memory' | 'redis';
  /** Checks the limits in the order of their table and consumes, atomically: all or nothing. */
  admit(request: AdmissionRequest, done: (admission: Admission) => void): void;
  /**
   * Adds the true cost of a finished request to the month's spend; the caller does so once per request. Never blocks
   * it; spend that cannot be added is kept and added later, once.
   */
  addSpend(agentId: string, costNanos: number): void;
  /** Null: the store is unavailable. */
  standing(request: StandingRequest, done: (standing: AgentStanding | null) => void): void;
  /**
   * `listener` is called when the store turns out to have lost data (flushed, restarted empty, rolled back): spend that
   * other data planes added is known to the ledger alone, so its figures should be asked for anew.
   */
  onDataLost(listener: () => void): void;
  /** Whether checks are enforced right now. */
  readonly enforcing: boolean;
  close(): Promise<void>;
}

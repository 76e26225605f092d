/**
 * Limits and spend of agents (SPEC §8, DESIGN §7). Two implementations, Redis and in-process, pass one conformance
 * suite. Money is integer nano-dollars. Callbacks instead of promises: they run at most once, possibly synchronously.
 */

/** One request that asks to pass. Everything is copied before the call returns. */
export interface AdmissionRequest {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly rpmLimit: number;
  readonly rpdLimit: number;
  /** Null = no budget. */
  readonly budgetNanos: number | null;
  /** The month's spend that is known to be real, whatever the store says: max(ledger, highest seen). */
  readonly spendFloorNanos: number;
  /** `YYYY-MM` of spendFloorNanos; a floor of another month than the store's now does not count. */
  readonly spendFloorMonth: string;
}

export type AdmissionOutcome =
  | 'admitted' // consumed one from both windows
  | 'unchecked' // the store is unavailable: allowed, nothing consumed (SPEC §8 fail-open)
  | 'rpm'
  | 'rpd'
  | 'budget';

export interface Admission {
  readonly outcome: AdmissionOutcome;
  /** Requests left in the RPM window after this one; 0 when refused by rpm; the whole limit when unchecked. */
  readonly rpmRemaining: number;
  /** Unix seconds: when admitted, when the oldest counted request leaves the RPM window; refused, when the next request would pass; unchecked, now. */
  readonly resetAtSec: number;
  /** Month spend used in the decision. */
  readonly spentNanos: number;
}

/** What `GET /v1/self` shows of one provider; consumes nothing. */
export interface WindowStanding {
  readonly providerSlug: string;
  readonly rpmRemaining: number;
  readonly rpmResetAtSec: number | null;
  readonly rpdRemaining: number;
  readonly rpdResetAtSec: number | null;
}

export interface AgentStanding {
  readonly windows: readonly WindowStanding[];
  readonly spentNanos: number;
}

export interface StandingRequest {
  readonly agentId: string;
  readonly providerSlugs: readonly string[];
  readonly rpmLimit: number;
  readonly rpdLimit: number;
  readonly spendFloorNanos: number;
  readonly spendFloorMonth: string;
}

/** What the counters report of themselves (DESIGN §12). */
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
  /** Checks rpm → rpd → budget and consumes, atomically: all or nothing. */
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

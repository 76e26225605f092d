/** The interface of the breakers for the stages of a call. */

export type BreakerState = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface BreakerStatus {
  readonly state: BreakerState;
  /** Incremented by each transition; outcomes carry the epoch under which their call was admitted. */
  readonly epoch: number;
  /** Unix ms. OPEN: the end of the cooldown, 0 when unknown. CLOSED: the end of an operator's override. */
  readonly openUntilMs: number;
}

/** The keys of an upstream's breakers. */
export interface BreakerKeys {
  /** Key of the organization's breaker. */
  readonly circuitKey: string;
  /** Key of the fleet breaker; `''`: the origin has none. */
  readonly fleetKey: string;
  readonly origin: string;
}

export interface Breakers {
  /**
   * Returns the first breaker that blocks: fleet breaker, connect breaker of this process, organization's breaker.
   * Null: CLOSED, and no transition was ever seen.
   */
  getStatus(upstream: BreakerKeys): BreakerStatus | null;
  /** The upstream has answered a call, with any status. */
  onUpstreamAnswered(upstream: BreakerKeys): void;
  /** Requests a probe lease. Calls `done` once, asynchronously; `lease` is null when none is free. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void;
  /** Releases a lease that was not used. */
  releaseProbe(circuitKey: string, lease: string): void;
  /** Reports a successful probe before its usage record, which then carries no lease. */
  reportProbeSuccess(circuitKey: string, epoch: number, lease: string): void;
}

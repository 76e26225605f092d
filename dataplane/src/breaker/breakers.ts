/** What the stages ask of the circuits. */

export type BreakerState = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface BreakerStatus {
  readonly state: BreakerState;
  /** Raised by each transition; results carry the epoch that they were admitted under. */
  readonly epoch: number;
  /** Unix ms. OPEN: the end of the cooldown, 0 where it is not known. CLOSED: until when an operator holds it so. */
  readonly openUntilMs: number;
}

/** What an upstream's breakers are called. */
export interface BreakerKeys {
  /** The organization's. */
  readonly circuitKey: string;
  /** The fleet's; `''`: the origin has none. */
  readonly fleetKey: string;
  readonly origin: string;
}

export interface Breakers {
  /**
   * What refuses calls first: the fleet's breaker, this process's connect breaker, the organization's own. Null: CLOSED,
   * and no transition of it was ever seen.
   */
  getStatus(upstream: BreakerKeys): BreakerStatus | null;
  /** The upstream has answered a call, with whatever status. */
  onUpstreamAnswered(upstream: BreakerKeys): void;
  /** Asks for a probe place; `lease` is null when there is none. Runs once, later. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void;
  /** Gives a place back that was not used. */
  releaseProbe(circuitKey: string, lease: string): void;
  /** The probe's outcome is known before its usage record, which then carries no lease. */
  reportProbeSuccess(circuitKey: string, epoch: number, lease: string): void;
}

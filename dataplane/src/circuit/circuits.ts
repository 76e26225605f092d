/** What the stages ask of the circuits. */

export type CircuitStateName = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface Circuit {
  readonly state: CircuitStateName;
  /** Raised by each transition; results carry the epoch that they were admitted under. */
  readonly epoch: number;
  /** Unix ms. OPEN: the end of the cooldown, 0 where it is not known. CLOSED: until when an operator holds it so. */
  readonly openUntilMs: number;
}

/** What an upstream's breakers are called. */
export interface BreakerNames {
  /** The organization's. */
  readonly circuitKey: string;
  /** The fleet's; `''`: the origin has none. */
  readonly fleetKey: string;
  readonly origin: string;
}

export interface Circuits {
  /**
   * What refuses calls first: the fleet's breaker, this process's connect breaker, the organization's own. Null: CLOSED,
   * and no transition of it was ever seen.
   */
  view(upstream: BreakerNames): Circuit | null;
  /** The upstream has answered a call, with whatever status. */
  answered(upstream: BreakerNames): void;
  /** Asks for a probe place; `lease` is null when there is none. Runs once, later. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void;
  /** Gives a place back that was not used. */
  releaseProbe(circuitKey: string, lease: string): void;
  /** The probe's outcome is known before its usage record, which then carries no lease. */
  probeSucceeded(circuitKey: string, epoch: number, lease: string): void;
}

/** What the stages ask of the circuits. */

export type CircuitStateName = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface Circuit {
  readonly state: CircuitStateName;
  /** Raised by each transition; results carry the epoch that they were admitted under. */
  readonly epoch: number;
  /** Unix ms; 0 unless OPEN. */
  readonly openUntilMs: number;
}

export interface Circuits {
  /** Null: CLOSED, and no transition of it was ever seen. */
  view(circuitKey: string): Circuit | null;
  /** Asks for a probe place; `lease` is null when there is none. Runs once, later. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void;
  /** Gives a place back that was not used. */
  releaseProbe(circuitKey: string, lease: string): void;
  /** The probe's outcome is known before its usage record, which then carries no lease. */
  probeSucceeded(circuitKey: string, epoch: number, lease: string): void;
}

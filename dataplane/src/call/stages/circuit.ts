/** The circuit of the upstream's origin: OPEN refuses, HALF_OPEN lets only leased probes pass (DESIGN §10). */
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import { circuitOpen } from '../rejections.js';

export interface CircuitView {
  readonly state: 'CLOSED' | 'HALF_OPEN' | 'OPEN';
  readonly epoch: number;
  /** Unix ms; 0 unless OPEN. */
  readonly openUntilMs: number;
}

export interface Circuits {
  /** Null: CLOSED, and no transition of it was ever seen. */
  view(circuitKey: string): CircuitView | null;
  /** Asks for a probe place; `lease` is null when there is none. Runs once, later. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void;
  /** Gives a place back that was not used. */
  releaseProbe(circuitKey: string, lease: string): void;
  /** The probe's outcome is known before its usage record, which then carries no lease. */
  probeSucceeded(circuitKey: string, epoch: number, lease: string): void;
}

export function createCircuit(circuits: Circuits, advance: Advance): RoutedStage {
  return (x) => {
    const { circuitKey } = x.routed.upstream;
    const circuit = circuits.view(circuitKey);
    if (circuit === null) return NEXT;
    x.circuitEpoch = circuit.epoch;
    if (circuit.state === 'CLOSED') return NEXT;
    if (circuit.state === 'OPEN') {
      x.reject(circuitOpen(circuit.openUntilMs, Date.now()));
      return DONE;
    }
    circuits.acquireProbe(circuitKey, circuit.epoch, (lease) => {
      if (lease === null) {
        x.reject(circuitOpen(0, Date.now()));
      } else if (x.over) {
        circuits.releaseProbe(circuitKey, lease); // the agent has gone meanwhile
      } else {
        x.probeLease = lease;
        advance(x);
      }
    });
    return WAIT;
  };
}

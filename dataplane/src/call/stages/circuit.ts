/**
 * The breakers of the upstream's origin: OPEN refuses, HALF_OPEN lets only leased probes pass
 * (docs/contract.md#circuits).
 */
import type { Circuits } from '../../circuit/circuits.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import { circuitOpen } from '../rejections.js';

/** Before anything is waited for: nobody sends a body to a circuit that is open. */
export function createCircuitLook(circuits: Pick<Circuits, 'view'>): RoutedStage {
  return (x) => {
    const circuit = circuits.view(x.routed.upstream);
    if (circuit?.state !== 'OPEN') return NEXT;
    x.reject(circuitOpen(circuit.openUntilMs, Date.now()));
    return DONE;
  };
}

export function createCircuit(circuits: Circuits, advance: Advance): RoutedStage {
  return (x) => {
    const { circuitKey } = x.routed.upstream;
    const circuit = circuits.view(x.routed.upstream);
    if (circuit === null) return NEXT;
    x.circuitEpoch = circuit.epoch;
    if (circuit.state === 'CLOSED') return NEXT;
    if (circuit.state === 'OPEN') {
      x.reject(circuitOpen(circuit.openUntilMs, Date.now()));
      return DONE;
    }
    x.waited = true;
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

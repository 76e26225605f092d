/**
 * Checks the circuit of the upstream's origin: OPEN rejects, HALF_OPEN admits only leased probes
 * (docs/contract.md#circuits).
 */
import type { Breakers } from '../../breaker/breakers-interface.js';
import { createCircuitOpenRejection } from '../../rejection/rejections.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';

/** Rejects before any wait, so that no agent sends a body to an open circuit. */
export function createBreakerPrecheckStage(breakers: Pick<Breakers, 'getStatus'>): RoutedStage {
  return (exchange) => {
    const circuit = breakers.getStatus(exchange.routed.upstream);
    if (circuit?.state !== 'OPEN') return NEXT;
    exchange.reject(createCircuitOpenRejection(circuit.openUntilMs, Date.now()));
    return DONE;
  };
}

export function createBreakerStage(breakers: Breakers, advance: Advance): RoutedStage {
  return (exchange) => {
    const { circuitKey } = exchange.routed.upstream;
    const circuit = breakers.getStatus(exchange.routed.upstream);
    if (circuit === null) return NEXT;
    exchange.admission.circuitEpoch = circuit.epoch;
    if (circuit.state === 'CLOSED') return NEXT;
    if (circuit.state === 'OPEN') {
      exchange.reject(createCircuitOpenRejection(circuit.openUntilMs, Date.now()));
      return DONE;
    }
    exchange.access.needsRecheck = true;
    breakers.acquireProbe(circuitKey, circuit.epoch, (lease) => {
      if (lease === null) {
        exchange.reject(createCircuitOpenRejection(0, Date.now()));
      } else if (exchange.hasEnded) {
        breakers.releaseProbe(circuitKey, lease); // The agent disconnected meanwhile.
      } else {
        exchange.admission.probeLease = lease;
        advance(exchange);
      }
    });
    return WAIT;
  };
}

/** The probe place that a call of a HALF_OPEN circuit holds: who gives it back, and when. */
import type { Breakers } from '../breaker/breakers.js';
import { type Exchange, isRouted, type RoutedExchange } from './exchange.js';

export class ProbeLeases {
  readonly #breakers: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>;

  constructor(circuits: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>) {
    this.#breakers = circuits;
  }

  /** Of a call that will not go out. One that did returns its place with its usage record. */
  release(exchange: Exchange): void {
    if (exchange.admission.probeLease === '' || exchange.wasForwarded || !isRouted(exchange)) return;
    this.#breakers.releaseProbe(exchange.routed.upstream.circuitKey, exchange.admission.probeLease);
    exchange.admission.probeLease = '';
  }

  /** Of a WebSocket that the upstream agreed to: it may last for days, and its probe must not wait for its end. */
  reportSuccess(exchange: RoutedExchange): void {
    if (exchange.admission.probeLease === '') return;
    this.#breakers.reportProbeSuccess(
      exchange.routed.upstream.circuitKey,
      exchange.admission.circuitEpoch,
      exchange.admission.probeLease,
    );
    exchange.admission.probeLease = '';
  }
}

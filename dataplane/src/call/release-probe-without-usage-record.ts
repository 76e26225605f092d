/** Releases the probe lease that a call to a HALF_OPEN circuit holds. */
import type { Breakers } from '../breaker/breakers-interface.js';
import { type Exchange, isRouted, type RoutedExchange } from './exchange.js';

export class ProbeLeaseReleaser {
  readonly #breakers: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>;

  constructor(breakers: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>) {
    this.#breakers = breakers;
  }

  /**
   * Releases the lease of a call that will not be forwarded. A forwarded call returns its lease with its usage record.
   */
  releaseUnlessForwarded(exchange: Exchange): void {
    if (exchange.admission.probeLease === '' || exchange.wasForwarded || !isRouted(exchange)) return;
    this.#breakers.releaseProbe(exchange.routed.upstream.circuitKey, exchange.admission.probeLease);
    exchange.admission.probeLease = '';
  }

  /**
   * Reports the probe of a WebSocket whose handshake the upstream accepted. The session may last for days, and the
   * breaker must not wait for its end.
   */
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

/** The probe place that a call of a HALF_OPEN circuit holds: who gives it back, and when. */
import type { Breakers } from '../breaker/breakers.js';
import { type Exchange, isRouted, type RoutedExchange } from './exchange.js';

export class ProbeLeases {
  readonly #breakers: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>;

  constructor(circuits: Pick<Breakers, 'releaseProbe' | 'reportProbeSuccess'>) {
    this.#breakers = circuits;
  }

  /** Of a call that will not go out. One that did returns its place with its usage record. */
  release(x: Exchange): void {
    if (x.probeLease === '' || x.forwarded || !isRouted(x)) return;
    this.#breakers.releaseProbe(x.routed.upstream.circuitKey, x.probeLease);
    x.probeLease = '';
  }

  /** Of a WebSocket that the upstream agreed to: it may last for days, and its probe must not wait for its end. */
  reportSuccess(x: RoutedExchange): void {
    if (x.probeLease === '') return;
    this.#breakers.reportProbeSuccess(x.routed.upstream.circuitKey, x.circuitEpoch, x.probeLease);
    x.probeLease = '';
  }
}

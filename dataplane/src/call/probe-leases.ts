/** The probe place that a call of a HALF_OPEN circuit holds: who gives it back, and when. */
import type { Circuits } from '../circuit/circuits.js';
import { type Exchange, isRouted, type RoutedExchange } from './exchange.js';

export class ProbeLeases {
  readonly #circuits: Pick<Circuits, 'releaseProbe' | 'probeSucceeded'>;

  constructor(circuits: Pick<Circuits, 'releaseProbe' | 'probeSucceeded'>) {
    this.#circuits = circuits;
  }

  /** Of a call that will not go out. One that did returns its place with its usage record. */
  giveBack(x: Exchange): void {
    if (x.probeLease === '' || x.forwarded || !isRouted(x)) return;
    this.#circuits.releaseProbe(x.routed.upstream.circuitKey, x.probeLease);
    x.probeLease = '';
  }

  /** Of a WebSocket that the upstream agreed to: it may last for days, and its probe must not wait for its end. */
  succeeded(x: RoutedExchange): void {
    if (x.probeLease === '') return;
    this.#circuits.probeSucceeded(x.routed.upstream.circuitKey, x.circuitEpoch, x.probeLease);
    x.probeLease = '';
  }
}

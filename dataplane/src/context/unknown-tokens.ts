/**
 * How many tokens that turn out unknown one client address may ask about. Whoever uses them up gets no further question
 * through to the control plane for a while; tokens that the cache knows are never asked about, so they are not affected.
 * As many refusals of callers that nobody knows are answered at once; of further ones it is told that they are a flood.
 */
import { clientNetwork } from '@acg/base/client-network';
import { LRUCache } from 'lru-cache';

/** Questions of one address. */
export interface Asker {
  /** May go below 0: questions that were under way together all count. */
  allowance: number;
  /** Refusals that are answered at once. */
  refusals: number;
  atMs: number;
  /** Questions not answered yet. */
  pending: number;
}

const BURST_FACTOR = 10;
const ADDRESSES_MAX = 50_000;

export class UnknownTokens {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  readonly #askers = new LRUCache<string, Asker>({ max: ADDRESSES_MAX });

  /** `nowMs`: never jumps. */
  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * BURST_FACTOR;
    this.#nowMs = nowMs;
  }

  /** A question may be asked, to be ended with {@link answered}; or the seconds until the next one may. */
  ask(address: string): Asker | number {
    const asker = this.#asker(address);
    // Who asked about unknown ones lately is taken to go on doing so.
    const expected = asker.allowance < this.#burst ? asker.pending : 0;
    if (asker.allowance - expected < 1) return Math.max(1, Math.ceil((1 - asker.allowance) / this.#perSecond));
    asker.pending++;
    return asker;
  }

  answered(asker: Asker, unknown: boolean): void {
    asker.pending--;
    if (unknown) asker.allowance = Math.max(-this.#burst, asker.allowance - 1);
  }

  /** Somebody whom nobody knows is refused. True: from this address that is a flood. */
  isFlood(address: string): boolean {
    const asker = this.#asker(address);
    if (asker.refusals < 1) return true;
    asker.refusals--;
    return false;
  }

  #asker(address: string): Asker {
    const nowMs = this.#nowMs();
    const network = clientNetwork(address);
    const known = this.#askers.get(network);
    if (known === undefined) {
      const asker = { allowance: this.#burst, refusals: this.#burst, atMs: nowMs, pending: 0 };
      this.#askers.set(network, asker);
      return asker;
    }
    const earned = ((nowMs - known.atMs) / 1_000) * this.#perSecond;
    known.allowance = Math.min(this.#burst, known.allowance + earned);
    known.refusals = Math.min(this.#burst, known.refusals + earned);
    known.atMs = nowMs;
    return known;
  }
}

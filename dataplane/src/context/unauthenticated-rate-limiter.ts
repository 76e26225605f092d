/**
 * How many tokens that turn out unknown one client address may ask about. Whoever uses them up gets no further question
 * through to the control plane for a while; tokens that the cache knows are never asked about, so they are not affected.
 * As many refusals of callers that nobody knows are answered at once; of further ones it is told that they are a flood.
 */
import { toClientNetworkKey } from '@acg/base/client-network';
import { LRUCache } from 'lru-cache';

/** Questions of one address. */
export interface ClientBucket {
  /** May go below 0: questions that were under way together all count. */
  lookupAllowance: number;
  /** Refusals that are answered at once. */
  rejectionAllowance: number;
  refilledAtMs: number;
  /** Questions not answered yet. */
  pendingLookups: number;
}

const BURST_FACTOR = 10;
const CLIENTS_MAX = 50_000;

export class UnauthenticatedRateLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  readonly #buckets = new LRUCache<string, ClientBucket>({ max: CLIENTS_MAX });

  /** `nowMs`: never jumps. */
  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * BURST_FACTOR;
    this.#nowMs = nowMs;
  }

  /** A question may be asked, to be ended with {@link finishLookup}; or the seconds until the next one may. */
  startLookup(address: string): ClientBucket | number {
    const asker = this.#refillBucket(address);
    // Who asked about unknown ones lately is taken to go on doing so.
    const expected = asker.lookupAllowance < this.#burst ? asker.pendingLookups : 0;
    if (asker.lookupAllowance - expected < 1)
      return Math.max(1, Math.ceil((1 - asker.lookupAllowance) / this.#perSecond));
    asker.pendingLookups++;
    return asker;
  }

  finishLookup(asker: ClientBucket, unknown: boolean): void {
    asker.pendingLookups--;
    if (unknown) asker.lookupAllowance = Math.max(-this.#burst, asker.lookupAllowance - 1);
  }

  /** Somebody whom nobody knows is refused. True: from this address that is a flood. */
  isOverRejectionLimit(address: string): boolean {
    const asker = this.#refillBucket(address);
    if (asker.rejectionAllowance < 1) return true;
    asker.rejectionAllowance--;
    return false;
  }

  #refillBucket(address: string): ClientBucket {
    const nowMs = this.#nowMs();
    const network = toClientNetworkKey(address);
    const known = this.#buckets.get(network);
    if (known === undefined) {
      const asker = {
        lookupAllowance: this.#burst,
        rejectionAllowance: this.#burst,
        refilledAtMs: nowMs,
        pendingLookups: 0,
      };
      this.#buckets.set(network, asker);
      return asker;
    }
    const earned = ((nowMs - known.refilledAtMs) / 1_000) * this.#perSecond;
    known.lookupAllowance = Math.min(this.#burst, known.lookupAllowance + earned);
    known.rejectionAllowance = Math.min(this.#burst, known.rejectionAllowance + earned);
    known.refilledAtMs = nowMs;
    return known;
  }
}

/**
 * Limits lookups of unknown gateway tokens per client network. A client over its limit gets no lookup at the control
 * plane until its bucket refills; tokens in the cache need no lookup and are not affected. A second bucket of the same
 * size limits immediate rejections of unauthenticated requests; {@link isOverRejectionLimit} reports those beyond it.
 */
import { toClientNetworkKey } from '@acg/base/client-network';
import { LRUCache } from 'lru-cache';

/** The buckets of one client network. */
export interface ClientBucket {
  /** Lookups left. May be negative: lookups in flight together are all counted. */
  lookupAllowance: number;
  /** Rejections left that are sent without delay. */
  rejectionAllowance: number;
  refilledAtMs: number;
  /** Lookups in flight. */
  pendingLookups: number;
}

const BURST_FACTOR = 10;
const CLIENTS_MAX = 50_000;

export class UnauthenticatedRateLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #nowMs: () => number;
  readonly #buckets = new LRUCache<string, ClientBucket>({ max: CLIENTS_MAX });

  /** `perSecond`: the refill rate. `nowMs`: a monotonic clock. */
  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * BURST_FACTOR;
    this.#nowMs = nowMs;
  }

  /** Starts a lookup, to be ended with {@link finishLookup}, or returns the seconds until the next one is allowed. */
  startLookup(address: string): ClientBucket | number {
    const bucket = this.#refillBucket(address);
    // A client with a recent unknown token is expected to send more, so its lookups in flight count as unknown.
    const expected = bucket.lookupAllowance < this.#burst ? bucket.pendingLookups : 0;
    if (bucket.lookupAllowance - expected < 1)
      return Math.max(1, Math.ceil((1 - bucket.lookupAllowance) / this.#perSecond));
    bucket.pendingLookups++;
    return bucket;
  }

  finishLookup(bucket: ClientBucket, unknown: boolean): void {
    bucket.pendingLookups--;
    if (unknown) bucket.lookupAllowance = Math.max(-this.#burst, bucket.lookupAllowance - 1);
  }

  /** Records an unauthenticated rejection for the client IP. Returns true when the IP exceeds its rejection rate. */
  isOverRejectionLimit(address: string): boolean {
    const bucket = this.#refillBucket(address);
    if (bucket.rejectionAllowance < 1) return true;
    bucket.rejectionAllowance--;
    return false;
  }

  #refillBucket(address: string): ClientBucket {
    const nowMs = this.#nowMs();
    const network = toClientNetworkKey(address);
    const known = this.#buckets.get(network);
    if (known === undefined) {
      const bucket = {
        lookupAllowance: this.#burst,
        rejectionAllowance: this.#burst,
        refilledAtMs: nowMs,
        pendingLookups: 0,
      };
      this.#buckets.set(network, bucket);
      return bucket;
    }
    const earned = ((nowMs - known.refilledAtMs) / 1_000) * this.#perSecond;
    known.lookupAllowance = Math.min(this.#burst, known.lookupAllowance + earned);
    known.rejectionAllowance = Math.min(this.#burst, known.rejectionAllowance + earned);
    known.refilledAtMs = nowMs;
    return known;
  }
}

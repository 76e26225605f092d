/**
 * Limits lookups of unknown gateway tokens per client network. A client over its limit gets no lookup at the control
 * plane until its bucket refills; tokens in the cache need no lookup and are not affected. A second bucket of the same
 * size limits immediate rejections of unauthenticated requests; {@link isOverRejectionLimit} reports those beyond it.
 */
import { toClientNetworkKey } from '@acg/base/client-network-key';
import { TokenBucket, type TokenRate } from '@acg/base/fairness/token-bucket';
import { LRUCache } from 'lru-cache';

/** The buckets of one client network. */
export interface ClientBucket {
  /** Overdrawn when lookups in flight together were all of unknown tokens. */
  readonly lookups: TokenBucket;
  /** Rejections that are sent without delay. */
  readonly rejections: TokenBucket;
  /** Lookups in flight. */
  pendingLookups: number;
}

const BURST_FACTOR = 10;
const CLIENTS_MAX = 50_000;

export class UnauthenticatedRateLimiter {
  readonly #rate: TokenRate;
  readonly #nowMs: () => number;
  readonly #buckets = new LRUCache<string, ClientBucket>({ max: CLIENTS_MAX });

  /** `perSecond`: the refill rate. `nowMs`: a monotonic clock. */
  constructor(perSecond: number, nowMs: () => number = () => performance.now()) {
    this.#rate = { capacity: perSecond * BURST_FACTOR, perSecond };
    this.#nowMs = nowMs;
  }

  /** Starts a lookup, to be ended with {@link finishLookup}, or returns the seconds until the next one is allowed. */
  startLookup(address: string): ClientBucket | number {
    const bucket = this.#bucketOf(address);
    const nowMs = this.#nowMs();
    // A client with a recent unknown token is expected to send more, so its lookups in flight count as unknown.
    const expected = bucket.lookups.used(nowMs) > 0 ? bucket.pendingLookups : 0;
    if (bucket.lookups.available(nowMs) < 1 + expected)
      return Math.max(1, Math.ceil(bucket.lookups.waitMs(1, nowMs) / 1_000));
    bucket.pendingLookups++;
    return bucket;
  }

  finishLookup(bucket: ClientBucket, unknown: boolean): void {
    bucket.pendingLookups--;
    if (unknown) bucket.lookups.take(1, this.#nowMs());
  }

  /** Records an unauthenticated rejection for the client IP. Returns true when the IP exceeds its rejection rate. */
  isOverRejectionLimit(address: string): boolean {
    return !this.#bucketOf(address).rejections.tryTake(1, this.#nowMs());
  }

  #bucketOf(address: string): ClientBucket {
    const network = toClientNetworkKey(address);
    let bucket = this.#buckets.get(network);
    if (bucket === undefined) {
      const nowMs = this.#nowMs();
      bucket = {
        lookups: new TokenBucket(this.#rate, nowMs),
        rejections: new TokenBucket(this.#rate, nowMs),
        pendingLookups: 0,
      };
      this.#buckets.set(network, bucket);
    }
    return bucket;
  }
}

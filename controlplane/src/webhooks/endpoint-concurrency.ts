/**
 * Limits concurrent attempts per endpoint in this process, so that a slow or hanging receiver holds one worker slot and
 * leaves the rest to other endpoints. Remembers slow endpoints only, and a bounded number of them.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { LRUCache } from 'lru-cache';

/** Concurrent attempts to an endpoint that responds in time. */
const CONCURRENCY = 4;
/** Concurrent attempts to an endpoint whose last attempt was slow. */
const CONCURRENCY_WHEN_SLOW = 1;
const SLOW_ENDPOINTS_MAX = 1_000;

export interface EndpointSlots {
  readonly endpointId: string;
  /** Attempts that may still start now. */
  readonly freeSlots: number;
}

export class EndpointConcurrency {
  /** Slots of an endpoint that {@link restrictedEndpoints} does not name. */
  readonly slotsPerEndpoint = CONCURRENCY;
  readonly #running = new DynamicShare({ capacity: Number.POSITIVE_INFINITY });
  readonly #slow: LRUCache<string, true>;
  readonly #slowAfterMs: number;

  constructor(timeoutMs: number) {
    this.#slowAfterMs = timeoutMs / 2;
    // Entries expire, so an endpoint without traffic starts with full concurrency again.
    this.#slow = new LRUCache({ max: SLOW_ENDPOINTS_MAX, ttl: timeoutMs * 60 });
  }

  onStarted(endpointId: string): void {
    this.#running.take(endpointId);
  }

  onFinished(endpointId: string, durationMs: number): void {
    this.#running.release(endpointId);
    if (durationMs >= this.#slowAfterMs) this.#slow.set(endpointId, true);
    else this.#slow.delete(endpointId);
  }

  /** Endpoints with fewer slots than the default: at most the slow ones and those with attempts in flight. */
  restrictedEndpoints(): readonly EndpointSlots[] {
    const rooms: EndpointSlots[] = [];
    for (const [endpointId, { held: running }] of this.#running.lanes) {
      const ceiling = this.#slow.has(endpointId) ? CONCURRENCY_WHEN_SLOW : CONCURRENCY;
      rooms.push({ endpointId, freeSlots: Math.max(0, ceiling - running) });
    }
    for (const endpointId of this.#slow.keys()) {
      if (this.#running.heldBy(endpointId) === 0) rooms.push({ endpointId, freeSlots: CONCURRENCY_WHEN_SLOW });
    }
    return rooms;
  }
}

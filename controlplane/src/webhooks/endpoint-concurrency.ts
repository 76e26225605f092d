/**
 * How many attempts of one endpoint may run at once in this process, so that a slow or hanging receiver holds one worker
 * slot and the rest is free for the others. Remembers slow endpoints only, and only so many.
 */
import { LRUCache } from 'lru-cache';

/** Attempts at once to an endpoint that answers in time. */
const CONCURRENCY = 4;
/** And to one whose last attempt was slow. */
const CONCURRENCY_WHEN_SLOW = 1;
const SLOW_ENDPOINTS_MAX = 1_000;

export interface EndpointSlots {
  readonly endpointId: string;
  /** Further attempts that may start now. */
  readonly freeSlots: number;
}

export class EndpointConcurrency {
  /** Room of an endpoint that {@link restrictedEndpoints} does not name. */
  readonly slotsPerEndpoint = CONCURRENCY;
  readonly #running = new Map<string, number>();
  readonly #slow: LRUCache<string, true>;
  readonly #slowAfterMs: number;

  constructor(timeoutMs: number) {
    this.#slowAfterMs = timeoutMs / 2;
    // Forgotten after a while: an endpoint without traffic deserves a fresh start.
    this.#slow = new LRUCache({ max: SLOW_ENDPOINTS_MAX, ttl: timeoutMs * 60 });
  }

  onStarted(endpointId: string): void {
    this.#running.set(endpointId, (this.#running.get(endpointId) ?? 0) + 1);
  }

  onFinished(endpointId: string, durationMs: number): void {
    const running = (this.#running.get(endpointId) ?? 1) - 1;
    if (running > 0) this.#running.set(endpointId, running);
    else this.#running.delete(endpointId);
    if (durationMs >= this.#slowAfterMs) this.#slow.set(endpointId, true);
    else this.#slow.delete(endpointId);
  }

  /** Endpoints with less room than the usual; at most the slow ones remembered and those that run now. */
  restrictedEndpoints(): readonly EndpointSlots[] {
    const rooms: EndpointSlots[] = [];
    for (const [endpointId, running] of this.#running) {
      const ceiling = this.#slow.has(endpointId) ? CONCURRENCY_WHEN_SLOW : CONCURRENCY;
      rooms.push({ endpointId, freeSlots: Math.max(0, ceiling - running) });
    }
    for (const endpointId of this.#slow.keys()) {
      if (!this.#running.has(endpointId)) rooms.push({ endpointId, freeSlots: CONCURRENCY_WHEN_SLOW });
    }
    return rooms;
  }
}

import { LRUCache } from 'lru-cache';

/**
 * Answers whose usage can be fetched again and again (background responses, batch results), so that each is booked
 * once. One per process and bounded: after a restart, or on another data plane, a repeated fetch is booked again.
 */
export class MeterMemory {
  readonly #seen: LRUCache<string, true>;

  constructor(entriesMax = 10_000) {
    this.#seen = new LRUCache({ max: entriesMax });
  }

  has(id: string): boolean {
    return this.#seen.has(id);
  }

  add(id: string): void {
    this.#seen.set(id, true);
  }
}

/**
 * Reply timeout of store calls: one duration and one timer for all. The timeout measures the store, not this process's
 * event loop. When the timer fires, the loop polls for I/O once more; only calls without a reply after that poll are
 * timed out (docs/contract.md#counter-store-outage). So a reply that arrived in time always counts, however busy
 * this process was.
 */
export interface AwaitedReply {
  /** `performance.now()` of the send. */
  sentAtMs: number;
  /** Maintained by ReplyTimeouts: index in the ring; -1 while not waiting. */
  ringIndex: number;
}

const FIRST_CAPACITY = 64;

export class ReplyTimeouts<T extends AwaitedReply> {
  readonly #timeoutMs: number;
  readonly #onTimeout: (item: T) => void;
  /**
   * Ring buffer in order of sending; its length is a power of two, and its indexes only grow. Not a Set: see
   * base/src/swap-remove-set.ts.
   *   [ . | answered = null | waiting | null | waiting | . ]
   *         ▲ first                               ▲ next
   */
  #ring: (T | null)[] = new Array<T | null>(FIRST_CAPACITY).fill(null);
  #firstIndex = 0;
  #nextIndex = 0;
  #timer: NodeJS.Timeout | null = null;
  #cutoffMs = 0;

  constructor(timeoutMs: number, onTimeout: (item: T) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
  }

  startWaiting(item: T): void {
    this.stopWaiting(item); // cancels the wait of an earlier send
    item.sentAtMs = performance.now();
    if (this.#nextIndex - this.#firstIndex === this.#ring.length) this.#growRing();
    item.ringIndex = this.#nextIndex++;
    this.#ring[this.#ringOffset(item.ringIndex)] = item;
    if (this.#timer === null) this.#armTimer(this.#timeoutMs);
  }

  stopWaiting(item: T): void {
    if (item.ringIndex < 0) return;
    this.#ring[this.#ringOffset(item.ringIndex)] = null;
    item.ringIndex = -1;
    while (this.#firstIndex < this.#nextIndex && this.#ring[this.#ringOffset(this.#firstIndex)] === null)
      this.#firstIndex++;
  }

  #ringOffset(index: number): number {
    return index % this.#ring.length;
  }

  #growRing(): void {
    const ring = new Array<T | null>(2 * this.#ring.length).fill(null);
    for (let index = this.#firstIndex; index < this.#nextIndex; index++)
      ring[index % ring.length] = this.#ring[this.#ringOffset(index)]!;
    this.#ring = ring;
  }

  #armTimer(delayMs: number): void {
    this.#timer = setTimeout(this.#onTimer, delayMs);
  }

  /** Node runs timers before the poll phase and immediates after it. */
  readonly #onTimer = (): void => {
    this.#cutoffMs = performance.now() - this.#timeoutMs;
    setImmediate(this.#expireOverdue);
  };

  readonly #expireOverdue = (): void => {
    this.#timer = null;
    while (this.#firstIndex < this.#nextIndex) {
      const item = this.#ring[this.#ringOffset(this.#firstIndex)]!; // never null: `stopWaiting` advances past answered calls
      if (item.sentAtMs > this.#cutoffMs) {
        const leftMs = item.sentAtMs + this.#timeoutMs - performance.now();
        if (this.#timer === null) this.#armTimer(Math.max(1, Math.ceil(leftMs)));
        return;
      }
      this.stopWaiting(item);
      this.#onTimeout(item);
    }
  };
}

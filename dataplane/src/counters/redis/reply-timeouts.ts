/**
 * Reply timeout of store calls: one duration and one timer for all. The timeout measures the store, not this process's
 * event loop. When the timer fires, the loop polls for I/O once more; only calls without a reply after that poll are
 * timed out (docs/contract.md#without-the-counter-store). So a reply that arrived in time always counts, however busy
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
  #first = 0;
  #next = 0;
  #timer: NodeJS.Timeout | null = null;
  #cutoffMs = 0;

  constructor(timeoutMs: number, onLate: (item: T) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onLate;
  }

  start(item: T): void {
    this.cancel(item); // cancels the wait of an earlier send
    item.sentAtMs = performance.now();
    if (this.#next - this.#first === this.#ring.length) this.#grow();
    item.ringIndex = this.#next++;
    this.#ring[this.#ringOffset(item.ringIndex)] = item;
    if (this.#timer === null) this.#arm(this.#timeoutMs);
  }

  cancel(item: T): void {
    if (item.ringIndex < 0) return;
    this.#ring[this.#ringOffset(item.ringIndex)] = null;
    item.ringIndex = -1;
    while (this.#first < this.#next && this.#ring[this.#ringOffset(this.#first)] === null) this.#first++;
  }

  #ringOffset(at: number): number {
    return at % this.#ring.length;
  }

  #grow(): void {
    const ring = new Array<T | null>(2 * this.#ring.length).fill(null);
    for (let at = this.#first; at < this.#next; at++) ring[at % ring.length] = this.#ring[this.#ringOffset(at)]!;
    this.#ring = ring;
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(this.#fire, delayMs);
  }

  /** Node runs timers before the poll phase and immediates after it. */
  readonly #fire = (): void => {
    this.#cutoffMs = performance.now() - this.#timeoutMs;
    setImmediate(this.#expire);
  };

  readonly #expire = (): void => {
    this.#timer = null;
    while (this.#first < this.#next) {
      const item = this.#ring[this.#ringOffset(this.#first)]!; // never null: `cancel` advances past answered calls
      if (item.sentAtMs > this.#cutoffMs) {
        const leftMs = item.sentAtMs + this.#timeoutMs - performance.now();
        if (this.#timer === null) this.#arm(Math.max(1, Math.ceil(leftMs)));
        return;
      }
      this.cancel(item);
      this.#onTimeout(item);
    }
  };
}

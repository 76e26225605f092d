/**
 * Deadline of calls that wait for the store, all with one timeout, on one timer. The timeout is the store's time, not
 * the loop's: when the timer fires, the loop polls for I/O once more, and only what is still unanswered then is late
 * (docs/contract.md#without-the-counter-store). So an answer that arrived in time always counts, however long this
 * process was busy.
 */
export interface AwaitedReply {
  /** `performance.now()` of the send. */
  sentAtMs: number;
  /** Kept by the deadline: its place in the ring; -1 while it does not wait. */
  ringIndex: number;
}

const FIRST_CAPACITY = 64;

export class ReplyTimeouts<T extends AwaitedReply> {
  readonly #timeoutMs: number;
  readonly #onTimeout: (item: T) => void;
  /**
   * In order of sending; a power of two of places, taken by counters that only grow. No Set: see base/src/swap-remove-set.ts.
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
    this.cancel(item); // of an earlier sending
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

  /** Timers come before the poll phase, immediates after it. */
  readonly #fire = (): void => {
    this.#cutoffMs = performance.now() - this.#timeoutMs;
    setImmediate(this.#expire);
  };

  readonly #expire = (): void => {
    this.#timer = null;
    while (this.#first < this.#next) {
      const item = this.#ring[this.#ringOffset(this.#first)]!; // never null: `answered` moves on past those
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

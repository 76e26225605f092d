/**
 * Deadline of calls that wait for the store, all with one timeout, on one timer. The timeout is the store's time, not
 * the loop's: when the timer fires, the loop polls for I/O once more, and only what is still unanswered then is late
 * (docs/contract.md#without-the-counter-store). So an answer that arrived in time always counts, however long this
 * process was busy.
 */
export interface Awaited {
  /** `performance.now()` of the send. */
  sentAtMs: number;
  /** Kept by the deadline: its place in the ring; -1 while it does not wait. */
  ringAt: number;
}

const FIRST_CAPACITY = 64;

export class AnswerDeadline<T extends Awaited> {
  readonly #timeoutMs: number;
  readonly #onLate: (item: T) => void;
  /**
   * In order of sending; a power of two of places, taken by counters that only grow. No Set: see base/src/bag.ts.
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
    this.#onLate = onLate;
  }

  start(item: T): void {
    this.answered(item); // of an earlier sending
    item.sentAtMs = performance.now();
    if (this.#next - this.#first === this.#ring.length) this.#grow();
    item.ringAt = this.#next++;
    this.#ring[this.#placeOf(item.ringAt)] = item;
    if (this.#timer === null) this.#arm(this.#timeoutMs);
  }

  answered(item: T): void {
    if (item.ringAt < 0) return;
    this.#ring[this.#placeOf(item.ringAt)] = null;
    item.ringAt = -1;
    while (this.#first < this.#next && this.#ring[this.#placeOf(this.#first)] === null) this.#first++;
  }

  #placeOf(at: number): number {
    return at % this.#ring.length;
  }

  #grow(): void {
    const ring = new Array<T | null>(2 * this.#ring.length).fill(null);
    for (let at = this.#first; at < this.#next; at++) ring[at % ring.length] = this.#ring[this.#placeOf(at)]!;
    this.#ring = ring;
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(this.#fire, delayMs);
  }

  /** Timers come before the poll phase, immediates after it. */
  readonly #fire = (): void => {
    this.#cutoffMs = performance.now() - this.#timeoutMs;
    setImmediate(this.#judge);
  };

  readonly #judge = (): void => {
    this.#timer = null;
    while (this.#first < this.#next) {
      const item = this.#ring[this.#placeOf(this.#first)]!; // never null: `answered` moves on past those
      if (item.sentAtMs > this.#cutoffMs) {
        const leftMs = item.sentAtMs + this.#timeoutMs - performance.now();
        if (this.#timer === null) this.#arm(Math.max(1, Math.ceil(leftMs)));
        return;
      }
      this.answered(item);
      this.#onLate(item);
    }
  };
}

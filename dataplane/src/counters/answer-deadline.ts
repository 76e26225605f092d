/**
 * Deadline of calls that wait for the store, all with one timeout, on one timer. The timeout is the store's time, not
 * the loop's: when the timer fires, the loop polls for I/O once more, and only what is still unanswered then is late
 * (DESIGN §14). So an answer that arrived in time always counts, however long this process was busy.
 */
export interface Awaited {
  /** `performance.now()` of the send. */
  sentAtMs: number;
}

export class AnswerDeadline<T extends Awaited> {
  readonly #timeoutMs: number;
  readonly #onLate: (item: T) => void;
  readonly #waiting = new Set<T>();
  #timer: NodeJS.Timeout | null = null;
  #cutoffMs = 0;

  constructor(timeoutMs: number, onLate: (item: T) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onLate = onLate;
  }

  start(item: T): void {
    item.sentAtMs = performance.now();
    this.#waiting.add(item);
    if (this.#timer === null) this.#arm(this.#timeoutMs);
  }

  answered(item: T): void {
    this.#waiting.delete(item);
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
    for (const item of this.#waiting) {
      if (item.sentAtMs > this.#cutoffMs) {
        const leftMs = item.sentAtMs + this.#timeoutMs - performance.now();
        if (this.#timer === null) this.#arm(Math.max(1, Math.ceil(leftMs)));
        return;
      }
      this.#waiting.delete(item);
      this.#onLate(item);
    }
  };
}

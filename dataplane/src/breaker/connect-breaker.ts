/**
 * Whether this process can connect to one origin (docs/contract.md#circuits). Opens when connects fail for a while and
 * nothing comes back in between; the first answer or connect that succeeds closes it. Times are steady, ms. Pure.
 */

const FAILURES_MIN = 5;
const FAILING_MS_MIN = 5_000;
/** A failure that is followed by none for so long says nothing about the next one. */
const FAILURE_GAP_MS_MAX = 30_000;

export class ConnectBreaker {
  #failures = 0;
  #firstFailedMs = 0;
  #lastFailedMs = 0;
  #isOpen = false;
  #lastContactMs = Number.NEGATIVE_INFINITY;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When the origin was dialled last or has answered. */
  get lastContactMs(): number {
    return this.#lastContactMs;
  }

  /** A connect failed. Returns true when that opens the breaker. */
  recordFailure(nowMs: number): boolean {
    this.#lastContactMs = nowMs;
    if (this.#failures === 0 || nowMs - this.#lastFailedMs > FAILURE_GAP_MS_MAX) {
      this.#failures = 0;
      this.#firstFailedMs = nowMs;
    }
    this.#failures++;
    this.#lastFailedMs = nowMs;
    if (this.#isOpen || this.#failures < FAILURES_MIN || nowMs - this.#firstFailedMs < FAILING_MS_MIN) return false;
    this.#isOpen = true;
    return true;
  }

  /** A connect succeeded, or an answer came. Returns true when that closes the breaker. */
  recordSuccess(nowMs: number): boolean {
    this.#lastContactMs = nowMs;
    this.#failures = 0;
    const closes = this.#isOpen;
    this.#isOpen = false;
    return closes;
  }
}

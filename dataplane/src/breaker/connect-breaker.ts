/**
 * Tracks whether this process can connect to one origin (docs/contract.md#circuits). Opens after repeated connect
 * failures over {@link FAILING_MS_MIN} without any success; the first answer or successful connect closes it. Times are
 * monotonic ms. Pure.
 */

const FAILURES_MIN = 5;
const FAILING_MS_MIN = 5_000;
/** After a gap of this length, ms, earlier failures no longer count. */
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

  /** When the origin was last dialled or answered, monotonic ms. */
  get lastContactMs(): number {
    return this.#lastContactMs;
  }

  /** Records a failed connect. Returns true when it opens the breaker. */
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

  /** Records a successful connect or an answer. Returns true when it closes the breaker. */
  recordSuccess(nowMs: number): boolean {
    this.#lastContactMs = nowMs;
    this.#failures = 0;
    const closes = this.#isOpen;
    this.#isOpen = false;
    return closes;
  }
}

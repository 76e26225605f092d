/**
 * Whether this process can connect to one origin (docs/contract.md#circuits). Opens when connects fail for a while and
 * nothing comes back in between; the first answer or connect that succeeds closes it. Times are steady, ms. Pure.
 */

const FAILURES_MIN = 5;
const FAILING_MS = 5_000;
/** A failure that is followed by none for so long says nothing about the next one. */
const GAP_MS = 30_000;

export class ConnectBreaker {
  #failures = 0;
  #firstFailedMs = 0;
  #lastFailedMs = 0;
  #open = false;
  #contactMs = Number.NEGATIVE_INFINITY;

  get open(): boolean {
    return this.#open;
  }

  /** When the origin was dialled last or has answered. */
  get contactMs(): number {
    return this.#contactMs;
  }

  /** A connect failed. Returns true when that opens the breaker. */
  failed(nowMs: number): boolean {
    this.#contactMs = nowMs;
    if (this.#failures === 0 || nowMs - this.#lastFailedMs > GAP_MS) {
      this.#failures = 0;
      this.#firstFailedMs = nowMs;
    }
    this.#failures++;
    this.#lastFailedMs = nowMs;
    if (this.#open || this.#failures < FAILURES_MIN || nowMs - this.#firstFailedMs < FAILING_MS) return false;
    this.#open = true;
    return true;
  }

  /** A connect succeeded, or an answer came. Returns true when that closes the breaker. */
  reached(nowMs: number): boolean {
    this.#contactMs = nowMs;
    this.#failures = 0;
    const closes = this.#open;
    this.#open = false;
    return closes;
  }
}

/**
 * Computes the delays between retries: exponential with jitter, so that the instances of a fleet do not retry at the
 * same time.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(firstMs: number, maxMs: number, random: () => number = Math.random) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  /** Milliseconds to wait after one more failure: between 50% and 100% of first × 2^failures, at most max. */
  nextDelayMs(): number {
    const ceiling = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#failures, 30));
    this.#failures++;
    return Math.ceil(ceiling * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#failures = 0;
  }
}

/**
 * Token usage of one agent and provider in the last window, in 60 buckets. Added tokens count for one window plus up to
 * one 60th of it.
 */
const BUCKETS = 60;

export class TokenUsageWindow {
  readonly #widthUs: number;
  /** `[bucket, tokens, bucket, tokens …]`, oldest first. */
  #buckets: number[] = [];

  constructor(windowUs: number) {
    this.#widthUs = windowUs / BUCKETS;
  }

  addTokens(nowUs: number, tokens: number): void {
    const { length } = this.#buckets;
    const bucket = Math.floor(nowUs / this.#widthUs);
    if (length > 0 && this.#buckets[length - 2]! >= bucket) this.#buckets[length - 1]! += tokens;
    else this.#buckets.push(bucket, tokens);
    this.tokensUsedAt(nowUs);
  }

  /** Drops expired buckets and returns the tokens that count at `nowUs`. */
  tokensUsedAt(nowUs: number): number {
    const bucket = Math.floor(nowUs / this.#widthUs);
    let expired = 0;
    while (expired < this.#buckets.length && this.#buckets[expired]! + BUCKETS < bucket) expired += 2;
    if (expired > 0) this.#buckets = this.#buckets.slice(expired);
    let used = 0;
    for (let i = 1; i < this.#buckets.length; i += 2) used += this.#buckets[i]!;
    return used;
  }

  /** When fewer than `limit` tokens count, µs; 0 = now. Call {@link tokensUsedAt} first: it drops expired buckets. */
  retryAtUs(limit: number): number {
    let used = 0;
    for (let i = this.#buckets.length - 2; i >= 0; i -= 2) {
      used += this.#buckets[i + 1]!;
      if (used >= limit) return (this.#buckets[i]! + BUCKETS + 1) * this.#widthUs;
    }
    return 0;
  }
}

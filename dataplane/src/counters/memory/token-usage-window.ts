/**
 * Tokens of one agent and provider in the last window, in 60 buckets: what was added stays for one window, and up to a
 * 60th of it longer.
 */
const BUCKETS = 60;

export class TokenUsageWindow {
  readonly #widthUs: number;
  /** `[bucket, tokens, bucket, tokens …]`, oldest first. */
  #buckets: number[] = [];

  constructor(windowUs: number) {
    this.#widthUs = windowUs / BUCKETS;
  }

  add(nowUs: number, tokens: number): void {
    const { length } = this.#buckets;
    const bucket = Math.floor(nowUs / this.#widthUs);
    if (length > 0 && this.#buckets[length - 2]! >= bucket) this.#buckets[length - 1]! += tokens;
    else this.#buckets.push(bucket, tokens);
    this.tokensUsedAt(nowUs);
  }

  /** Tokens that count now. */
  tokensUsedAt(nowUs: number): number {
    const bucket = Math.floor(nowUs / this.#widthUs);
    let expired = 0;
    while (expired < this.#buckets.length && this.#buckets[expired]! + BUCKETS < bucket) expired += 2;
    if (expired > 0) this.#buckets = this.#buckets.slice(expired);
    let used = 0;
    for (let i = 1; i < this.#buckets.length; i += 2) used += this.#buckets[i]!;
    return used;
  }

  /** When fewer than `limit` tokens count, µs; 0 = now. Ask {@link tokensUsedAt} first. */
  retryAtUs(limit: number): number {
    let used = 0;
    for (let i = this.#buckets.length - 2; i >= 0; i -= 2) {
      used += this.#buckets[i + 1]!;
      if (used >= limit) return (this.#buckets[i]! + BUCKETS + 1) * this.#widthUs;
    }
    return 0;
  }
}

/**
 * Token bucket (the "leaky bucket as a meter" of ITU-T I.371): holds up to `capacity` tokens and refills at a constant
 * rate. Keeps two numbers and no timer. A caller that counts after the fact may overdraw it by up to one capacity.
 */

export interface TokenRate {
  /** Tokens of a full bucket: the burst. */
  readonly capacity: number;
  readonly perSecond: number;
}

export class TokenBucket {
  readonly #rate: TokenRate;
  /** Tokens that were taken and not refilled at `#atMs`. */
  #used = 0;
  #atMs: number;

  /** Starts full. `nowMs`, here and below: a monotonic clock in ms. */
  constructor(rate: TokenRate, nowMs: number) {
    this.#rate = rate;
    this.#atMs = nowMs;
  }

  /** Tokens that were taken and are not refilled yet. */
  used(nowMs: number): number {
    this.#used = Math.max(0, this.#used - ((nowMs - this.#atMs) / 1_000) * this.#rate.perSecond);
    this.#atMs = nowMs;
    return this.#used;
  }

  /** Tokens left; negative while the bucket is overdrawn. */
  available(nowMs: number): number {
    return this.#rate.capacity - this.used(nowMs);
  }

  take(tokens: number, nowMs: number): void {
    this.#used = Math.min(2 * this.#rate.capacity, this.used(nowMs) + tokens);
  }

  /** Takes the tokens, or returns false and takes none when fewer are left. */
  tryTake(tokens: number, nowMs: number): boolean {
    if (this.available(nowMs) < tokens) return false;
    this.take(tokens, nowMs);
    return true;
  }

  /** Time until this many tokens are left, ms; 0: they are left now. */
  waitMs(tokens: number, nowMs: number): number {
    return (Math.max(0, tokens - this.available(nowMs)) / this.#rate.perSecond) * 1_000;
  }
}

/** How much of its hold a streamed answer has used, and how much more it would need. */

import type { ReservedOutput } from '../call/exchange.js';
import type { UsageMeter } from '../metering/reading/usage-meter.js';

/** A maximum that nobody stated is a guess, and pieces of an answer are a guess at its tokens. */
const USED_RATIO = 0.75;
const GROWTH_RATIO = 0.25;
/** Pieces without a token that come with an answer, such as the one that says why it ended. */
const EMPTY_CHUNKS = 2;
/** No provider puts more tokens into fewer bytes. */
const BYTES_PER_TOKEN_MIN = 4;
/** Of an answer that has no lines. */
const CHECK_INTERVAL_BYTES = 256;
const LF = 0x0a;

export class ReservationMeter {
  readonly #meter: UsageMeter;
  readonly #nanosPerToken: number;
  readonly #endsAtLines: boolean;
  readonly #emptyChunks: number;
  readonly #usedRatio: number;
  #tokensReserved: number;
  #tokensUsable: number;

  /** `nanosPerToken`: more than 0. `byLines`: a piece of the answer ends where a line does. */
  constructor(meter: UsageMeter, held: ReservedOutput, nanosPerToken: number, byLines: boolean) {
    this.#meter = meter;
    this.#nanosPerToken = nanosPerToken;
    this.#endsAtLines = byLines;
    // A maximum that is stated is the provider's own: what obeys it needs no more, and uses all of it.
    this.#usedRatio = held.isStatedByRequest ? 1 : USED_RATIO;
    this.#emptyChunks = held.isStatedByRequest ? EMPTY_CHUNKS * (1 + held.answerCount) : 0;
    this.#tokensReserved = held.tokens;
    this.#tokensUsable = this.#usableTokens(held.tokens);
  }

  /** More must be held before another byte passes. */
  get isExhausted(): boolean {
    return this.#meter.tokensOutSeen > this.#tokensUsable;
  }

  /** Up to where the bytes from `at` on can pass before {@link isExhausted} is asked. */
  nextCheckOffset(chunk: Buffer, at: number): number {
    const tokensMax = (chunk.length - at) / BYTES_PER_TOKEN_MIN;
    if (this.#meter.tokensOutSeen + tokensMax <= this.#tokensUsable) return chunk.length;
    if (!this.#endsAtLines) return Math.min(chunk.length, at + CHECK_INTERVAL_BYTES);
    const lineEnd = chunk.indexOf(LF, at);
    return lineEnd === -1 ? chunk.length : lineEnd + 1;
  }

  /** What to ask for, nano-dollars: a quarter of the hold, and never less than what has been seen needs. */
  computeGrowthNanos(holdNanos: number): number {
    const tokensNeeded = Math.ceil((this.#meter.tokensOutSeen - this.#emptyChunks) / this.#usedRatio);
    const needed = (tokensNeeded - this.#tokensReserved) * this.#nanosPerToken;
    return Math.ceil(Math.max(holdNanos * GROWTH_RATIO, needed));
  }

  addGrowth(nanos: number): void {
    this.#tokensReserved += nanos / this.#nanosPerToken;
    this.#tokensUsable = this.#usableTokens(this.#tokensReserved);
  }

  #usableTokens(tokens: number): number {
    return Math.floor(tokens * this.#usedRatio) + this.#emptyChunks;
  }
}

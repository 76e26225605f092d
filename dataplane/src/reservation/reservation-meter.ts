/** Measures how much of its reservation a streamed response has used, and how much more it needs. */

import type { ReservedOutput } from '../call/exchange.js';
import type { UsageMeter } from '../metering/reading/response-usage-meter-interface.js';
import { findLineEnd } from '../scan/sse-splitter.js';

/** Without a stated maximum the reservation is an estimate, and so are the tokens of the chunks seen. */
const USED_RATIO = 0.75;
const GROWTH_RATIO = 0.25;
/** Chunks without a token in each answer, such as the one with the finish reason. */
const EMPTY_CHUNKS = 2;
/** No provider sends more tokens in fewer bytes. */
const BYTES_PER_TOKEN_MIN = 4;
/** Check interval of a response without lines, bytes. */
const CHECK_INTERVAL_BYTES = 256;

export class ReservationMeter {
  readonly #meter: UsageMeter;
  readonly #nanosPerToken: number;
  readonly #endsAtLines: boolean;
  readonly #emptyChunks: number;
  readonly #usedRatio: number;
  /** The response can be cut here. */
  #isAtBoundary = true;
  #tokensReserved: number;
  #tokensUsable: number;

  /** `nanosPerToken`: above 0. `byLines`: a chunk of the response ends at a line end. */
  constructor(meter: UsageMeter, held: ReservedOutput, nanosPerToken: number, byLines: boolean) {
    this.#meter = meter;
    this.#nanosPerToken = nanosPerToken;
    this.#endsAtLines = byLines;
    // The provider enforces a stated maximum, so a response that obeys it may use the whole reservation.
    this.#usedRatio = held.isStatedByRequest ? 1 : USED_RATIO;
    this.#emptyChunks = held.isStatedByRequest ? EMPTY_CHUNKS * (1 + held.answerCount) : 0;
    this.#tokensReserved = held.tokens;
    this.#tokensUsable = this.#usableTokens(held.tokens);
  }

  /** The reservation must grow before another byte is forwarded. */
  get isExhausted(): boolean {
    return this.#isAtBoundary && this.#meter.tokensOutSeen > this.#tokensUsable;
  }

  /** Offset up to which bytes from `at` on can be forwarded before {@link isExhausted} must be checked. */
  nextCheckOffset(chunk: Buffer, at: number): number {
    const { findBoundary } = this.#meter;
    if (findBoundary !== undefined) {
      const end = findBoundary(chunk, at);
      this.#isAtBoundary = end >= 0;
      return end < 0 ? chunk.length : end;
    }
    const tokensMax = (chunk.length - at) / BYTES_PER_TOKEN_MIN;
    if (this.#meter.tokensOutSeen + tokensMax <= this.#tokensUsable) return chunk.length;
    if (!this.#endsAtLines) return Math.min(chunk.length, at + CHECK_INTERVAL_BYTES);
    const lineEnd = findLineEnd(chunk, at);
    return lineEnd === -1 ? chunk.length : lineEnd;
  }

  /** Nano-dollars to request: a quarter of the reservation, and at least what the tokens seen so far need. */
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

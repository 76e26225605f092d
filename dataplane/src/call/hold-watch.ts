/** How much of its hold a streamed answer has used, and how much more it would need. */
import type { UsageMeter } from '../metering/meter.js';
import type { HeldOutput } from './held-output.js';

/** A maximum that nobody stated is a guess, and pieces of an answer are a guess at its tokens. */
const USED_RATIO = 0.75;
const GROWTH_RATIO = 0.25;
/** Pieces without a token that come with an answer, such as the one that says why it ended. */
const EMPTY_PIECES = 2;
/** No provider puts more tokens into fewer bytes. */
const BYTES_PER_TOKEN_MIN = 4;
/** Of an answer that has no lines. */
const PIECE_BYTES = 256;
const LF = 0x0a;

export class HoldWatch {
  readonly #meter: UsageMeter;
  readonly #nanosPerToken: number;
  readonly #byLines: boolean;
  readonly #emptyPieces: number;
  readonly #usedRatio: number;
  #tokensHeld: number;
  #tokensFree: number;

  /** `nanosPerToken`: more than 0. `byLines`: a piece of the answer ends where a line does. */
  constructor(meter: UsageMeter, held: HeldOutput, nanosPerToken: number, byLines: boolean) {
    this.#meter = meter;
    this.#nanosPerToken = nanosPerToken;
    this.#byLines = byLines;
    // A maximum that is stated is the provider's own: what obeys it needs no more, and uses all of it.
    this.#usedRatio = held.stated ? 1 : USED_RATIO;
    this.#emptyPieces = held.stated ? EMPTY_PIECES * (1 + held.answers) : 0;
    this.#tokensHeld = held.tokens;
    this.#tokensFree = this.#freeOf(held.tokens);
  }

  /** More must be held before another byte passes. */
  get reached(): boolean {
    return this.#meter.tokensOutSeen > this.#tokensFree;
  }

  /** Up to where the bytes from `at` on can pass before {@link reached} is asked. */
  pieceEnd(chunk: Buffer, at: number): number {
    const tokensMax = (chunk.length - at) / BYTES_PER_TOKEN_MIN;
    if (this.#meter.tokensOutSeen + tokensMax <= this.#tokensFree) return chunk.length;
    if (!this.#byLines) return Math.min(chunk.length, at + PIECE_BYTES);
    const lineEnd = chunk.indexOf(LF, at);
    return lineEnd === -1 ? chunk.length : lineEnd + 1;
  }

  /** What to ask for, nano-dollars: a quarter of the hold, and never less than what has been seen needs. */
  growth(holdNanos: number): number {
    const tokensNeeded = Math.ceil((this.#meter.tokensOutSeen - this.#emptyPieces) / this.#usedRatio);
    const needed = (tokensNeeded - this.#tokensHeld) * this.#nanosPerToken;
    return Math.ceil(Math.max(holdNanos * GROWTH_RATIO, needed));
  }

  grown(nanos: number): void {
    this.#tokensHeld += nanos / this.#nanosPerToken;
    this.#tokensFree = this.#freeOf(this.#tokensHeld);
  }

  #freeOf(tokens: number): number {
    return Math.floor(tokens * this.#usedRatio) + this.#emptyPieces;
  }
}

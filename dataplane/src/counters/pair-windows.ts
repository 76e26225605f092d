/** All windows of one agent and provider in process: the sliding minute, the fixed windows and the tokens. */
import type { AgentTerms } from './agent-terms.js';
import { RPM_ROW, rowsCounted, TOKEN_ROWS, type Windows, windowUs } from './limit-table.js';
import { SlidingLog } from './sliding-log.js';
import { TokenBuckets } from './token-buckets.js';

const FIXED_ROWS = rowsCounted('fixed');

interface FixedWindow {
  readonly lengthUs: number;
  startUs: number;
  count: number;
}

export class PairWindows {
  readonly #rpmUs: number;
  readonly #tokenUs: number;
  readonly #log = new SlidingLog();
  readonly #fixed: readonly FixedWindow[];
  /** Made with the first tokens. */
  #tokens: TokenBuckets[] | null = null;
  #tokensAtUs = 0;
  #nowUs = 0;
  #live = 0;

  constructor(windows: Windows) {
    this.#rpmUs = windows.minute * 1000;
    this.#tokenUs = windows.tokenMinute * 1000;
    this.#fixed = FIXED_ROWS.map((row) => ({ lengthUs: windowUs(row, windows), startUs: 0, count: 0 }));
  }

  /** Ends windows that are over. What is asked afterwards is as of now; the pair's time does not step back by little. */
  advance(clockUs: number): void {
    this.#nowUs = this.#log.steady(clockUs, this.#rpmUs);
    this.#live = this.#log.countAt(this.#nowUs, this.#rpmUs);
    for (const window of this.#fixed) {
      if (window.startUs > this.#nowUs) window.startUs = this.#nowUs;
      if (this.#nowUs >= window.startUs + window.lengthUs) window.count = 0;
    }
  }

  consume(): void {
    for (const window of this.#fixed) {
      if (window.count === 0) window.startUs = this.#nowUs;
      window.count++;
    }
    this.#log.push(this.#nowUs);
    this.#live++;
  }

  addTokens(row: number, clockUs: number, tokens: number): void {
    this.#tokens ??= TOKEN_ROWS.map(() => new TokenBuckets(this.#tokenUs));
    this.#tokens[TOKEN_ROWS.indexOf(row)]!.add(clockUs, tokens);
    this.#tokensAtUs = clockUs;
  }

  left(row: number, { limits }: AgentTerms): number {
    return Math.max(0, limits[row]! - this.#used(row));
  }

  /** When what is counted there leaves, Unix seconds; null = nothing is counted, or it leaves bit by bit. */
  resetAtSec(row: number): number | null {
    if (this.#used(row) === 0) return null;
    if (row === RPM_ROW) return wholeSeconds(this.#log.at(0) + this.#rpmUs);
    const window = this.#fixed[FIXED_ROWS.indexOf(row)];
    return window === undefined ? null : wholeSeconds(window.startUs + window.lengthUs);
  }

  /** When the next request passes a window that is full. */
  passesAtSec(row: number, { limits }: AgentTerms): number {
    const limit = limits[row]!;
    if (row === RPM_ROW) {
      const blockerUs = limit > 0 ? this.#log.at(this.#live - limit) : this.#nowUs;
      return wholeSeconds(blockerUs + this.#rpmUs);
    }
    const window = this.#fixed[FIXED_ROWS.indexOf(row)];
    if (window !== undefined) return wholeSeconds(window.startUs + window.lengthUs);
    return wholeSeconds(this.#tokens?.[TOKEN_ROWS.indexOf(row)]?.freeAtUs(limit) ?? 0);
  }

  isOver(nowUs: number): boolean {
    if (nowUs < this.#tokensAtUs + 2 * this.#tokenUs) return false;
    return this.#fixed.every(({ startUs, lengthUs }) => nowUs >= startUs + lengthUs + this.#rpmUs);
  }

  #used(row: number): number {
    if (row === RPM_ROW) return this.#live;
    const fixed = this.#fixed[FIXED_ROWS.indexOf(row)];
    if (fixed !== undefined) return fixed.count;
    return this.#tokens?.[TOKEN_ROWS.indexOf(row)]?.usedAt(this.#nowUs) ?? 0;
  }
}

/** Rounded up: at that second the thing has happened. */
const wholeSeconds = (us: number): number => Math.ceil(us / 1_000_000);

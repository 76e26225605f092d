/**
 * Goes back through the records of an organization until a page is full, a bounded piece at a time: whatever is asked,
 * an answer looks at so many records and no more, and says from where on it did not look. So a filter that nothing
 * matches costs no more than one that matches all, and the newest calls cost next to nothing.
 *
 * A search by text finds days that are over by their index (ledger/search-index.ts) instead.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { Tx } from '../db/sql.js';
import type { Page } from '../http/pagination.js';
import { type CallFilter, findPiece, isOpen, type Piece, type Place, scanPiece } from './call-store.js';
import type { TimeRange } from './period.js';
import { isTimeout } from './query-gate.js';

/** Matches that are counted. */
export const TOTAL_MAX = 10_000;
/** How many records are looked at. */
export interface SearchBounds {
  /** To fill the page. */
  readonly scannedMax: number;
  /** With a full page, to count what follows. */
  readonly countedMax: number;
  readonly firstPiece: number;
  readonly pieceMax: number;
}
export const SEARCH_BOUNDS: SearchBounds = {
  scannedMax: 200_000,
  countedMax: 20_000,
  firstPiece: 2_000,
  pieceMax: 50_000,
};
/** Each piece is so many times the one before. */
const GROWTH = 5;
/** An index of three letters serves no shorter term. */
const INDEXED_CHARS_MIN = 3;
/** A slower machine looks at fewer records rather than let somebody wait. */
const SEARCH_MS_MAX = 1_000;
const PIECE_TIMEOUT_MS = 1_500;

interface CallsFound {
  readonly places: readonly Place[];
  /** Counted up to {@link TOTAL_MAX} and one. */
  readonly counted: number;
  /** All of the range was looked at, or all that is counted was found. */
  readonly complete: boolean;
  /** Older ones were not looked at for the page. */
  readonly searchedFrom: Date | null;
}

export async function searchCalls(
  tx: Tx,
  filter: CallFilter,
  range: TimeRange,
  page: Page,
  nowMs: number,
  bounds: SearchBounds,
): Promise<CallsFound> {
  const search = new CallSearch(tx, filter, page, bounds);
  const openMs = indexedBefore(filter, nowMs);
  const open = { fromMs: Math.max(range.fromMs, openMs), toMs: range.toMs };
  if (open.fromMs < open.toMs && !(await search.scan(open))) return search.result(false);
  const closed = { fromMs: range.fromMs, toMs: Math.min(range.toMs, openMs) };
  if (closed.fromMs >= closed.toMs) return search.result(true);
  return search.result(await search.find(closed));
}

/** Days before it have an index of the text; nothing has where the text is too short for it. */
function indexedBefore({ search }: CallFilter, nowMs: number): number {
  if (search === null || search.length < INDEXED_CHARS_MIN) return Number.NEGATIVE_INFINITY;
  const closedMs = nowMs - HOUR_MS;
  return closedMs - (closedMs % DAY_MS);
}

class CallSearch {
  readonly #tx: Tx;
  readonly #filter: CallFilter;
  readonly #page: Page;
  readonly #bounds: SearchBounds;
  readonly #startMs = performance.now();
  readonly #places: Place[] = [];
  #counted = 0;
  #scanned = 0;
  #searchedFrom: Date | null = null;

  constructor(tx: Tx, filter: CallFilter, page: Page, bounds: SearchBounds) {
    this.#tx = tx;
    this.#filter = filter;
    this.#page = page;
    this.#bounds = bounds;
  }

  /** Piece by piece; false: it ended before the range did. */
  async scan(range: TimeRange): Promise<boolean> {
    let after: Place | null = null;
    let lastMs = range.toMs - 1;
    const { scannedMax, countedMax, firstPiece, pieceMax } = this.#bounds;
    for (let size = this.#firstSize(); ; size = Math.min(size * GROWTH, pieceMax)) {
      const left = (this.#isFull() ? countedMax : scannedMax) - this.#scanned;
      const isLate = after !== null && performance.now() - this.#startMs > SEARCH_MS_MAX;
      if (left <= 0 || isLate || (this.#isFull() && this.#counted > TOTAL_MAX)) {
        // Others of the same millisecond were not looked at.
        if (!this.#isFull()) this.#searchedFrom = new Date(lastMs + 1);
        return false;
      }
      const asked = { range, after, size: Math.min(size, Math.max(left, firstPiece)), ...this.#wanted() };
      const piece: Piece | null = await this.#inTime((tx) => scanPiece(tx, this.#filter, asked), after !== null);
      if (piece === null) {
        if (!this.#isFull()) this.#searchedFrom = new Date(lastMs + 1);
        return false;
      }
      this.#take(piece);
      if (piece.scanned < asked.size) return true;
      after = piece.last;
      lastMs = piece.lastMs!;
    }
  }

  /** In one go, as far as matches are counted; false: they were more, or it took too long. */
  async find(range: TimeRange): Promise<boolean> {
    if (this.#isFull()) return false;
    const size = Math.max(TOTAL_MAX + 1, this.#page.offset + this.#page.limit) - this.#counted;
    const asked = { range, after: null, size, ...this.#wanted() };
    const piece = await this.#inTime((tx) => findPiece(tx, this.#filter, asked), true);
    if (piece === null) {
      this.#searchedFrom = new Date(range.toMs);
      return false;
    }
    this.#take(piece);
    return piece.scanned < size;
  }

  /** Null: it took too long, and what was found before is an answer. */
  async #inTime(look: (tx: Tx) => Promise<Piece>, mayGiveUp: boolean): Promise<Piece | null> {
    if (!mayGiveUp) return look(this.#tx);
    try {
      return await this.#tx.savepoint(async (step) => {
        await step`select set_config('statement_timeout', ${String(PIECE_TIMEOUT_MS)}, true)`;
        return look(step);
      });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      return null;
    }
  }

  result(complete: boolean): CallsFound {
    return { places: this.#places, counted: this.#counted, complete, searchedFrom: this.#searchedFrom };
  }

  /** Where each record matches, one piece fills the page and counts. */
  #firstSize(): number {
    const { offset, limit } = this.#page;
    return isOpen(this.#filter) ? Math.max(TOTAL_MAX + 1, offset + limit) : this.#bounds.firstPiece;
  }

  #wanted(): { skip: number; take: number } {
    const { offset, limit } = this.#page;
    return { skip: Math.max(0, offset - this.#counted), take: limit - this.#places.length };
  }

  #isFull(): boolean {
    return this.#places.length >= this.#page.limit;
  }

  #take({ found, matching, scanned }: Piece): void {
    this.#places.push(...found);
    this.#counted += matching;
    this.#scanned += scanned;
  }
}

/**
 * Goes back through the records of an organization until a page is full, a bounded piece at a time: whatever is asked,
 * an answer looks at so many records and takes so long and no more, and says from where on it did not look. So a filter
 * that nothing matches costs no more than one that matches all, and the newest calls cost next to nothing.
 *
 * A search by text finds days that are over by their index (ledger/search-index.ts) instead; where that takes too long,
 * as for words that are neither rare nor everywhere, it looks at their records, too.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { Tx } from '../db/sql.js';
import type { Page } from '../http/pagination.js';
import { type CallFilter, findPiece, isOpen, type Piece, type Place, scanPiece } from './call-store.js';
import type { TimeRange } from './period.js';
import { isTimeout } from './query-gate.js';

/** Matches that are counted. */
export const TOTAL_MAX = 10_000;
export interface SearchBounds {
  /** Records that are looked at to fill the page. */
  readonly scannedMax: number;
  /** With a full page, to count what follows. */
  readonly countedMax: number;
  /** Always looked at, whatever time it takes. */
  readonly firstPiece: number;
  readonly pieceMax: number;
  /** No piece begins later, and none that would end later at the pace of those before. */
  readonly scanMs: number;
  /** For what the index finds. */
  readonly findMs: number;
}
export const SEARCH_BOUNDS: SearchBounds = {
  scannedMax: 200_000,
  countedMax: 20_000,
  firstPiece: 2_000,
  pieceMax: 50_000,
  scanMs: 100,
  findMs: 100,
};
/** Each piece is at most so many times the one before. */
const GROWTH = 5;
/** An index of three letters serves no shorter term. */
const INDEXED_CHARS_MIN = 3;
/** A piece that takes far longer than those before it did. */
const PIECE_TIMEOUT_MS = 1_000;

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
  return search.result((await search.find(closed)) ?? (await search.scan(closed)));
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
  readonly #places: Place[] = [];
  #counted = 0;
  #scanned = 0;
  #scanMs = 0;
  #searchedFrom: Date | null = null;

  constructor(tx: Tx, filter: CallFilter, page: Page, bounds: SearchBounds) {
    this.#tx = tx;
    this.#filter = filter;
    this.#page = page;
    this.#bounds = bounds;
  }

  /** Piece by piece; false: it ended before the range did. */
  async scan(range: TimeRange): Promise<boolean> {
    let last: Piece | null = null;
    for (let most = this.#firstSize(); ; most = Math.min(most * GROWTH, this.#bounds.pieceMax)) {
      const size = Math.min(most, this.#affordable(last === null));
      const startMs = performance.now();
      const piece: Piece | null = size === 0 ? null : await this.#scanPiece(range, last, size);
      if (piece === null) {
        if (last !== null && !this.#isFull()) await this.#giveUp(last);
        return false;
      }
      this.#scanMs += performance.now() - startMs;
      this.#scanned += piece.scanned;
      if (piece.scanned < size) return true;
      last = piece;
    }
  }

  /** Null: it took too long; the first one may. */
  async #scanPiece(range: TimeRange, before: Piece | null, size: number): Promise<Piece | null> {
    const asked = { range, after: before === null ? null : before.last, size, ...this.#wanted() };
    const look = (tx: Tx): Promise<Piece> => scanPiece(tx, this.#filter, asked);
    const piece = before === null ? await look(this.#tx) : await this.#inTime(look, PIECE_TIMEOUT_MS);
    if (piece !== null) this.#take(piece);
    return piece;
  }

  /** The others of the same millisecond are still looked at: what goes on there finds none of them again. */
  async #giveUp(last: Piece): Promise<void> {
    const { firstPiece } = this.#bounds;
    const [fromMs, toMs] = [last.lastMs!, last.lastMs! + 1];
    const rest = await this.#scanPiece({ fromMs, toMs }, last, firstPiece);
    const isWhole = rest !== null && rest.scanned < firstPiece;
    if (!this.#isFull()) this.#searchedFrom = new Date(isWhole ? fromMs : toMs);
  }

  /** Records that rows and time are left for; the first piece is always looked at. */
  #affordable(isFirst: boolean): number {
    const { scannedMax, countedMax, firstPiece, scanMs } = this.#bounds;
    if (this.#isFull() && this.#counted > TOTAL_MAX) return 0;
    if (isFirst && !this.#isFull()) return this.#firstSize();
    const rows = (this.#isFull() ? countedMax : scannedMax) - this.#scanned;
    const inTime = ((scanMs - this.#scanMs) * this.#scanned) / Math.max(this.#scanMs, 1);
    if (rows <= 0 || inTime < firstPiece / GROWTH) return 0;
    return Math.ceil(Math.min(Math.max(rows, firstPiece), inTime));
  }

  /** By the index, as far as matches are counted; false: they were more. Null: it took too long. */
  async find(range: TimeRange): Promise<boolean | null> {
    if (this.#isFull()) return false;
    const { offset, limit } = this.#page;
    const size = Math.max(TOTAL_MAX + 1, offset + limit) - this.#counted;
    const asked = { range, after: null, size, ...this.#wanted() };
    const piece = await this.#inTime((tx) => findPiece(tx, this.#filter, asked), this.#bounds.findMs);
    if (piece === null) return null;
    this.#take(piece);
    return piece.scanned < size;
  }

  /** Null: it took too long, and what was found before is an answer. */
  async #inTime(look: (tx: Tx) => Promise<Piece>, timeoutMs: number): Promise<Piece | null> {
    try {
      return await this.#tx.savepoint(async (step) => {
        const [before] = await step<[{ timeout: string }]>`
          select current_setting('statement_timeout') as timeout,
                 set_config('statement_timeout', ${String(timeoutMs)}, true)`;
        const piece = await look(step);
        await step`select set_config('statement_timeout', ${before.timeout}, true)`;
        return piece;
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

  #take({ found, matching }: Piece): void {
    this.#places.push(...found);
    this.#counted += matching;
  }
}

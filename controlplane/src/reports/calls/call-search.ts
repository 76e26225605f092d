/**
 * Goes back through the records of an organization until a page is full, a bounded piece at a time: whatever is asked,
 * an answer looks at so many records and takes so long and no more, and says from where on it did not look. So a filter
 * that nothing matches costs no more than one that matches all, and the newest calls cost next to nothing.
 *
 * A search by text finds days that are over by their index (ledger/search-index.ts) instead; where that takes too long,
 * as for words that are neither rare nor everywhere, it looks at their records, too.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { Tx } from '../../db/sql.js';
import type { Page } from '../../http/pagination.js';
import { isStatementTimeout } from '../query/query-concurrency-limiter.js';
import type { TimeRange } from '../query/time-range.js';
import {
  type CallChunk,
  type CallFilter,
  findChunkByIndex,
  isUnfiltered,
  type RecordPosition,
  scanChunk,
} from './call-store.js';

/** Matches that are counted. */
export const TOTAL_MAX = 10_000;
export interface SearchLimits {
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
export const SEARCH_LIMITS: SearchLimits = {
  scannedMax: 200_000,
  countedMax: 20_000,
  firstPiece: 2_000,
  pieceMax: 50_000,
  scanMs: 100,
  findMs: 100,
};
/** Each piece is at most so many times the one before. */
const CHUNK_GROWTH = 5;
/** An index of three letters serves no shorter term. */
const INDEXED_TERM_CHARS_MIN = 3;
/** A piece that takes far longer than those before it did. */
const CHUNK_TIMEOUT_MS = 1_000;

interface CallSearchResult {
  readonly positions: readonly RecordPosition[];
  /** Counted up to {@link TOTAL_MAX} and one. */
  readonly matchCount: number;
  /** All of the range was looked at, or all that is counted was found. */
  readonly isComplete: boolean;
  /** Older ones were not looked at for the page. */
  readonly searchedFrom: Date | null;
}

export async function searchCalls(
  tx: Tx,
  filter: CallFilter,
  range: TimeRange,
  page: Page,
  nowMs: number,
  bounds: SearchLimits,
): Promise<CallSearchResult> {
  const search = new CallSearch(tx, filter, page, bounds);
  const openMs = indexedBeforeMs(filter, nowMs);
  const open = { fromMs: Math.max(range.fromMs, openMs), toMs: range.toMs };
  if (open.fromMs < open.toMs && !(await search.scan(open))) return search.result(false);
  const closed = { fromMs: range.fromMs, toMs: Math.min(range.toMs, openMs) };
  if (closed.fromMs >= closed.toMs) return search.result(true);
  return search.result((await search.findByIndex(closed)) ?? (await search.scan(closed)));
}

/** Days before it have an index of the text; nothing has where the text is too short for it. */
function indexedBeforeMs({ search }: CallFilter, nowMs: number): number {
  if (search === null || search.length < INDEXED_TERM_CHARS_MIN) return Number.NEGATIVE_INFINITY;
  const closedMs = nowMs - HOUR_MS;
  return closedMs - (closedMs % DAY_MS);
}

class CallSearch {
  readonly #tx: Tx;
  readonly #filter: CallFilter;
  readonly #page: Page;
  readonly #limits: SearchLimits;
  readonly #positions: RecordPosition[] = [];
  #matchCount = 0;
  #scannedRows = 0;
  #scanTimeMs = 0;
  #searchedFrom: Date | null = null;

  constructor(tx: Tx, filter: CallFilter, page: Page, bounds: SearchLimits) {
    this.#tx = tx;
    this.#filter = filter;
    this.#page = page;
    this.#limits = bounds;
  }

  /** Piece by piece; false: it ended before the range did. */
  async scan(range: TimeRange): Promise<boolean> {
    let last: CallChunk | null = null;
    for (let most = this.#firstChunkRows(); ; most = Math.min(most * CHUNK_GROWTH, this.#limits.pieceMax)) {
      const size = Math.min(most, this.#rowsLeft(last === null));
      const startMs = performance.now();
      const piece: CallChunk | null = size === 0 ? null : await this.#scanChunk(range, last, size);
      if (piece === null) {
        if (last !== null && !this.#isPageFull()) await this.#finishLastMillisecond(last);
        return false;
      }
      this.#scanTimeMs += performance.now() - startMs;
      this.#scannedRows += piece.scanned;
      if (piece.scanned < size) return true;
      last = piece;
    }
  }

  /** Null: it took too long; the first one may. */
  async #scanChunk(range: TimeRange, before: CallChunk | null, size: number): Promise<CallChunk | null> {
    const asked = { range, after: before === null ? null : before.last, size, ...this.#pageWindow() };
    const look = (tx: Tx): Promise<CallChunk> => scanChunk(tx, this.#filter, asked);
    const piece = before === null ? await look(this.#tx) : await this.#withTimeout(look, CHUNK_TIMEOUT_MS);
    if (piece !== null) this.#collect(piece);
    return piece;
  }

  /** The others of the same millisecond are still looked at: what goes on there finds none of them again. */
  async #finishLastMillisecond(last: CallChunk): Promise<void> {
    const { firstPiece } = this.#limits;
    const [fromMs, toMs] = [last.lastMs!, last.lastMs! + 1];
    const rest = await this.#scanChunk({ fromMs, toMs }, last, firstPiece);
    const isWhole = rest !== null && rest.scanned < firstPiece;
    if (!this.#isPageFull()) this.#searchedFrom = new Date(isWhole ? fromMs : toMs);
  }

  /** Records that rows and time are left for; the first piece is always looked at. */
  #rowsLeft(isFirst: boolean): number {
    const { scannedMax, countedMax, firstPiece, scanMs } = this.#limits;
    if (this.#isPageFull() && this.#matchCount > TOTAL_MAX) return 0;
    if (isFirst && !this.#isPageFull()) return this.#firstChunkRows();
    const rows = (this.#isPageFull() ? countedMax : scannedMax) - this.#scannedRows;
    const inTime = ((scanMs - this.#scanTimeMs) * this.#scannedRows) / Math.max(this.#scanTimeMs, 1);
    if (rows <= 0 || inTime < firstPiece / CHUNK_GROWTH) return 0;
    return Math.ceil(Math.min(Math.max(rows, firstPiece), inTime));
  }

  /** By the index, as far as matches are counted; false: they were more. Null: it took too long. */
  async findByIndex(range: TimeRange): Promise<boolean | null> {
    if (this.#isPageFull()) return false;
    const { offset, limit } = this.#page;
    const size = Math.max(TOTAL_MAX + 1, offset + limit) - this.#matchCount;
    const asked = { range, after: null, size, ...this.#pageWindow() };
    const piece = await this.#withTimeout((tx) => findChunkByIndex(tx, this.#filter, asked), this.#limits.findMs);
    if (piece === null) return null;
    this.#collect(piece);
    return piece.scanned < size;
  }

  /** Null: it took too long, and what was found before is an answer. */
  async #withTimeout(look: (tx: Tx) => Promise<CallChunk>, timeoutMs: number): Promise<CallChunk | null> {
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
      if (!isStatementTimeout(error)) throw error;
      return null;
    }
  }

  result(complete: boolean): CallSearchResult {
    return {
      positions: this.#positions,
      matchCount: this.#matchCount,
      isComplete: complete,
      searchedFrom: this.#searchedFrom,
    };
  }

  /** Where each record matches, one piece fills the page and counts. */
  #firstChunkRows(): number {
    const { offset, limit } = this.#page;
    return isUnfiltered(this.#filter) ? Math.max(TOTAL_MAX + 1, offset + limit) : this.#limits.firstPiece;
  }

  #pageWindow(): { skip: number; take: number } {
    const { offset, limit } = this.#page;
    return { skip: Math.max(0, offset - this.#matchCount), take: limit - this.#positions.length };
  }

  #isPageFull(): boolean {
    return this.#positions.length >= this.#page.limit;
  }

  #collect({ found, matching }: CallChunk): void {
    this.#positions.push(...found);
    this.#matchCount += matching;
  }
}

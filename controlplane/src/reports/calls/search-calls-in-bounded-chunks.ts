/**
 * Searches the records of an organization, newest first, in bounded chunks until a page is full. Every search reads a
 * bounded number of records in a bounded time, and returns the time before which it did not search. So a filter without
 * matches costs no more than one that matches everything, and the newest calls are cheap.
 *
 * A text search uses the trigram index for days that are over (ledger/log-search-index.ts). If that takes too long, as
 * for terms of medium frequency, the records of those days are scanned, too.
 */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import type { Page } from '../../http/limit-offset-pagination.js';
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

/** Up to this many matches are counted. */
export const TOTAL_MAX = 10_000;
export interface SearchLimits {
  /** Records scanned to fill the page. */
  readonly scannedRowsMax: number;
  /** Records scanned with a full page, to count further matches. */
  readonly countedRowsMax: number;
  /** Records of the first chunk, which is always scanned. */
  readonly firstChunkRows: number;
  readonly chunkRowsMax: number;
  /** No chunk starts after this time, or would end after it at the pace so far. */
  readonly scanTimeMaxMs: number;
  /** Time limit of the index lookup. */
  readonly indexTimeoutMs: number;
}
export const SEARCH_LIMITS: SearchLimits = {
  scannedRowsMax: 200_000,
  countedRowsMax: 20_000,
  firstChunkRows: 2_000,
  chunkRowsMax: 50_000,
  scanTimeMaxMs: 100,
  indexTimeoutMs: 100,
};
/** Each chunk is at most this many times the size of the previous one. */
const CHUNK_GROWTH = 5;
/** A trigram index does not help with shorter terms. */
const INDEXED_TERM_CHARS_MIN = 3;
/** Aborts a chunk that takes far longer than the previous ones. */
const CHUNK_TIMEOUT_MS = 1_000;

interface CallSearchResult {
  readonly positions: readonly RecordPosition[];
  /** Counted up to {@link TOTAL_MAX} plus one. */
  readonly matchCount: number;
  /** True: the whole range was searched, or all matches that are counted were found. */
  readonly isComplete: boolean;
  /** Records before this time were not searched. Null: the page is complete. */
  readonly searchedFrom: Date | null;
}

interface CallSearchStart {
  /** Only records older than this one; null: start with the newest. */
  readonly after: RecordPosition | null;
  /** False: stops as soon as the page is full, so `matchCount` is no total. */
  readonly countMatches: boolean;
}

const COUNT_FROM_NEWEST: CallSearchStart = { after: null, countMatches: true };

export async function searchCalls(
  tx: Tx,
  filter: CallFilter,
  range: TimeRange,
  page: Page,
  nowMs: number,
  limits: SearchLimits,
  start: CallSearchStart = COUNT_FROM_NEWEST,
): Promise<CallSearchResult> {
  const search = new CallSearch(tx, filter, page, limits, start);
  const openMs = indexedBeforeMs(filter, nowMs);
  const open = { fromMs: Math.max(range.fromMs, openMs), toMs: range.toMs };
  if (open.fromMs < open.toMs && !(await search.scan(open))) return search.result(false);
  const closed = { fromMs: range.fromMs, toMs: Math.min(range.toMs, openMs) };
  if (closed.fromMs >= closed.toMs) return search.result(true);
  return search.result((await search.findByIndex(closed)) ?? (await search.scan(closed)));
}

/**
 * Days before this time (Unix ms) have a usable text index; negative infinity if the term is too short for the index.
 */
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
  readonly #start: CallSearchStart;
  readonly #positions: RecordPosition[] = [];
  #matchCount = 0;
  #scannedRows = 0;
  #scanTimeMs = 0;
  #searchedFrom: Date | null = null;

  constructor(tx: Tx, filter: CallFilter, page: Page, limits: SearchLimits, start: CallSearchStart) {
    this.#tx = tx;
    this.#filter = filter;
    this.#page = page;
    this.#limits = limits;
    this.#start = start;
  }

  /** Scans chunk by chunk. Returns false if a limit ended the scan before the end of the range. */
  async scan(range: TimeRange): Promise<boolean> {
    let last: CallChunk | null = null;
    for (
      let rowsMax = this.#firstChunkRows();
      ;
      rowsMax = Math.min(rowsMax * CHUNK_GROWTH, this.#limits.chunkRowsMax)
    ) {
      const size = Math.min(rowsMax, this.#rowsLeft(last === null));
      const startMs = performance.now();
      const chunk: CallChunk | null = size === 0 ? null : await this.#scanChunk(range, last, size);
      if (chunk === null) {
        if (last !== null && !this.#isPageFull()) await this.#finishLastMillisecond(last);
        return false;
      }
      this.#scanTimeMs += performance.now() - startMs;
      this.#scannedRows += chunk.scanned;
      if (chunk.scanned < size) return true;
      last = chunk;
    }
  }

  /** Returns null after a timeout. The first chunk has no timeout of its own. */
  async #scanChunk(range: TimeRange, before: CallChunk | null, size: number): Promise<CallChunk | null> {
    const chunkQuery = { range, after: before === null ? this.#start.after : before.last, size, ...this.#pageWindow() };
    const scan = (tx: Tx): Promise<CallChunk> => scanChunk(tx, this.#filter, chunkQuery);
    const chunk = before === null ? await scan(this.#tx) : await this.#withTimeout(scan, CHUNK_TIMEOUT_MS);
    if (chunk !== null) this.#collect(chunk);
    return chunk;
  }

  /**
   * Scans the remaining records of the same millisecond: the next request, which starts at that time, would skip them.
   */
  async #finishLastMillisecond(last: CallChunk): Promise<void> {
    const { firstChunkRows } = this.#limits;
    const [fromMs, toMs] = [last.lastMs!, last.lastMs! + 1];
    const chunk = await this.#scanChunk({ fromMs, toMs }, last, firstChunkRows);
    const isMillisecondDone = chunk !== null && chunk.scanned < firstChunkRows;
    if (!this.#isPageFull()) this.#searchedFrom = new Date(isMillisecondDone ? fromMs : toMs);
  }

  /** Records that the row and time limits still allow; the first chunk is always allowed. */
  #rowsLeft(isFirst: boolean): number {
    const { scannedRowsMax, countedRowsMax, firstChunkRows, scanTimeMaxMs } = this.#limits;
    if (this.#isPageFull() && (!this.#start.countMatches || this.#matchCount > TOTAL_MAX)) return 0;
    if (isFirst && !this.#isPageFull()) return this.#firstChunkRows();
    const rows = (this.#isPageFull() ? countedRowsMax : scannedRowsMax) - this.#scannedRows;
    const rowsWithinTime = ((scanTimeMaxMs - this.#scanTimeMs) * this.#scannedRows) / Math.max(this.#scanTimeMs, 1);
    if (rows <= 0 || rowsWithinTime < firstChunkRows / CHUNK_GROWTH) return 0;
    return Math.ceil(Math.min(Math.max(rows, firstChunkRows), rowsWithinTime));
  }

  /**
   * Searches with the index up to the number of matches that are counted. Returns false if there were more, null after
   * a timeout.
   */
  async findByIndex(range: TimeRange): Promise<boolean | null> {
    if (this.#isPageFull()) return false;
    const { offset, limit } = this.#page;
    const rowsMax = Math.max(this.#start.countMatches ? TOTAL_MAX + 1 : 0, offset + limit);
    const size = rowsMax - this.#matchCount;
    const chunkQuery = { range, after: this.#start.after, size, ...this.#pageWindow() };
    const chunk = await this.#withTimeout(
      (tx) => findChunkByIndex(tx, this.#filter, chunkQuery),
      this.#limits.indexTimeoutMs,
    );
    if (chunk === null) return null;
    this.#collect(chunk);
    return chunk.scanned < size;
  }

  /** Returns null after a timeout; what earlier chunks found stays valid. */
  async #withTimeout(query: (tx: Tx) => Promise<CallChunk>, timeoutMs: number): Promise<CallChunk | null> {
    try {
      return await this.#tx.savepoint(async (step) => {
        const [before] = await step<[{ timeout: string }]>`
          select current_setting('statement_timeout') as timeout,
                 set_config('statement_timeout', ${String(timeoutMs)}, true)`;
        const chunk = await query(step);
        await step`select set_config('statement_timeout', ${before.timeout}, true)`;
        return chunk;
      });
    } catch (error) {
      if (!isStatementTimeout(error)) throw error;
      return null;
    }
  }

  result(isComplete: boolean): CallSearchResult {
    return {
      positions: this.#positions,
      matchCount: this.#matchCount,
      isComplete,
      searchedFrom: this.#searchedFrom,
    };
  }

  /** Without a filter every record matches, so one chunk fills the page and completes the count. */
  #firstChunkRows(): number {
    const { offset, limit } = this.#page;
    if (!isUnfiltered(this.#filter)) return this.#limits.firstChunkRows;
    return Math.max(this.#start.countMatches ? TOTAL_MAX + 1 : 0, offset + limit);
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

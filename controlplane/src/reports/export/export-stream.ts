/**
 * Streams the log records of a range as JSON or CSV, newest first, with constant memory. Each batch is one statement
 * that continues after the last record, so the database holds nothing open while a slow client reads. The next batch is
 * fetched only after the client has read the current one. Postgres returns a batch as one text, and its bytes are sent
 * unchanged.
 */
import { Readable } from 'node:stream';
import type { MinorGcPacer } from '@acg/base/minor-gc-by-buffer-bytes';
import { CSV_HEADER } from '../log-record/csv-and-json-row-sql.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import type { UsageScope } from '../query/rollup-selection.js';
import type { TimeRange } from '../query/time-range.js';
import { type ExportBatch, type ExportBatchQuery, type ExportFormat, selectExportBatch } from './export-store.js';

/** About 330 KB of CSV or 650 KB of JSON. */
const BATCH_ROWS = 1_000;
/** Used with a filter by project or key, when most records may belong to others. */
const SPARSE_BATCH_ROWS = 4_000;
const DELIMITERS = {
  csv: { before: CSV_HEADER, between: '', after: '' },
  json: { before: '[\n', between: ',\n', after: '\n]\n' },
};

/** Stream of the whole document. An error destroys the stream, so that a truncated file never looks complete. */
export function createExportStream(
  queryLimiter: QueryConcurrencyLimiter,
  gcPacer: MinorGcPacer,
  exportRequest: ExportRequest,
): Readable {
  const { orgId } = exportRequest.scope;
  const chunks = exportChunks(
    (query) => queryLimiter.run(orgId, () => selectExportBatch(queryLimiter.sql, query), true),
    gcPacer,
    exportRequest,
  );
  return Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
}

export interface ExportRequest {
  readonly scope: UsageScope;
  readonly range: TimeRange;
  readonly format: ExportFormat;
}

async function* exportChunks(
  select: (query: ExportBatchQuery) => Promise<ExportBatch | null>,
  gcPacer: MinorGcPacer,
  { scope, range, format }: ExportRequest,
): AsyncGenerator<Uint8Array | string> {
  const { before, between, after } = DELIMITERS[format];
  yield before;
  const limit = scope.projectId === null && scope.keyId === undefined ? BATCH_ROWS : SPARSE_BATCH_ROWS;
  let last: ExportBatch | null = null;
  let isFirst = true;
  do {
    const batch: ExportBatch | null = await select({ scope, range, format, before: last, limit });
    if (batch === null) break;
    last = batch;
    if (batch.bytes === null) continue;
    if (!isFirst && between !== '') yield between;
    isFirst = false;
    yield batch.bytes;
    gcPacer.onBytesAllocated(2 * batch.bytes.length); // counted twice: received from the socket in pieces, then joined
  } while (last.records === limit);
  if (after !== '') yield after;
}

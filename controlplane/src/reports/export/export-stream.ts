/**
 * Streams the log records of a period as JSON or CSV, newest first, in flat memory. Each run of records is one
 * statement that goes on behind the last record: nothing is held in the database while a slow client reads, and the
 * next run is only fetched when the client has taken the one before. A run comes from Postgres as one text, and its
 * bytes go to the client as they are.
 */
import { Readable } from 'node:stream';
import type { MinorGcPacer } from '@acg/base/minor-gc-pacer';
import { CSV_HEADER } from '../log-record/row-formats.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import type { UsageScope } from '../query/rollup-selection.js';
import type { TimeRange } from '../query/time-range.js';
import { type ExportBatch, type ExportBatchQuery, type ExportFormat, selectExportBatch } from './export-store.js';

/** About 330 KB of CSV or 650 KB of JSON. */
const BATCH_ROWS = 1_000;
/** Where most of them may be of other projects. */
const SPARSE_BATCH_ROWS = 4_000;
const DELIMITERS = {
  csv: { before: CSV_HEADER, between: '', after: '' },
  json: { before: '[\n', between: ',\n', after: '\n]\n' },
};

/** Bytes of the whole document. A failure in the middle destroys the stream, so that a cut file never looks whole. */
export function createExportStream(
  gate: QueryConcurrencyLimiter,
  garbage: MinorGcPacer,
  what: ExportRequest,
): Readable {
  const { orgId } = what.scope;
  const chunks = exportChunks(
    (query) => gate.run(orgId, () => selectExportBatch(gate.sql, query), true),
    garbage,
    what,
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
  garbage: MinorGcPacer,
  { scope, range, format }: ExportRequest,
): AsyncGenerator<Uint8Array | string> {
  const { before, between, after } = DELIMITERS[format];
  yield before;
  const limit = scope.projectId === null ? BATCH_ROWS : SPARSE_BATCH_ROWS;
  let last: ExportBatch | null = null;
  let isFirst = true;
  do {
    const run: ExportBatch | null = await select({ scope, range, format, before: last, limit });
    if (run === null) break;
    last = run;
    if (run.bytes === null) continue;
    if (!isFirst && between !== '') yield between;
    isFirst = false;
    yield run.bytes;
    garbage.onBytesAllocated(2 * run.bytes.length); // as it came off the socket, and put together
  } while (last.records === limit);
  if (after !== '') yield after;
}

/**
 * Streams the log records of a period as JSON or CSV, newest first, in flat memory. Each run of records is one
 * statement that goes on behind the last record: nothing is held in the database while a slow client reads, and the
 * next run is only fetched when the client has taken the one before. A run comes from Postgres as one text, and its
 * bytes go to the client as they are.
 */
import { Readable } from 'node:stream';
import type { ChunkGarbage } from '@acg/base/chunk-garbage';
import { type ExportFormat, type ExportRun, type ExportRunQuery, selectExportRun } from './export-store.js';
import { CSV_HEADER } from './log-lines.js';
import type { TimeRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import type { Scope } from './rollup-source.js';

/** About 330 KB of CSV or 650 KB of JSON. */
const RUN_ROWS = 1_000;
/** Where most of them may be of other projects. */
const SPARSE_RUN_ROWS = 4_000;
const MARKS = {
  csv: { before: CSV_HEADER, between: '', after: '' },
  json: { before: '[\n', between: ',\n', after: '\n]\n' },
};

/** Bytes of the whole document. A failure in the middle destroys the stream, so that a cut file never looks whole. */
export function exportLogs(gate: QueryGate, garbage: ChunkGarbage, what: ExportOf): Readable {
  const { orgId } = what.scope;
  const chunks = exportChunks((query) => gate.run(orgId, () => selectExportRun(gate.sql, query), true), garbage, what);
  return Readable.from(chunks, { objectMode: false, highWaterMark: 1 });
}

export interface ExportOf {
  readonly scope: Scope;
  readonly range: TimeRange;
  readonly format: ExportFormat;
}

async function* exportChunks(
  select: (query: ExportRunQuery) => Promise<ExportRun | null>,
  garbage: ChunkGarbage,
  { scope, range, format }: ExportOf,
): AsyncGenerator<Uint8Array | string> {
  const { before, between, after } = MARKS[format];
  yield before;
  const limit = scope.projectId === null ? RUN_ROWS : SPARSE_RUN_ROWS;
  let last: ExportRun | null = null;
  let isFirst = true;
  do {
    const run: ExportRun | null = await select({ scope, range, format, before: last, limit });
    if (run === null) break;
    last = run;
    if (run.lines === null) continue;
    if (!isFirst && between !== '') yield between;
    isFirst = false;
    yield run.lines;
    garbage.note(2 * run.lines.length); // as it came off the socket, and put together
  } while (last.records === limit);
  if (after !== '') yield after;
}

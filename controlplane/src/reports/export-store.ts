/** SQL that reads runs of the export. */
import type { Sql } from '../db/sql.js';
import { ofProject } from './call-store.js';
import { CSV_LINE, JSON_LINE } from './log-lines.js';
import type { TimeRange } from './period.js';
import { type Scope, whose } from './rollup-source.js';

export type ExportFormat = 'json' | 'csv';

export interface ExportRun {
  /** Lines of CSV, each with its end; or JSON objects with `,` and a line break between them. Null: none in this run. */
  readonly lines: Uint8Array | null;
  /** Records that were looked at. */
  readonly records: number;
  /** The oldest record of the run, as texts of Postgres. */
  readonly startedAt: string;
  readonly id: string;
}

export interface ExportRunQuery {
  readonly scope: Scope;
  readonly range: TimeRange;
  readonly format: ExportFormat;
  /** Null: from the newest record on. */
  readonly before: Pick<ExportRun, 'startedAt' | 'id'> | null;
  readonly limit: number;
}

const LINES = { csv: { line: CSV_LINE, separator: '' }, json: { line: JSON_LINE, separator: ',\n' } };

/**
 * The newest `limit` records of the range before the given one, newest first; null when there are none. Those of other
 * projects are looked at and left out, so a run costs the same whichever the project.
 */
export async function selectExportRun(
  sql: Sql,
  { scope, range, format, before, limit }: ExportRunQuery,
): Promise<ExportRun | null> {
  const { line, separator } = LINES[format];
  const wanted = scope.projectId === null ? sql`true` : ofProject(sql, scope.projectId);
  const end =
    before === null
      ? sql`started_at < ${new Date(range.toMs)}`
      : sql`started_at <= ${before.startedAt}::text::timestamptz
          and (started_at, id) < (${before.startedAt}::text::timestamptz, ${before.id}::uuid)`;
  const [row] = await sql`
    select count(*)::text, min(started_at)::text, (array_agg(id order by started_at, id))[1]::text,
           string_agg(line, ${separator} order by started_at desc, id desc)
      from (select started_at, id, case when ${wanted} then ${sql.unsafe(line)} end as line from usage_records
             where ${whose(sql, { ...scope, projectId: null })} and started_at >= ${new Date(range.fromMs)} and ${end}
             order by started_at desc, id desc limit ${limit}) run`.raw();
  const [records, startedAt, id, lines] = row as unknown as readonly (Uint8Array | null)[];
  if (startedAt == null) return null;
  return { lines: lines ?? null, records: Number(textOf(records)), startedAt: textOf(startedAt), id: textOf(id) };
}

const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes!).toString('latin1');

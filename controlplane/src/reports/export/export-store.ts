/** SQL that reads the batches of an export. */
import type { Sql } from '../../db/postgres-client.js';
import { projectCondition } from '../calls/call-store.js';
import { CSV_ROW_SQL, JSON_ROW_SQL } from '../log-record/csv-and-json-row-sql.js';
import { scopeCondition, type UsageScope } from '../query/rollup-selection.js';
import type { TimeRange } from '../query/time-range.js';

export type ExportFormat = 'json' | 'csv';

export interface ExportBatch {
  /** CSV lines, each with its line end, or JSON objects separated by `,` and a line break. Null: the batch has none. */
  readonly bytes: Uint8Array | null;
  /** Number of records read. */
  readonly records: number;
  /** Position of the oldest record of the batch, as text in Postgres format. */
  readonly startedAt: string;
  readonly id: string;
}

export interface ExportBatchQuery {
  readonly scope: UsageScope;
  readonly range: TimeRange;
  readonly format: ExportFormat;
  /** Only records older than this one; null: start with the newest. */
  readonly before: Pick<ExportBatch, 'startedAt' | 'id'> | null;
  readonly limit: number;
}

const ROW_FORMATS = { csv: { line: CSV_ROW_SQL, separator: '' }, json: { line: JSON_ROW_SQL, separator: ',\n' } };

/**
 * Reads the next `limit` records of the range, newest first. Returns null if there are none. Records of other projects
 * and keys are read but left out, so a batch costs the same for each of them.
 */
export async function selectExportBatch(
  sql: Sql,
  { scope, range, format, before, limit }: ExportBatchQuery,
): Promise<ExportBatch | null> {
  const { line, separator } = ROW_FORMATS[format];
  const { orgId, agentIds, keyId } = scope;
  const inProject = scope.projectId === null ? sql`true` : projectCondition(sql, scope.projectId);
  const ofKey = keyId === undefined ? sql`true` : sql`key_id = ${keyId}`;
  const upperBound =
    before === null
      ? sql`started_at < ${new Date(range.toMs)}`
      : sql`started_at <= ${before.startedAt}::text::timestamptz
          and (started_at, id) < (${before.startedAt}::text::timestamptz, ${before.id}::uuid)`;
  const [row] = await sql`
    select count(*)::text, min(started_at)::text, (array_agg(id order by started_at, id))[1]::text,
           string_agg(line, ${separator} order by started_at desc, id desc)
      from (select started_at, id, case when ${inProject} and ${ofKey} then ${sql.unsafe(line)} end as line from usage_records r
             where ${scopeCondition(sql, { orgId, agentIds, projectId: null })} and started_at >= ${new Date(range.fromMs)} and ${upperBound}
             order by started_at desc, id desc limit ${limit}) run`.raw();
  const [records, startedAt, id, lines] = row as unknown as readonly (Uint8Array | null)[];
  if (startedAt == null) return null;
  return {
    bytes: lines ?? null,
    records: Number(latin1Text(records)),
    startedAt: latin1Text(startedAt),
    id: latin1Text(id),
  };
}

const latin1Text = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes!).toString('latin1');

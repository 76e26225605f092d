/**
 * Books quarantined records again, e.g. those of a data plane whose clock was ahead. A record that began after it
 * arrived gets the time of its arrival. What still cannot be booked stays in quarantine. One run at a time; a repetition
 * books nothing twice.
 */
import { HOUR_MS } from '@acg/base/time-and-money-units';
import { UUID_PATTERN } from '@acg/base/uuid-patterns';
import { type IUsageRecord, ReportUsageRequest } from '@acg/proto/messages';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql } from '../db/postgres-client.js';
import { withReservedConnection } from '../db/reserved-connection.js';
import { UNGRANTED_REASON } from './quarantine-ungranted-usage.js';
import type { UsageIngest } from './usage-ingest.js';

interface RebookFilter {
  /** Null: all. */
  readonly orgId: string | null;
  /** Id of the data plane as it was sent; null: all. */
  readonly dataPlaneId: string | null;
  /** Also books usage of organizations of which the data plane was given no context: it may be forged. */
  readonly includesUngranted: boolean;
}

interface RebookResult {
  readonly booked: number;
  /** Count by reason. */
  readonly left: ReadonlyMap<string, number>;
}

interface QuarantinedRow {
  readonly id: string;
  readonly dataPlaneId: string;
  readonly reason: string;
  /** A record as it was sent, or one that the database rejected, with its dimensions in `kind`. */
  readonly record: IUsageRecord & { readonly kind?: IUsageRecord };
  readonly at: Date;
}

const ROWS_PER_BATCH = 500;
/** A record is sent at its end, and a spool may be sent hours later; it never begins after it was sent. */
const CLOCK_TOLERANCE_MS = HOUR_MS;

/** `isDryRun`: counts what would be tried, as booked, and changes nothing. */
export async function rebookQuarantinedRecords(
  sql: Sql,
  ingest: Pick<UsageIngest, 'ingestReport'>,
  filter: RebookFilter,
  isDryRun: boolean,
): Promise<RebookResult> {
  return withReservedConnection(sql, async (connection) => {
    await connection`select pg_advisory_lock(hashtext('rebook_records'))`;
    return rebookAll(sql, ingest, filter, isDryRun);
  });
}

async function rebookAll(
  sql: Sql,
  ingest: Pick<UsageIngest, 'ingestReport'>,
  filter: RebookFilter,
  isDryRun: boolean,
): Promise<RebookResult> {
  const left = new Map<string, number>();
  let booked = 0;
  for (let after = ''; ; ) {
    const rows = await selectQuarantined(sql, filter, after);
    if (rows.length === 0) return { booked, left };
    after = rows.at(-1)!.id;
    const rejected = isDryRun ? new Map<string, string>() : await book(sql, ingest, rows);
    const done = rows.filter(({ id }) => !rejected.has(id)).map(({ id }) => id);
    booked += done.length;
    for (const reason of rejected.values()) left.set(reason, (left.get(reason) ?? 0) + 1);
    if (!isDryRun) await sql`delete from poison_records where id = any(${done})`;
  }
}

const selectQuarantined = (sql: Sql, { orgId, dataPlaneId, includesUngranted }: RebookFilter, after: string) =>
  sql<QuarantinedRow[]>`
    select id, data_plane_id as "dataPlaneId", reason, record, at from poison_records
     where id > ${after}
       and (${orgId}::text is null or coalesce(record ->> 'orgId', record -> 'kind' ->> 'orgId') = ${orgId})
       and (${dataPlaneId}::text is null or data_plane_id = ${dataPlaneId})
       and (${includesUngranted} or reason <> ${UNGRANTED_REASON})
     order by id limit ${ROWS_PER_BATCH}`;

/** Returns why rows cannot be booked, by id. */
async function book(
  sql: Sql,
  ingest: Pick<UsageIngest, 'ingestReport'>,
  rows: readonly QuarantinedRow[],
): Promise<ReadonlyMap<string, string>> {
  const byDataPlane = new Map<string, QuarantinedRow[]>();
  for (const row of rows) byDataPlane.set(row.dataPlaneId, [...(byDataPlane.get(row.dataPlaneId) ?? []), row]);
  const rejected = new Map<string, string>();
  for (const [dataPlaneId, ofPlane] of byDataPlane) {
    const records = ofPlane.map(toRecord);
    const booked = await selectBookedIds(sql, records);
    const unbooked = records.filter(({ id }) => !booked.has(id ?? ''));
    const body = Buffer.from(ReportUsageRequest.encode({ dataPlaneId, records: unbooked }).finish());
    const answer = await ingest.ingestReport(body);
    const reasons = new Map((answer.rejected ?? []).map(({ id, reason }) => [id ?? '', reason ?? '']));
    for (const [i, { id }] of ofPlane.entries()) {
      const reason = reasons.get(records[i]!.id ?? '');
      if (reason !== undefined) rejected.set(id, reason);
    }
  }
  return rejected;
}

/**
 * Ids that an earlier run booked. The ledger itself recognizes a record by its id and time, and the time of an arrival is
 * another one when the data plane sends the record again.
 */
async function selectBookedIds(sql: Sql, records: readonly IUsageRecord[]): Promise<ReadonlySet<string>> {
  const known = records.filter(({ id, agentId }) => UUID_PATTERN.test(id ?? '') && UUID_PATTERN.test(agentId ?? ''));
  const rows = await sql<{ id: string }[]>`
    select sent.id from unnest(
        ${arrayLiteral(known, ({ agentId }) => agentId!)}::text::uuid[], ${arrayLiteral(known, ({ id }) => id!)}::text::uuid[]
      ) as sent(agent_id, id)
     where exists (select from usage_records u where u.agent_id = sent.agent_id and u.id = sent.id)`;
  return new Set(rows.map(({ id }) => id));
}

function toRecord({ record: { kind, ...sent }, at }: QuarantinedRow): IUsageRecord {
  const record: IUsageRecord = { ...sent, ...kind };
  const arrivedMs = at.getTime();
  if ((record.startedAtMs ?? 0) <= arrivedMs + CLOCK_TOLERANCE_MS) return record;
  return { ...record, startedAtMs: arrivedMs - Math.min(record.durationMs ?? 0, CLOCK_TOLERANCE_MS), month: '' };
}

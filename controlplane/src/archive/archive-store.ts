/** SQL of the archive: reads a day of an organization in bounded batches, and records what is verified. */
import { HOUR_MS } from '@acg/base/time-and-money-units';
import type { PendingQuery, Row } from 'postgres';
import type { Sql } from '../db/postgres-client.js';
import { withReservedConnection } from '../db/reserved-connection.js';
import { partitionDayMs } from '../ledger/create-usage-day-partitions.js';
import { NANOS_SUM_MAX } from '../ledger/usage-field-validation.js';
import { CHARGE_MAX, FOCUS_COLUMNS, NAME_JOINS, RUN_JOIN, selectAsText, USAGE_COLUMNS } from './archive-columns.js';
import type { TextRow } from './part-writer.js';

/** About 1.5 MB in this process. */
const ROWS_PER_BATCH = 1_000;

const USAGE_SELECT = USAGE_COLUMNS.map(selectAsText).join(', ');
const FOCUS_SELECT = FOCUS_COLUMNS.map(selectAsText).join(', ');

interface Position {
  readonly startedAt: string;
  readonly id: string;
}

/** Yields the records of the day in order of time; null rows are never yielded. Both bounds, so that one partition is read. */
export async function* readUsage(sql: Sql, orgId: string, dayMs: number, toMs: number): AsyncGenerator<TextRow[]> {
  let after: Position | null = null;
  for (;;) {
    const from: Position | null = after;
    const rows: (TextRow & { readonly position_at: string })[] = await sql`
      select ${sql.unsafe(USAGE_SELECT)}, r.started_at::text as position_at from usage_records r ${sql.unsafe(NAME_JOINS)}
       where r.org_id = ${orgId} and r.started_at >= ${new Date(dayMs)} and r.started_at < ${new Date(toMs)}
         ${from === null ? sql`` : sql`and (r.started_at, r.id) > (${from.startedAt}::text::timestamptz, ${from.id}::uuid)`}
       order by r.started_at, r.id limit ${ROWS_PER_BATCH}`;
    if (rows.length === 0) return;
    yield rows;
    if (rows.length < ROWS_PER_BATCH) return;
    const last = rows.at(-1)!;
    after = { startedAt: last.position_at, id: last.id! };
  }
}

/**
 * Reads the charges of one hour in order: one row per project, agent, key, provider, model, run and tags, or several
 * where a sum exceeds {@link CHARGE_MAX}. Tags are the caller's, so an hour can have as many charges as calls. The
 * cursor's rows wait in Postgres and hold no lock on the ledger while `take` stores a part.
 */
export async function readCharges(
  sql: Sql,
  orgId: string,
  hour: Date,
  take: (rows: readonly TextRow[]) => Promise<void>,
): Promise<void> {
  await withReservedConnection(sql, async (connection) => {
    await connection`set statement_timeout = 0`;
    const key = connection`project_id, agent_id, key_id, provider_slug, model, run_id, tags`;
    const share = (sum: string) =>
      connection.unsafe(
        `(case when parts = 1 then ${sum} else div(${sum} * part, parts) - div(${sum} * (part - 1), parts) end)::bigint`,
      );
    await connection`
      declare charges no scroll cursor with hold for
      with sums as (
        select org_id, ${key}, count(*)::numeric as requests, sum(cost_nanos) as nanos,
               sum(tokens_in_uncached + tokens_cache_read + tokens_cache_write + tokens_out) as tokens
          from usage_records
         where org_id = ${orgId}::uuid and started_at >= ${hour} and started_at < ${new Date(hour.getTime() + HOUR_MS)}
         group by org_id, ${key}),
      r as (
        select org_id, ${hour}::timestamptz as hour, ${key}, part, ${share('requests')} as requests,
               ${share('nanos')} as cost_nanos, ${share('tokens')} as tokens
          from sums cross join lateral (select div(greatest(nanos, tokens, 1) - 1, ${CHARGE_MAX}::numeric) + 1 as parts) p
         cross join lateral generate_series(1, parts) part)
      select ${connection.unsafe(FOCUS_SELECT)} from r left join organizations o on o.id = r.org_id
             ${connection.unsafe(NAME_JOINS)} ${connection.unsafe(RUN_JOIN)}
       order by r.agent_id, r.key_id, r.provider_slug, r.model, r.project_id, r.run_id, r.tags, r.part`;
    for (;;) {
      const rows = await connection.unsafe<TextRow[]>(`fetch ${ROWS_PER_BATCH} from charges`);
      if (rows.length > 0) await take(rows);
      if (rows.length < ROWS_PER_BATCH) return;
    }
  });
}

export interface DaySums {
  readonly rows: number;
  /** Decimal text. */
  readonly costNanos: string;
}

export async function sumDay(sql: Sql, orgId: string, dayMs: number, toMs: number): Promise<DaySums> {
  const [row] = await sql<DaySums[]>`
    select count(*) as rows, coalesce(sum(cost_nanos), 0)::text as "costNanos" from usage_records
     where org_id = ${orgId} and started_at >= ${new Date(dayMs)} and started_at < ${new Date(toMs)}`;
  return row!;
}

/** UTC midnights of the days that the ledger has, oldest first. */
export async function listPartitionDays(sql: Sql): Promise<readonly number[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'usage_records'::regclass and c.relname ~ '^usage_records_\\d{8}$' order by 1`;
  return rows.map(({ name }) => partitionDayMs(name));
}

/**
 * A tenant whose own provider reports invented usage can reach more than a bigint holds (ledger/usage-field-validation):
 * the stored sum of such a day stops there, so that the days of others are archived.
 */
const cappedNanos = (sql: Sql, sum: PendingQuery<Row[]>) => sql`least(${sum}, ${NANOS_SUM_MAX}::bigint)::bigint`;

/** Organizations of the day whose records differ in number or sum from what the archive has, and those it lacks. */
export async function listUnarchived(sql: Sql, dayMs: number, toMs: number): Promise<readonly string[]> {
  const rows = await sql<{ orgId: string }[]>`
    select u.org_id as "orgId" from (
      select org_id, count(*) as rows, ${cappedNanos(sql, sql`sum(cost_nanos)`)} as cost_nanos from usage_records
       where started_at >= ${new Date(dayMs)} and started_at < ${new Date(toMs)} group by org_id) u
     where not exists (select from archive_days d where d.org_id = u.org_id and d.day = ${new Date(dayMs)}
       and d.rows = u.rows and d.cost_nanos = u.cost_nanos)
     order by 1`;
  return rows.map(({ orgId }) => orgId);
}

/** Organizations with records of the day that have it in the archive. */
export async function listArchivedOrganizations(sql: Sql, dayMs: number, toMs: number): Promise<readonly string[]> {
  const rows = await sql<{ orgId: string }[]>`
    select d.org_id as "orgId" from archive_days d where d.day = ${new Date(dayMs)} and exists (
      select from usage_records r where r.org_id = d.org_id and r.started_at >= ${new Date(dayMs)} and r.started_at < ${new Date(toMs)})
     order by 1`;
  return rows.map(({ orgId }) => orgId);
}

export interface ArchivedDay extends DaySums {
  readonly day: string;
  readonly files: number;
  readonly bytes: number;
  readonly verifiedAt: Date;
  /** Of the manifest, hexadecimal; null: archived by an earlier release. */
  readonly manifestSha256: string | null;
}

export async function recordArchivedDay(
  sql: Sql,
  orgId: string,
  { day, rows, costNanos, files, bytes, manifestSha256 }: Omit<ArchivedDay, 'verifiedAt'>,
): Promise<void> {
  await sql`
    insert into archive_days (org_id, day, rows, cost_nanos, files, bytes, verified_at, manifest_sha256, manifest_verified_at)
    values (${orgId}, ${day}, ${rows}, ${cappedNanos(sql, sql`${costNanos}::text::numeric`)}, ${files}, ${bytes}, now(),
            ${manifestSha256}, now())
    on conflict (org_id, day) do update set rows = excluded.rows, cost_nanos = excluded.cost_nanos,
      files = excluded.files, bytes = excluded.bytes, verified_at = excluded.verified_at,
      manifest_sha256 = excluded.manifest_sha256, manifest_verified_at = excluded.manifest_verified_at`;
}

/** The day of the organization is archived again. */
export const forgetArchivedDay = (sql: Sql, orgId: string, day: string) => sql`
  delete from archive_days where org_id = ${orgId} and day = ${day}`;

const columns = (sql: Sql) => sql`
  day::text, rows, cost_nanos::text as "costNanos", files, bytes, verified_at as "verifiedAt",
  case when manifest_verified_at = verified_at then manifest_sha256 end as "manifestSha256"`;

export const listArchivedDays = (sql: Sql, orgId: string, limit: number, offset: number) =>
  sql<ArchivedDay[]>`
    select ${columns(sql)} from archive_days where org_id = ${orgId} order by day desc limit ${limit} offset ${offset}`;

export async function countArchivedDays(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from archive_days where org_id = ${orgId}`;
  return row!.total;
}

export async function loadArchivedDay(sql: Sql, orgId: string, day: string): Promise<ArchivedDay | null> {
  const [row] = await sql<ArchivedDay[]>`
    select ${columns(sql)} from archive_days where org_id = ${orgId} and day = ${day}`;
  return row ?? null;
}

export async function listCompleteDays(sql: Sql): Promise<ReadonlySet<number>> {
  const rows = await sql<{ day: string }[]>`select day::text from archive_complete_days`;
  return new Set(rows.map(({ day }) => Date.parse(day)));
}

export async function markComplete(sql: Sql, dayMs: number): Promise<void> {
  await sql`insert into archive_complete_days (day) values (${new Date(dayMs)})
            on conflict (day) do update set completed_at = now()`;
}

export const unmarkComplete = (sql: Sql, dayMs: number) => sql`
  delete from archive_complete_days where day = ${new Date(dayMs)}`;

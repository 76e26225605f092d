/**
 * SQL for everything in a usage batch that is not a forwarded call: rejection counts, ids of counts booked before,
 * quarantined records.
 */
import { HOUR_MS } from '@acg/base/time-and-money-units';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';

/** Rejected calls of one agent, provider and reason in one minute. */
export interface RejectionEntry {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  /** `''`: rejected before the provider was known. */
  readonly providerSlug: string;
  readonly reason: string;
  readonly minuteMs: number;
  readonly count: number;
  /** Some of these calls. */
  readonly calls: readonly RejectedCallEntry[];
}

/** One rejected call, as the list of rejected calls shows it. */
export interface RejectedCallEntry {
  readonly id: string;
  readonly keyId: string;
  readonly rejectedAtMs: number;
  readonly status: number;
  readonly method: string;
  readonly path: string;
  /** `''`: not known. */
  readonly model: string;
  /** `''`: none. */
  readonly tool: string;
  /** An IPv4 address or an IPv6 /64. */
  readonly clientNetwork: string;
  /** The budget row that rejected the call; `''`: none. */
  readonly budgetId: string;
}

/** A record that cannot be booked, as it is stored for the operator. */
export interface QuarantinedRecord {
  /** The record's own id, or a digest of the record if that id is not a UUID. */
  readonly id: string;
  /** The id as the data plane sent it, for the response. */
  readonly reportedId: string;
  /** The nil UUID: unknown. */
  readonly orgId: string;
  readonly dataPlaneId: string;
  readonly reason: string;
  /** JSON text. */
  readonly record: string;
}

const QUARANTINED_ROWS_PER_ORG = 1_000;
/** The newest rejected calls of an agent that are kept. */
export const REJECTED_CALLS_PER_AGENT = 500;

/** Returns those ids of rejection counts and IP observations that were not booked before, and marks them as booked. */
export async function claimNewCountIds(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    insert into booked_counts (id)
    select distinct * from unnest(${arrayLiteral(ids, (id) => id)}::text::uuid[]) as r(id) order by id
    on conflict do nothing returning id`;
  return new Set(rows.map((row) => row.id));
}

export async function addHourlyRejections(tx: Tx, entries: readonly RejectionEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const column = (value: (entry: RejectionEntry) => string | number) => arrayLiteral(entries, value);
  await tx`
    insert into rejections_hourly as h (agent_id, provider_slug, reason, hour, org_id, count)
    select agent_id, provider_slug, reason, hour, min(org_id::text)::uuid, sum(count)
      from unnest(
        ${column((e) => e.agentId)}::text::uuid[],
        ${column((e) => e.providerSlug)}::text::text[],
        ${column((e) => e.reason)}::text::text[],
        ${column((e) => new Date(e.minuteMs - (e.minuteMs % HOUR_MS)).toISOString())}::text::timestamptz[],
        ${column((e) => e.orgId)}::text::uuid[],
        ${column((e) => e.count)}::text::bigint[]
      ) as r(agent_id, provider_slug, reason, hour, org_id, count)
     group by agent_id, hour, provider_slug, reason
     order by agent_id, hour, provider_slug, reason
    on conflict (agent_id, hour, provider_slug, reason) do update set count = h.count + excluded.count`;
}

/** Stores rejected calls, and deletes those of the same agents beyond {@link REJECTED_CALLS_PER_AGENT}. */
export async function insertRejectedCalls(tx: Tx, entries: readonly RejectionEntry[]): Promise<void> {
  const rows = entries.flatMap((entry) => entry.calls.map((call) => ({ entry, call })));
  if (rows.length === 0) return;
  const column = (value: (row: (typeof rows)[number]) => string | number | null) => arrayLiteral(rows, value);
  await tx`
    insert into rejected_calls (org_id, agent_id, rejected_at, id, key_id, provider_slug, reason, status, method, path,
      model, tool, client_network, budget_id)
    select * from unnest(
      ${column(({ entry }) => entry.orgId)}::text::uuid[],
      ${column(({ entry }) => entry.agentId)}::text::uuid[],
      ${column(({ call }) => new Date(call.rejectedAtMs).toISOString())}::text::timestamptz[],
      ${column(({ call }) => call.id)}::text::uuid[],
      ${column(({ call }) => call.keyId)}::text::uuid[],
      ${column(({ entry }) => entry.providerSlug)}::text::text[],
      ${column(({ entry }) => entry.reason)}::text::text[],
      ${column(({ call }) => call.status)}::text::smallint[],
      ${column(({ call }) => call.method)}::text::text[],
      ${column(({ call }) => call.path)}::text::text[],
      ${column(({ call }) => call.model)}::text::text[],
      ${column(({ call }) => call.tool)}::text::text[],
      ${column(({ call }) => call.clientNetwork)}::text::text[],
      ${column(({ call }) => call.budgetId || null)}::text::uuid[])
    on conflict do nothing`;
  await tx`
    delete from rejected_calls where ctid = any(array(
      select old.ctid from (
        select distinct * from unnest(
          ${column(({ entry }) => entry.orgId)}::text::uuid[],
          ${column(({ entry }) => entry.agentId)}::text::uuid[]) as r(org_id, agent_id)) a
      cross join lateral (
        select ctid from rejected_calls r where r.org_id = a.org_id and r.agent_id = a.agent_id
         order by rejected_at desc, id desc offset ${REJECTED_CALLS_PER_AGENT}) old))`;
}

/**
 * Stores the first {@link QUARANTINED_ROWS_PER_ORG} records of each organization for the operator. Further ones only
 * count in the metrics.
 */
export async function insertQuarantinedRecords(sql: Sql, entries: readonly QuarantinedRecord[]): Promise<void> {
  if (entries.length === 0) return;
  await sql`
    with sent as (
      select *, row_number() over (partition by org_id order by id) as position from unnest(
        ${arrayLiteral(entries, (e) => e.id)}::text::text[],
        ${arrayLiteral(entries, (e) => e.orgId)}::text::uuid[],
        ${arrayLiteral(entries, (e) => e.dataPlaneId)}::text::text[],
        ${arrayLiteral(entries, (e) => e.reason)}::text::text[],
        ${arrayLiteral(entries, (e) => e.record)}::text::jsonb[]
      ) as r(id, org_id, data_plane_id, reason, record)),
    kept as (
      select org_id, count(*) as rows from poison_records where org_id in (select org_id from sent) group by org_id)
    insert into poison_records (id, org_id, data_plane_id, reason, record)
    select id, org_id, data_plane_id, reason, record from sent left join kept using (org_id)
     where position + coalesce(kept.rows, 0) <= ${QUARANTINED_ROWS_PER_ORG}
     order by id on conflict do nothing`;
}

/** SQL for what is not a forwarded call: counts of refusals, ids of counts already booked, records set aside. */
import { HOUR_MS } from '@acg/base/units';
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/sql.js';

/** Refused calls of one agent, provider and reason in one minute. */
export interface RejectionEntry {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  /** "" when refused before the provider was known. */
  readonly providerSlug: string;
  readonly reason: string;
  readonly minuteMs: number;
  readonly count: number;
}

/** A record that cannot be booked, as it is kept for the operator. */
export interface PoisonEntry {
  /** The record's own id, or a digest of the record where that is no UUID. */
  readonly id: string;
  /** The id as it was sent, for the answer. */
  readonly sentId: string;
  readonly dataPlaneId: string;
  readonly reason: string;
  /** JSON text. */
  readonly record: string;
}

const POISON_ROWS_MAX = 10_000;

/** Of these ids of rejection counts and sightings, the ones that were not booked before. */
export async function claimCountIds(tx: Tx, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx<{ id: string }[]>`
    insert into booked_counts (id)
    select distinct * from unnest(${arrayLiteral(ids, (id) => id)}::text::uuid[]) as r(id) order by id
    on conflict do nothing returning id`;
  return new Set(rows.map((row) => row.id));
}

export async function addRejections(tx: Tx, entries: readonly RejectionEntry[]): Promise<void> {
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

/** Keeps records for the operator, up to a bound: what comes later is only counted. */
export async function insertPoison(sql: Sql, entries: readonly PoisonEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await sql`
    insert into poison_records (id, data_plane_id, reason, record)
    select * from unnest(
      ${arrayLiteral(entries, (e) => e.id)}::text::text[],
      ${arrayLiteral(entries, (e) => e.dataPlaneId)}::text::text[],
      ${arrayLiteral(entries, (e) => e.reason)}::text::text[],
      ${arrayLiteral(entries, (e) => e.record)}::text::jsonb[]
    ) as r(id, data_plane_id, reason, record)
    where (select count(*) from poison_records) < ${POISON_ROWS_MAX}
    order by id on conflict do nothing`;
}

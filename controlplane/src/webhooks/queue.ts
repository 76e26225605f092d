/**
 * The delivery queue in Postgres. A claim takes due deliveries with a lease, works outside any transaction, and records
 * the outcome under the same lease; a lost lease makes that a no-op. A dead worker's deliveries are due again when its
 * leases end, which is how nothing is lost and why a delivery can arrive twice (with the same id).
 */
import type { Sealed } from '../accounts/vault.js';
import type { Sql } from '../db/sql.js';
import type { EndpointRoom } from './pace.js';

export interface ClaimedDelivery extends Sealed {
  readonly id: string;
  readonly lease: string;
  readonly endpointId: string;
  readonly orgId: string;
  readonly url: string;
  readonly event: string;
  readonly payload: string;
  /** Attempts before this one since the delivery was queued. */
  readonly attempts: number;
}

export interface ClaimOptions {
  readonly limit: number;
  readonly leaseMs: number;
  /** Deliveries of one endpoint that may be claimed, unless `restricted` names the endpoint. */
  readonly room: number;
  readonly restricted: readonly EndpointRoom[];
  /** {@link Claim.next} of the claim before; null: from the first endpoint. */
  readonly after: string | null;
  /** Endpoints with pending deliveries that one claim looks at, paused ones included. */
  readonly endpointsMax?: number;
}

export interface Claim {
  readonly deliveries: readonly ClaimedDelivery[];
  /** The endpoint behind which the next claim goes on; null when all were looked at. */
  readonly next: string | null;
}

const ENDPOINTS_MAX = 10_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * Due deliveries of active endpoints, oldest first. It walks from endpoint to endpoint through the index of pending
 * deliveries (a loose index scan), so a long queue of one endpoint costs the others nothing; with more endpoints than
 * one claim looks at, the next goes on behind the last, so that none starves.
 */
export async function claim(sql: Sql, options: ClaimOptions): Promise<Claim> {
  const { after, endpointsMax = ENDPOINTS_MAX } = options;
  const rows = await sql<(ClaimedDelivery & { readonly next: string | null })[]>`
    with recursive waiting as (
      (select endpoint_id, 1 as position from webhook_deliveries
        where status = 'pending' and endpoint_id > ${after ?? BEFORE_ALL}::uuid order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from webhook_deliveries d
               where d.status = 'pending' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1),
             w.position + 1
        from waiting w where w.endpoint_id is not null and w.position < ${endpointsMax}),
    ready as (
      select e.id, coalesce(r.room, ${options.room}::integer) as room
        from waiting w join webhook_endpoints e on e.id = w.endpoint_id and e.status = 'active'
        left join unnest(${options.restricted.map((r) => r.endpointId)}::uuid[],
                         ${options.restricted.map((r) => r.room)}::integer[]) as r(id, room) on r.id = e.id),
    due as (
      select d.id, d.next_attempt_at from ready cross join lateral (
        select id, next_attempt_at from webhook_deliveries
         where endpoint_id = ready.id and status = 'pending' and next_attempt_at <= now()
         order by next_attempt_at limit ready.room for update skip locked) d
       order by d.next_attempt_at limit ${options.limit}),
    claimed as (update webhook_deliveries d
       set lease = gen_random_uuid(), next_attempt_at = now() + ${options.leaseMs} * interval '1 millisecond'
      from due, webhook_endpoints e
     where d.id = due.id and e.id = d.endpoint_id
    returning d.id, d.lease, d.endpoint_id as "endpointId", d.org_id as "orgId", e.url, d.event, d.payload,
              d.attempts, e.key_id as "keyId", e.nonce, e.ciphertext)
    -- The last step of the walk has no endpoint when there was none left.
    select c.*, w.endpoint_id as next
      from (select 1) one left join (select endpoint_id from waiting order by position desc limit 1) w on true
      left join claimed c on true`;
  return { deliveries: rows[0]!.id === null ? [] : rows, next: rows[0]!.next };
}

export interface Outcome {
  readonly id: string;
  readonly lease: string;
  readonly status: 'pending' | 'success' | 'failed';
  readonly statusCode: number | null;
  readonly error: string | null;
  /** Milliseconds until the next attempt; 0 unless pending. */
  readonly delayMs: number;
}

/** Records attempts; returns the ids of those whose lease still held. */
export async function complete(sql: Sql, outcomes: readonly Outcome[]): Promise<ReadonlySet<string>> {
  const rows = outcomes.map((o) => ({ ...o }));
  const written = await sql<{ id: string }[]>`
    update webhook_deliveries d
       set status = r.status, status_code = r."statusCode", error = r.error, attempts = d.attempts + 1,
           last_attempt_at = now(), next_attempt_at = now() + r."delayMs" * interval '1 millisecond', lease = null
      from jsonb_to_recordset(${sql.json(rows)}) as r(
        id uuid, lease uuid, status text, "statusCode" integer, error text, "delayMs" integer)
     where d.id = r.id and d.lease = r.lease
    returning d.id`;
  return new Set(written.map((row) => row.id));
}

/** Gives claimed deliveries back untried: they are due at once, and the attempt does not count. */
export async function giveBack(sql: Sql, leases: readonly string[]): Promise<void> {
  if (leases.length === 0) return;
  await sql`
    update webhook_deliveries set lease = null, next_attempt_at = now()
     where lease = any(${[...leases]}::uuid[]) and status = 'pending'`;
}

/** Deliveries of paused endpoints do not count. */
export interface QueueState {
  readonly depth: number;
  /** Seconds since the oldest due delivery became due; 0 when none is due. */
  readonly ageSeconds: number;
}

export async function queueState(sql: Sql): Promise<QueueState> {
  const [row] = await sql<{ depth: number; ageSeconds: number }[]>`
    select count(*) as depth,
           greatest(0, coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0))::float8 as "ageSeconds"
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id and e.status = 'active'
     where d.status = 'pending'`;
  return row!;
}

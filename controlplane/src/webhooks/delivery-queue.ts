/**
 * The delivery queue in Postgres. A claim leases due deliveries, the attempt runs outside any transaction, and the
 * outcome is recorded under the same lease; a lost lease turns that write into a no-op. Deliveries of a crashed worker
 * are due again when its leases expire. So none is lost, and a delivery can arrive twice with the same id.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import type { Sql } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { EndpointSlots } from './endpoint-concurrency.js';
import type { EndpointKind } from './format-delivery-body.js';
import type { OrgSlots } from './org-concurrency.js';

export interface ClaimedDelivery extends EncryptedSecret {
  readonly id: string;
  readonly lease: string;
  readonly endpointId: string;
  readonly orgId: string;
  readonly url: string;
  readonly kind: EndpointKind;
  readonly event: string;
  readonly payload: string;
  /** The endpoint's previous secret while both secrets sign. */
  readonly previous: EncryptedSecret | null;
  /** Attempts since the delivery was queued, without this one. */
  readonly attempts: number;
}

interface ClaimOptions {
  readonly limit: number;
  readonly leaseMs: number;
  /** Deliveries that may be claimed per endpoint, unless `restricted` names the endpoint. */
  readonly endpointSlots: number;
  readonly restrictedEndpoints: readonly EndpointSlots[];
  /** Deliveries that may be claimed per organization, unless `orgs` names the organization. */
  readonly orgSlots: number;
  readonly restrictedOrgs: readonly OrgSlots[];
  /** {@link ClaimResult.nextEndpointId} of the previous claim; null starts at the first endpoint. */
  readonly afterEndpointId: string | null;
}

interface ClaimResult {
  readonly deliveries: readonly ClaimedDelivery[];
  /** The next claim continues after this endpoint; null when every endpoint was examined. */
  readonly nextEndpointId: string | null;
}

/** Endpoints with pending deliveries that one claim examines, including paused endpoints. */
const ENDPOINTS_MAX = 10_000;

/**
 * Claims due deliveries of active endpoints, taking organizations in turn and the oldest delivery of each first. Skips
 * organizations that are being deleted. It walks from endpoint to endpoint through the index of pending deliveries (a
 * loose index scan), so a long queue of one endpoint does not slow the others. If more endpoints are pending than one
 * claim examines, the next claim continues after the last one, so that none starves.
 */
export async function claimDeliveries(sql: Sql, options: ClaimOptions): Promise<ClaimResult> {
  const rows = await sql<ClaimRow[]>`
    with recursive waiting as (
      (select endpoint_id, 1 as position from webhook_deliveries
        where status = 'pending' and endpoint_id > ${options.afterEndpointId ?? NIL_UUID}::uuid order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from webhook_deliveries d
               where d.status = 'pending' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1),
             w.position + 1
        from waiting w where w.endpoint_id is not null and w.position < ${ENDPOINTS_MAX}),
    ready as (
      select e.id, e.org_id, coalesce(r.room, ${options.endpointSlots}::integer) as room,
             coalesce(o.room, ${options.orgSlots}::integer) as org_room
        from waiting w join webhook_endpoints e on e.id = w.endpoint_id and e.status = 'active'
         and e.org_id not in (select id from organizations where purge_at is not null)
        left join unnest(${options.restrictedOrgs.map((o) => o.orgId)}::uuid[],
                         ${options.restrictedOrgs.map((o) => o.freeSlots)}::integer[]) as o(org_id, room) on o.org_id = e.org_id
        left join unnest(${options.restrictedEndpoints.map((r) => r.endpointId)}::uuid[],
                         ${options.restrictedEndpoints.map((r) => r.freeSlots)}::integer[]) as r(id, room) on r.id = e.id),
    locked as (
      select d.id, d.next_attempt_at, ready.org_id, ready.org_room from ready cross join lateral (
        select id, next_attempt_at from webhook_deliveries
         where endpoint_id = ready.id and status = 'pending' and next_attempt_at <= now()
         order by next_attempt_at limit ready.room for update skip locked) d
       where ready.org_room > 0),
    ranked as (
      select id, next_attempt_at, org_room, row_number() over (partition by org_id order by next_attempt_at) as turn
        from locked),
    due as (
      select id from ranked where turn <= org_room order by turn, next_attempt_at limit ${options.limit}),
    claimed as (update webhook_deliveries d
       set lease = gen_random_uuid(), next_attempt_at = now() + ${options.leaseMs} * interval '1 millisecond'
      from due, webhook_endpoints e
      left join webhook_previous_secrets s on s.id = e.id and s.until > now()
     where d.id = due.id and e.id = d.endpoint_id
    returning d.id, d.lease, d.endpoint_id as "endpointId", d.org_id as "orgId", e.url, e.kind, d.event, d.payload,
              d.attempts, e.key_id as "keyId", e.nonce, e.ciphertext,
              s.key_id as "previousKeyId", s.nonce as "previousNonce", s.ciphertext as "previousCiphertext")
    -- The last step of the walk has no endpoint when there was none left.
    select c.*, w.endpoint_id as next
      from (select 1) one left join (select endpoint_id from waiting order by position desc limit 1) w on true
      left join claimed c on true`;
  return { deliveries: rows[0]!.id === null ? [] : rows.map(toClaimedDelivery), nextEndpointId: rows[0]!.next };
}

interface ClaimRow extends Omit<ClaimedDelivery, 'previous'> {
  readonly next: string | null;
  readonly previousKeyId: string | null;
  readonly previousNonce: Buffer | null;
  readonly previousCiphertext: Buffer | null;
}

function toClaimedDelivery({
  next: _,
  previousKeyId,
  previousNonce,
  previousCiphertext,
  ...delivery
}: ClaimRow): ClaimedDelivery {
  const previous =
    previousKeyId === null ? null : { keyId: previousKeyId, nonce: previousNonce!, ciphertext: previousCiphertext! };
  return { ...delivery, previous };
}

export interface DeliveryOutcome {
  readonly id: string;
  readonly lease: string;
  readonly status: 'pending' | 'success' | 'failed';
  readonly statusCode: number | null;
  readonly error: string | null;
  /** Milliseconds until the next attempt; 0 unless pending. */
  readonly delayMs: number;
  readonly attempt: LoggedAttempt;
}

/** One attempt as it is stored and shown. */
export interface LoggedAttempt {
  /** Its end. */
  readonly at: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly responseBody: string | null;
}

/** Attempts that a delivery keeps: the retries of one queueing, and the last of the one before. */
const ATTEMPTS_LOGGED_MAX = 10;

/** An endpoint is paused when every attempt has failed for this long and this often. */
const PAUSE_AFTER_FAILING_DAYS = 3;
const PAUSE_AFTER_FAILED_ATTEMPTS = 50;

/**
 * Records outcomes and returns the leases that were still held. The same statement updates the failure state of the
 * endpoints; an endpoint that has failed for too long is paused and its organization gets an event. Locks endpoints
 * before deliveries, in the same order as a deletion, to avoid deadlocks.
 */
export async function recordOutcomes(sql: Sql, outcomes: readonly DeliveryOutcome[]): Promise<ReadonlySet<string>> {
  const rows = outcomes.map((o) => ({ ...o, attempt: { ...o.attempt } }));
  const written = await sql<{ id: string }[]>`
    with outcomes as (
      select * from jsonb_to_recordset(${sql.json(rows)}) as r(
        id uuid, lease uuid, status text, "statusCode" integer, error text, "delayMs" integer, attempt jsonb)),
    endpoints as materialized (
      select id from webhook_endpoints
       where id in (select d.endpoint_id from webhook_deliveries d join outcomes r on r.id = d.id)
       order by id for key share),
    written as (
      update webhook_deliveries d
         set status = r.status, status_code = r."statusCode", error = r.error, attempts = d.attempts + 1,
             last_attempt_at = now(), next_attempt_at = now() + r."delayMs" * interval '1 millisecond', lease = null,
             attempt_log = case when jsonb_array_length(d.attempt_log) < ${ATTEMPTS_LOGGED_MAX} then d.attempt_log
                                else d.attempt_log - 0 end || r.attempt
        from outcomes r, endpoints e
       where d.id = r.id and d.lease = r.lease and e.id = d.endpoint_id
      returning d.id, d.endpoint_id, d.status = 'success' as delivered),
    tried as (
      select endpoint_id, bool_or(delivered) as delivered, count(*) filter (where not delivered) as failures
        from written group by endpoint_id),
    held as (
      select e.id, t.delivered, t.failures, e.status = 'active' and not t.delivered
             and e.failed_attempts + t.failures >= ${PAUSE_AFTER_FAILED_ATTEMPTS}
             and e.failing_since <= now() - ${PAUSE_AFTER_FAILING_DAYS} * interval '1 day' as failing
        from webhook_endpoints e join tried t on t.endpoint_id = e.id
       where not t.delivered or e.failing_since is not null order by e.id for no key update of e),
    told as (
      insert into events (id, org_id, event, data)
      select gen_random_uuid(), e.org_id, 'webhook.paused', json_build_object(
               'endpointId', e.id, 'failedAttempts', e.failed_attempts + h.failures,
               'failingSince', to_char(e.failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
               'orgId', e.org_id)
        from held h join webhook_endpoints e on e.id = h.id where h.failing),
    marked as (
      update webhook_endpoints e
         set failing_since = case when not h.delivered then coalesce(e.failing_since, now()) end,
             failed_attempts = case when h.delivered then 0 else e.failed_attempts + h.failures end,
             status = case when h.failing then 'paused' else e.status end,
             paused_reason = case when h.failing then 'failing' else e.paused_reason end
        from held h where e.id = h.id)
    select id from written`;
  return new Set(written.map((row) => row.id));
}

/** Releases claimed deliveries that were not attempted. They are due immediately and no attempt is counted. */
export async function releaseLeases(sql: Sql, leases: readonly string[]): Promise<void> {
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

export async function loadQueueState(sql: Sql): Promise<QueueState> {
  const [row] = await sql<{ depth: number; ageSeconds: number }[]>`
    select count(*) as depth,
           greatest(0, coalesce(extract(epoch from now() - min(d.next_attempt_at)), 0))::float8 as "ageSeconds"
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id and e.status = 'active'
     where d.status = 'pending'`;
  return row!;
}

import { containsPattern } from '../db/like-pattern.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { SHOWN_ENDPOINT_URL } from '../db/shown-endpoint-url.js';
import { WEBHOOK_CHANNEL } from '../events/append-events.js';
import type { EventName } from '../events/event-catalogue.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { LoggedAttempt } from './delivery-queue.js';
import type { EndpointKind } from './format-delivery-body.js';

export interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly kind: EndpointKind;
  readonly events: EventName[];
  readonly status: 'active' | 'paused';
  /** Null when a member paused the endpoint. */
  readonly pausedReason: 'failing' | null;
  readonly previousSecretUntil: Date | null;
  /** Since the first failure after the last success; null: the last delivery succeeded, or there was none. */
  readonly failingSince: Date | null;
  /** Of the newest {@link RECENT_DELIVERIES}. */
  readonly recent: { readonly delivered: number; readonly failed: number; readonly pending: number };
  readonly createdAt: Date;
}

export interface DeliveryRow {
  readonly id: string;
  readonly endpointId: string;
  readonly event: EventName;
  readonly status: 'pending' | 'success' | 'failed';
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly lastAttemptAt: Date | null;
  readonly createdAt: Date;
}

/** Deliveries that the counts of an endpoint cover: a bound for the time of the query. */
const RECENT_DELIVERIES = 50;

const endpointColumns = (sql: Sql | Tx) =>
  sql`id, url, kind, events, status, paused_reason as "pausedReason",
      (select s.until from webhook_previous_secrets s where s.id = webhook_endpoints.id and s.until > now())
        as "previousSecretUntil", failing_since as "failingSince",
      (select json_build_object(
                'delivered', count(*) filter (where d.status = 'success'),
                'failed', count(*) filter (where d.status = 'failed' or d.status = 'pending' and d.attempts > 0),
                'pending', count(*) filter (where d.status = 'pending' and d.attempts = 0))
         from (select status, attempts from webhook_deliveries where endpoint_id = webhook_endpoints.id
                order by created_at desc, id desc limit ${RECENT_DELIVERIES}) d) as recent, created_at as "createdAt"`;
export interface DetailedDeliveryRow extends DeliveryRow {
  readonly payload: string;
  readonly attemptLog: LoggedAttempt[];
}

const deliveryColumns = (sql: Sql | Tx) => sql`
  id, endpoint_id as "endpointId", event, status, status_code as "statusCode", error, attempts,
  last_attempt_at as "lastAttemptAt", created_at as "createdAt"`;

interface EndpointFilter extends Sorting<'createdAt' | 'url'> {
  readonly search?: string;
  readonly status?: EndpointRow['status'];
}

const ENDPOINT_ORDER = { createdAt: { by: 'created_at' }, url: { by: SHOWN_ENDPOINT_URL, text: true } } as const;

export async function listEndpoints(
  sql: Sql,
  orgId: string,
  { search = '', status, ...sorting }: EndpointFilter,
  page: Page,
): Promise<ListResult<EndpointRow>> {
  const where = sql`org_id = ${orgId} ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${search === '' ? sql`` : sql`and ${sql.unsafe(SHOWN_ENDPOINT_URL)} ilike ${containsPattern(search)}`}`;
  const rows = await sql<EndpointRow[]>`
    select ${endpointColumns(sql)} from webhook_endpoints where ${where}
    ${orderBy(sql, ENDPOINT_ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from webhook_endpoints where ${where}`;
  return { rows, total: count!.total };
}

export async function countEndpoints(sql: Sql | Tx, orgId: string): Promise<number> {
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from webhook_endpoints where org_id = ${orgId}`;
  return count!.total;
}

/** Serialises writers of one organization, so that its endpoints can be counted. */
export async function lockEndpointsOfOrg(tx: Tx, orgId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext(${`webhooks:${orgId}`}))`;
}

export async function insertEndpoint(
  tx: Tx,
  endpoint: EncryptedSecret & {
    id: string;
    orgId: string;
    url: string;
    kind: EndpointKind;
    events: readonly EventName[];
    createdBy: string;
  },
): Promise<EndpointRow> {
  const [row] = await tx<EndpointRow[]>`
    insert into webhook_endpoints (id, org_id, url, kind, events, key_id, nonce, ciphertext, created_by)
    values (${endpoint.id}, ${endpoint.orgId}, ${endpoint.url}, ${endpoint.kind}, ${[...endpoint.events]}, ${endpoint.keyId},
            ${endpoint.nonce}, ${endpoint.ciphertext}, ${endpoint.createdBy})
    returning ${endpointColumns(tx)}`;
  return row!;
}

/** Locks the row until the transaction ends. */
export async function lockEndpoint(tx: Tx, orgId: string, id: string): Promise<EndpointRow | null> {
  const [row] = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints where org_id = ${orgId} and id = ${id} for update`;
  return row ?? null;
}

export async function findEndpoint(sql: Sql, orgId: string, id: string): Promise<EndpointRow | null> {
  const [row] = await sql<EndpointRow[]>`
    select ${endpointColumns(sql)} from webhook_endpoints where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** Replaces the secret. The current secret stays valid as the previous one for `graceS` seconds. */
export async function rotateEndpointSecret(
  tx: Tx,
  id: string,
  sealed: EncryptedSecret,
  graceS: number,
): Promise<EndpointRow> {
  await tx`delete from webhook_previous_secrets where id = ${id}`;
  if (graceS > 0) {
    await tx`
      insert into webhook_previous_secrets (id, org_id, key_id, nonce, ciphertext, until)
      select id, org_id, key_id, nonce, ciphertext, now() + make_interval(secs => ${graceS})
        from webhook_endpoints where id = ${id}`;
  }
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoints set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext}
     where id = ${id}
    returning ${endpointColumns(tx)}`;
  return row!;
}

export async function endpointExists(sql: Sql, orgId: string, id: string): Promise<boolean> {
  const [row] = await sql`select 1 from webhook_endpoints where org_id = ${orgId} and id = ${id}`;
  return row !== undefined;
}

/** Updates the endpoint and resets its failure state. */
export async function updateEndpoint(
  tx: Tx,
  id: string,
  to: Pick<EndpointRow, 'url' | 'status' | 'pausedReason'> & { events: readonly EventName[] },
): Promise<EndpointRow> {
  const [row] = await tx<EndpointRow[]>`
    update webhook_endpoints set url = ${to.url}, events = ${[...to.events]}, status = ${to.status},
           failing_since = null, failed_attempts = 0, paused_reason = ${to.pausedReason}
     where id = ${id}
    returning ${endpointColumns(tx)}`;
  return row!;
}

/** Deletes the endpoint; its deliveries are deleted with it. */
export async function deleteEndpoint(tx: Tx, id: string): Promise<void> {
  await tx`delete from webhook_endpoints where id = ${id}`;
}

interface DeliveryFilter extends Sorting<keyof typeof DELIVERY_ORDER> {
  readonly status?: DeliveryRow['status'];
  readonly event?: EventName;
  /** Bounds of the creation time: `start` inclusive, `end` exclusive. */
  readonly start: Date | null;
  readonly end: Date | null;
}

const DELIVERY_ORDER = {
  createdAt: { by: 'created_at' },
  lastAttemptAt: { by: 'last_attempt_at', nullable: true },
  attempts: { by: 'attempts' },
} as const;

export async function listDeliveries(
  sql: Sql,
  endpointId: string,
  { status, event, start, end, ...sorting }: DeliveryFilter,
  page: Page,
): Promise<ListResult<DeliveryRow>> {
  const matching = sql`endpoint_id = ${endpointId} ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${event === undefined ? sql`` : sql`and event = ${event}`}
    ${start === null ? sql`` : sql`and created_at >= ${start}`} ${end === null ? sql`` : sql`and created_at < ${end}`}`;
  const rows = await sql<DeliveryRow[]>`
    select ${deliveryColumns(sql)} from webhook_deliveries where ${matching}
    ${orderBy(sql, DELIVERY_ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from webhook_deliveries where ${matching}`;
  return { rows, total: count!.total };
}

export async function loadDelivery(sql: Sql, orgId: string, id: string): Promise<DetailedDeliveryRow | null> {
  const [row] = await sql<DetailedDeliveryRow[]>`
    select ${deliveryColumns(sql)}, payload, attempt_log as "attemptLog" from webhook_deliveries where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

export async function insertDelivery(
  tx: Tx,
  delivery: { id: string; endpointId: string; orgId: string; eventId: string; event: EventName; payload: string },
): Promise<DeliveryRow> {
  const [row] = await tx<DeliveryRow[]>`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload)
    values (${delivery.id}, ${delivery.endpointId}, ${delivery.orgId}, ${delivery.eventId}, ${delivery.event},
            ${delivery.payload})
    returning ${deliveryColumns(tx)}`;
  return row!;
}

/** Queues a failed delivery again. Null when the id is unknown; `failed: false` when the delivery has not failed. */
export async function requeueFailed(
  tx: Tx,
  orgId: string,
  id: string,
): Promise<{ failed: true; row: DeliveryRow } | { failed: false } | null> {
  const [row] = await tx<DeliveryRow[]>`
    update webhook_deliveries
       set status = 'pending', attempts = 0, status_code = null, error = null, next_attempt_at = now(), lease = null
     where org_id = ${orgId} and id = ${id} and status = 'failed'
    returning ${deliveryColumns(tx)}`;
  if (row !== undefined) return { failed: true, row };
  const [other] = await tx`select 1 from webhook_deliveries where org_id = ${orgId} and id = ${id}`;
  return other === undefined ? null : { failed: false };
}

interface Replay {
  readonly start: Date;
  readonly end: Date;
  readonly statuses: readonly ('failed' | 'success')[];
  readonly event: EventName | null;
  readonly limit: number;
}

/** Queues the oldest finished deliveries of the range again. */
export async function requeueRange(
  tx: Tx,
  endpointId: string,
  { start, end, statuses, event, limit }: Replay,
): Promise<{ readonly replayed: number; readonly remaining: number; readonly until: Date | null }> {
  const matching = tx`
    endpoint_id = ${endpointId} and created_at >= ${start} and created_at < ${end} and status = any(${[...statuses]})
    and (${event}::text is null or event = ${event})`;
  const [row] = await tx<{ total: number; replayed: number; until: Date | null }[]>`
    with matching as (select count(*) as total from webhook_deliveries where ${matching}),
    chosen as (
      select id from webhook_deliveries where ${matching} order by created_at, id limit ${limit} for update skip locked),
    queued as (
      update webhook_deliveries d
         set status = 'pending', attempts = 0, status_code = null, error = null, next_attempt_at = now(), lease = null
        from chosen where d.id = chosen.id
      returning d.created_at)
    select (select total from matching) as total, count(*) as replayed, max(created_at) as until from queued`;
  const { total, replayed, until } = row!;
  return { replayed, remaining: total - replayed, until };
}

/** Wakes the workers of every control plane when the transaction commits. */
export async function notifyWorkers(tx: Tx): Promise<void> {
  await tx`select pg_notify(${WEBHOOK_CHANNEL}, '')`;
}

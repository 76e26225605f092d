/** Webhook endpoints and their deliveries: rules and transactions. */

import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import { EVENT_TYPES, type EventName, findEventType } from '../events/event-catalogue.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import { type Actor, isRoleAtLeast } from '../http/route-access.js';
import { parseOptionalTimestamp } from '../http/timestamp-params.js';
import type { Throttle } from '../throttling/throttle.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import * as store from './endpoint-and-delivery-store.js';
import { displayUrl } from './format-delivery-body.js';
import type {
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  Endpoint,
  EndpointInput,
  EndpointPatch,
  EndpointQuery,
  ReplayInput,
  ReplayReply,
} from './schema.js';
import { createSigningSecret } from './webhook-signature.js';

/** Endpoints per organization. Each event costs one delivery per endpoint. */
const ENDPOINTS_MAX = 100;
const GRACE_DEFAULT_S = 86_400;
const REPLAYED_MAX = 1_000;
/** Replays per organization in the rate window. */
const REPLAYS_MAX = 20;
const REPLAYS_WINDOW_S = 3_600;
/** Test deliveries per organization in the rate window: enough to watch a receiver, too few to attack a server. */
const TESTS_MAX = 120;
const TESTS_WINDOW_S = 60;
const PAUSED = 'the endpoint is paused: set its status to active first';

export class WebhookService {
  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    readonly allowCidrs: readonly string[],
    readonly names: NameResolver,
    readonly throttle: Throttle,
  ) {}

  async list(actor: Actor, query: EndpointQuery, page: Page): Promise<ListResult<Endpoint>> {
    const { rows, total } = await store.listEndpoints(this.sql, actor.orgId, query, page);
    return { rows: rows.map(presentEndpoint), total };
  }

  async get(actor: Actor, id: string): Promise<Endpoint> {
    const row = await store.findEndpoint(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('webhook endpoint');
    return presentEndpoint(row);
  }

  /** Creates an endpoint. This is the only response that contains the signing secret. */
  async create(actor: Actor, input: EndpointInput): Promise<Endpoint & { secret: string }> {
    await this.#checkUrl(actor.orgId, input.url);
    const { orgId } = actor;
    const { kind = 'webhook' } = input;
    const id = uuidv7(Date.now());
    const secret = createSigningSecret();
    const sealed = this.vault.encrypt({ purpose: 'webhook', orgId, id }, secret.reveal());
    const row = await this.sql.begin(async (tx) => {
      await store.lockEndpointsOfOrg(tx, orgId);
      if ((await store.countEndpoints(tx, orgId)) >= ENDPOINTS_MAX) {
        throw new Conflict(`the organization already has ${ENDPOINTS_MAX} webhook endpoints: delete one first`);
      }
      const inserted = await store.insertEndpoint(tx, {
        id,
        orgId,
        ...sealed,
        url: input.url,
        kind,
        events: input.events,
        createdBy: actor.userId,
      });
      const changes = {
        kind: [null, kind],
        url: [null, displayUrl({ kind, url: input.url })],
        events: [null, input.events],
      } as const;
      await recordAudit(tx, actor, 'webhook.create', { type: 'webhook', id }, changes);
      return inserted;
    });
    return { ...presentEndpoint(row), secret: secret.reveal() };
  }

  async update(actor: Actor, id: string, patch: EndpointPatch): Promise<Endpoint> {
    if (patch.url !== undefined) await this.#checkUrl(actor.orgId, patch.url);
    return this.sql.begin(async (tx) => {
      const before = await store.lockEndpoint(tx, actor.orgId, id);
      if (before === null) throw new NotFound('webhook endpoint');
      const row = await store.updateEndpoint(tx, id, {
        url: patch.url ?? before.url,
        events: patch.events ?? before.events,
        status: patch.status ?? before.status,
        pausedReason: patch.status === undefined ? before.pausedReason : null,
      });
      const changes = Object.fromEntries(
        (['url', 'events', 'status'] as const)
          .filter((field) => patch[field] !== undefined)
          .map((field) => [field, [shown(before)[field], shown(row)[field]] as const]),
      );
      await recordAudit(tx, actor, 'webhook.update', { type: 'webhook', id }, changes);
      if (row.status === 'active') await store.notifyWorkers(tx);
      return presentEndpoint(row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const before = await store.lockEndpoint(tx, actor.orgId, id);
      if (before === null) throw new NotFound('webhook endpoint');
      await store.deleteEndpoint(tx, id);
      await recordAudit(tx, actor, 'webhook.delete', { type: 'webhook', id }, { url: [displayUrl(before), null] });
    });
  }

  /**
   * Creates a new signing secret; the old one signs beside it during the overlap. Only this response contains the new
   * secret.
   */
  async rotateSecret(actor: Actor, id: string, graceSeconds = GRACE_DEFAULT_S): Promise<Endpoint & { secret: string }> {
    const { orgId } = actor;
    const secret = createSigningSecret();
    const sealed = this.vault.encrypt({ purpose: 'webhook', orgId, id }, secret.reveal());
    const row = await this.sql.begin(async (tx) => {
      if ((await store.lockEndpoint(tx, orgId, id)) === null) throw new NotFound('webhook endpoint');
      const rotated = await store.rotateEndpointSecret(tx, id, sealed, graceSeconds);
      const until = rotated.previousSecretUntil?.toISOString() ?? null;
      const changes = { secret: ['[secret]', '[secret]'], previousSecretUntil: [null, until] } as const;
      await recordAudit(tx, actor, 'webhook.rotate', { type: 'webhook', id }, changes);
      return rotated;
    });
    return { ...presentEndpoint(row), secret: secret.reveal() };
  }

  /**
   * Queues finished deliveries of a time range again. Bounded per call and per organization; the dispatcher bounds the
   * rate.
   */
  async replayDeliveries(actor: Actor, id: string, input: ReplayInput): Promise<ReplayReply> {
    const [start, end] = [parseOptionalTimestamp('start', input.start)!, parseOptionalTimestamp('end', input.end)!];
    if (!(start < end)) throw new InvalidInput('end must be after start');
    if ((await store.findEndpoint(this.sql, actor.orgId, id)) === null) throw new NotFound('webhook endpoint');
    await this.throttle.consume(`replay:${actor.orgId}`, REPLAYS_MAX, REPLAYS_WINDOW_S, 'replays of deliveries');
    return this.sql.begin(async (tx) => {
      const endpoint = await store.lockEndpoint(tx, actor.orgId, id);
      if (endpoint === null) throw new NotFound('webhook endpoint');
      if (endpoint.status === 'paused') throw new Conflict(PAUSED);
      const { status: statuses = ['failed'], event = null } = input;
      const range = { start, end, statuses, event, limit: REPLAYED_MAX };
      const { replayed, remaining, until } = await store.requeueRange(tx, id, range);
      const changes = { start: [null, input.start], end: [null, input.end], replayed: [null, replayed] } as const;
      await recordAudit(tx, actor, 'webhook.replay', { type: 'webhook', id }, changes);
      await store.notifyWorkers(tx);
      return { replayed, remaining, until: until?.toISOString() ?? null };
    });
  }

  /** Queues a sample event. `chosen` must be one that the endpoint subscribes to; the default is its first event. */
  async queueTestDelivery(actor: Actor, id: string, chosen?: EventName): Promise<Delivery> {
    await this.throttle.consume(`webhook-test:${actor.orgId}`, TESTS_MAX, TESTS_WINDOW_S, 'tests of webhooks');
    return this.sql.begin(async (tx) => {
      const endpoint = await store.lockEndpoint(tx, actor.orgId, id);
      if (endpoint === null) throw new NotFound('webhook endpoint');
      if (endpoint.status === 'paused') throw new Conflict(PAUSED);
      const now = new Date();
      const event = chosen ?? endpoint.events[0]!;
      if (!endpoint.events.includes(event))
        throw new InvalidInput(`event: the endpoint does not subscribe to ${event}`);
      const row = await store.insertDelivery(tx, {
        id: uuidv7(now.getTime()),
        endpointId: id,
        orgId: actor.orgId,
        eventId: uuidv7(now.getTime()),
        event,
        payload: JSON.stringify({ event, timestamp: now.toISOString(), data: EVENT_TYPES[event].sample }),
      });
      await recordAudit(tx, actor, 'webhook.test', { type: 'webhook', id }, {});
      await store.notifyWorkers(tx);
      return presentDelivery(row);
    });
  }

  async listDeliveries(
    actor: Actor,
    endpointId: string,
    query: DeliveryQuery,
    page: Page,
  ): Promise<ListResult<Delivery>> {
    if (!(await store.endpointExists(this.sql, actor.orgId, endpointId))) throw new NotFound('webhook endpoint');
    const range = {
      start: parseOptionalTimestamp('start', query.start),
      end: parseOptionalTimestamp('end', query.end),
    };
    const { rows, total } = await store.listDeliveries(this.sql, endpointId, { ...query, ...range }, page);
    return { rows: rows.map(presentDelivery), total };
  }

  async getDelivery(actor: Actor, id: string): Promise<DeliveryDetail> {
    const row = await store.loadDelivery(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('webhook delivery');
    const isAdmin = isRoleAtLeast(actor.role, 'admin');
    const payload = JSON.parse(row.payload) as DeliveryDetail['payload'];
    return {
      ...presentDelivery(row),
      // The trail is for admins, so the data of an entry is, too.
      payload: !isAdmin && findEventType(row.event)?.webhooksOnly === true ? { ...payload, data: {} } : payload,
      attemptLog: row.attemptLog.map(({ statusCode, responseBody, ...attempt }) => ({
        ...attempt,
        statusCode: statusCode === null ? null : String(statusCode),
        responseBody: isAdmin ? responseBody : null,
      })),
    };
  }

  async retryDelivery(actor: Actor, id: string): Promise<Delivery> {
    return this.sql.begin(async (tx) => {
      const result = await store.requeueFailed(tx, actor.orgId, id);
      if (result === null) throw new NotFound('webhook delivery');
      if (!result.failed) throw new Conflict('the delivery has not failed: only a failed one can be retried');
      await recordAudit(tx, actor, 'webhook_delivery.retry', { type: 'webhook_delivery', id }, {});
      await store.notifyWorkers(tx);
      return presentDelivery(result.row);
    });
  }

  async #checkUrl(orgId: string, url: string): Promise<void> {
    const resolve = (host: string) => this.names.resolve(host, orgId);
    const problem = await runWithoutRequestSlot(() => checkTenantUrl(url, { allowCidrs: this.allowCidrs, resolve }));
    if (problem !== null) throw new InvalidInput(`url ${problem}`);
  }
}

const shown = (row: store.EndpointRow) => ({ ...row, url: displayUrl(row) });

const presentEndpoint = (row: store.EndpointRow): Endpoint => ({
  id: row.id,
  url: displayUrl(row),
  kind: row.kind,
  events: row.events,
  status: row.status,
  pausedReason: row.pausedReason,
  previousSecretUntil: row.previousSecretUntil?.toISOString() ?? null,
  failingSince: row.failingSince?.toISOString() ?? null,
  recent: row.recent,
  createdAt: row.createdAt.toISOString(),
});

const presentDelivery = (row: store.DeliveryRow): Delivery => ({
  id: row.id,
  endpointId: row.endpointId,
  event: row.event,
  status: row.status,
  statusCode: row.statusCode === null ? null : String(row.statusCode),
  error: row.error,
  attempts: row.attempts,
  lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});

/**
 * Sends claimed deliveries: decrypts the endpoint's secret, signs and posts. Each organization has its own connections
 * and name lookups while it has attempts in flight.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciAgent } from '@acg/base/dialer/undici-connector';
import type { Logger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import type { Agent } from 'undici';
import type { EncryptedSecret, Vault } from '../vault/aes-gcm-vault.js';
import type { ClaimedDelivery } from './delivery-queue.js';
import { formatDeliveryBody } from './format-delivery-body.js';
import { type DeliveryAttempt, postDelivery } from './post-delivery.js';

/** Short, because a receiver may close an idle connection just as the next delivery is written to it. */
const KEEP_ALIVE_MS = 1_000;
const HEADER_BYTES_MAX = 16_384;

interface SenderOptions {
  readonly vault: Vault;
  readonly log: Logger;
  readonly dialer: Dialer;
  readonly timeoutMs: number;
}

interface OrgConnections {
  readonly agent: Agent;
  running: number;
}

export class DeliverySender {
  readonly #options: SenderOptions;
  /** Organizations with attempts in flight. */
  readonly #orgConnections = new Map<string, OrgConnections>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async send(delivery: ClaimedDelivery, stop: AbortController): Promise<DeliveryAttempt> {
    const secret = this.#openSecret(delivery, delivery);
    const previousSecret = delivery.previous === null ? null : this.#openSecret(delivery, delivery.previous);
    if (secret === null) return { statusCode: null, error: 'secret_unreadable', durationMs: 0, responseBody: null };
    const { id, url, event, payload, orgId } = delivery;
    const tenant = this.#orgConnections.get(orgId) ?? this.#openOrgConnections(orgId);
    tenant.running++;
    try {
      const body = formatDeliveryBody(delivery.kind, payload);
      const request = { deliveryId: id, url, event, body, secret, previousSecret };
      return await postDelivery(tenant.agent, request, this.#options.timeoutMs, stop);
    } finally {
      if (--tenant.running === 0 && this.#orgConnections.delete(orgId)) void tenant.agent.close();
    }
  }

  async close(): Promise<void> {
    const agents = [...this.#orgConnections.values()].map(({ agent }) => agent.destroy());
    this.#orgConnections.clear();
    await Promise.all(agents);
  }

  #openOrgConnections(orgId: string): OrgConnections {
    const { dialer, timeoutMs } = this.#options;
    const agent = createUndiciAgent(dialer, orgId, {
      connections: null, // as many as attempts, which the dispatcher bounds
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const tenant = { agent, running: 0 };
    this.#orgConnections.set(orgId, tenant);
    return tenant;
  }

  #openSecret({ orgId, endpointId }: ClaimedDelivery, sealed: EncryptedSecret): Secret | null {
    const identity = { purpose: 'webhook', orgId, id: endpointId } as const;
    try {
      return new Secret(this.#options.vault.decrypt(identity, sealed));
    } catch (error) {
      this.#options.log.error({ err: error, endpointId }, 'signing secret unreadable');
      return null;
    }
  }
}

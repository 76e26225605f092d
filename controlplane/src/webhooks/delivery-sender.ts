/** Sends claimed deliveries: opens the endpoint's secret, signs, posts through the egress guard. */
import { createGuardedAgent } from '@acg/base/egress/guarded-connector';
import type { Logger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import type { Agent } from 'undici';
import type { Vault } from '../accounts/vault.js';
import { attemptDelivery, type DeliveryAttempt } from './attempt.js';
import type { ClaimedDelivery } from './queue.js';

/** Short, because a receiver may close an idle connection just when the next delivery is written to it. */
const KEEP_ALIVE_MS = 1_000;
const HEADER_BYTES_MAX = 16_384;

export interface SenderOptions {
  readonly vault: Vault;
  readonly log: Logger;
  /** EGRESS_ALLOW_CIDRS. */
  readonly allowCidrs: readonly string[];
  readonly timeoutMs: number;
}

export class DeliverySender {
  readonly #options: SenderOptions;
  readonly #agent: Agent;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#agent = createGuardedAgent(
      { allowCidrs: options.allowCidrs, connectTimeoutMs: options.timeoutMs },
      {
        connections: null, // as many as attempts, which the dispatcher bounds
        pipelining: 1,
        keepAliveTimeout: KEEP_ALIVE_MS,
        keepAliveMaxTimeout: KEEP_ALIVE_MS,
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: options.timeoutMs,
        bodyTimeout: options.timeoutMs,
      },
    );
  }

  /** Never rejects. */
  async send(delivery: ClaimedDelivery, stop: AbortController): Promise<DeliveryAttempt> {
    const secret = this.#openSecret(delivery);
    if (secret === null) return { statusCode: null, error: 'secret_unreadable' };
    const { id, url, event, payload } = delivery;
    return attemptDelivery(
      this.#agent,
      { deliveryId: id, url, event, body: payload, secret },
      this.#options.timeoutMs,
      stop,
    );
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #openSecret(delivery: ClaimedDelivery): Secret | null {
    const identity = { purpose: 'webhook', orgId: delivery.orgId, id: delivery.endpointId } as const;
    try {
      return new Secret(this.#options.vault.open(identity, delivery));
    } catch (error) {
      this.#options.log.error({ err: error, endpointId: delivery.endpointId }, 'signing secret unreadable');
      return null;
    }
  }
}

/** Builds what tells the outside what happened: events, webhooks; a part of the composition root. */
import type { Logger } from '@acg/base/log';
import type { Vault } from './accounts/vault.js';
import type { Config } from './config.js';
import type { Sql } from './db/sql.js';
import { pruneEvents } from './events/retention.js';
import type { App } from './http/app.js';
import { Background } from './ops/background.js';
import type { Metrics } from './ops/metrics.js';
import { DeliverySender } from './webhooks/delivery-sender.js';
import { Dispatcher } from './webhooks/dispatcher.js';
import { webhookRoutes } from './webhooks/routes.js';
import { WebhookService } from './webhooks/service.js';
import { addWebhookMetrics } from './webhooks/webhook-metrics.js';

const PRUNE_INTERVAL_MS = 600_000;

export interface EventingParts {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly metrics: Metrics;
  readonly vault: Vault;
}

export interface Eventing {
  start(): Promise<void>;
  /** Called before the pool closes; gives the leases of unfinished deliveries back. */
  stop(): Promise<void>;
}

export function buildEventing(app: App, { config, log, sql, metrics, vault }: EventingParts): Eventing {
  const background = new Background(log);
  const sender = new DeliverySender({
    vault,
    log,
    allowCidrs: config.egressAllowCidrs,
    timeoutMs: config.webhookTimeoutMs,
  });
  const dispatcher = new Dispatcher({
    sql,
    log,
    attempt: (delivery, stop) => sender.send(delivery, stop),
    retryDelaysMs: config.webhookRetryDelaysMs,
    timeoutMs: config.webhookTimeoutMs,
    observe: addWebhookMetrics(metrics, sql),
  });
  webhookRoutes(app, new WebhookService(sql, vault, config.egressAllowCidrs));
  let pruning: NodeJS.Timeout | undefined;
  return {
    async start() {
      await dispatcher.start();
      pruning = setInterval(() => background.run('pruning events', () => pruneEvents(sql)), PRUNE_INTERVAL_MS).unref();
    },
    async stop() {
      clearInterval(pruning);
      await dispatcher.stop();
      await sender.close();
      await background.idle();
    },
  };
}

/** Builds what watches and tells: circuits, public status, events, webhooks; a part of the composition root. */
import { Dialer } from '@acg/base/dialer/dialer';
import type { Logger } from '@acg/base/log';
import type { Names } from '@acg/base/names/names';
import type { GatewayHandlers } from '@acg/proto/service';
import type { Vault } from '../accounts/vault.js';
import { Throttle } from '../auth/throttle.js';
import { CircuitBoard } from '../circuit/board.js';
import { CircuitFeed } from '../circuit/circuit-feed.js';
import { FleetBreakers } from '../circuit/fleet.js';
import { acquireProbe, releaseProbe, reportContacts } from '../circuit/link-handlers.js';
import { Probes } from '../circuit/probes.js';
import { Transitions } from '../circuit/transitions.js';
import { pruneAbuse } from '../conclusions/abuse.js';
import { sweepBudgets } from '../conclusions/budget-facts.js';
import { UsageConclusions } from '../conclusions/usage-conclusions.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/sql.js';
import { pruneEvents } from '../events/retention.js';
import { eventRoutes } from '../events/routes.js';
import { unary } from '../grpc/handler.js';
import type { App } from '../http/app.js';
import type { UsageObserver } from '../ledger/ingest.js';
import { Background } from '../ops/background.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { fleetOrigins } from '../providers/fleet-origins.js';
import { addCircuitMetrics } from '../status/circuit-metrics.js';
import { statusRoutes } from '../status/routes.js';
import { StatusService } from '../status/service.js';
import { DeliverySender } from '../webhooks/delivery-sender.js';
import { Dispatcher } from '../webhooks/dispatcher.js';
import { webhookRoutes } from '../webhooks/routes.js';
import { WebhookService } from '../webhooks/service.js';
import { addWebhookMetrics } from '../webhooks/webhook-metrics.js';

const SWEEP_INTERVAL_MS = 30_000;
const PRUNE_INTERVAL_MS = 600_000;

interface EventsParts {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  /** Connections of their own for circuits. */
  readonly feeds: Sql;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  readonly tenantNames: Names;
}

interface EventsPart {
  /** Draws conclusions from booked usage; for the ingest. */
  readonly usageObserver: UsageObserver;
  /** Changes of circuits, for the watch streams. */
  readonly circuitFeed: CircuitFeed;
  /** The calls of the link that are about circuits. */
  readonly handlers: Pick<GatewayHandlers, 'acquireProbe' | 'releaseProbe' | 'reportContacts'>;
  start(): Promise<void>;
  /** Called before the pool closes, when no usage comes in any more; gives the leases of unfinished deliveries back. */
  stop(): Promise<void>;
}

export function buildEvents(app: App, parts: EventsParts): EventsPart {
  const { config, log, sql, feeds, metrics, catalogue } = parts;
  const background = new Background(log);
  const transitions = new Transitions(config.circuit, log);
  const board = new CircuitBoard(feeds, transitions);
  const fleet = new FleetBreakers(feeds, transitions, fleetOrigins(catalogue));
  const circuitFeed = new CircuitFeed(feeds, log);
  const probes = new Probes(feeds, config.circuit);
  const status = new StatusService(sql, catalogue.providers, config.circuit.windowMs);
  statusRoutes(app, status);
  addCircuitMetrics(metrics, status);
  eventRoutes(app, sql);
  const webhooks = buildWebhooks(app, parts);
  return {
    usageObserver: new UsageConclusions(board, config.abuse),
    circuitFeed,
    handlers: {
      acquireProbe: unary(log, 'AcquireProbe', (request) => acquireProbe(probes, request)),
      releaseProbe: unary(log, 'ReleaseProbe', (request) => releaseProbe(probes, board, request)),
      reportContacts: unary(log, 'ReportContacts', (request) => reportContacts(fleet, request)),
    },
    async start() {
      await circuitFeed.start();
      board.start();
      fleet.start();
      await webhooks.dispatcher.start();
      background.every('budget sweep', SWEEP_INTERVAL_MS, () => sweepBudgets(sql));
      background.every('pruning abuse counts', SWEEP_INTERVAL_MS, () => pruneAbuse(sql));
      background.every('pruning events', PRUNE_INTERVAL_MS, () => pruneEvents(sql));
    },
    async stop() {
      const stopped = background.stop();
      await board.stop();
      await fleet.stop();
      await circuitFeed.stop();
      await webhooks.dispatcher.stop();
      await webhooks.sender.close();
      await stopped;
    },
  };
}

function buildWebhooks(app: App, { config, log, sql, metrics, vault, tenantNames }: EventsParts) {
  const sender = new DeliverySender({
    vault,
    log,
    timeoutMs: config.webhookTimeoutMs,
    dialer: new Dialer({
      allowCidrs: config.egressAllowCidrs,
      connectTimeoutMs: config.webhookTimeoutMs,
      tenantNames,
      operatorNames: tenantNames, // a webhook's address is always a tenant's
    }),
  });
  const dispatcher = new Dispatcher({
    sql,
    log,
    attempt: (delivery, stop) => sender.send(delivery, stop),
    retryDelaysMs: config.webhookRetryDelaysMs,
    timeoutMs: config.webhookTimeoutMs,
    observe: addWebhookMetrics(metrics, sql),
  });
  webhookRoutes(app, new WebhookService(sql, vault, config.egressAllowCidrs, tenantNames, new Throttle(sql)));
  return { sender, dispatcher };
}

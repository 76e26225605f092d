/** Builds the module for circuits, public status, events and webhooks. Part of the composition root. */
import { Dialer } from '@acg/base/dialer/dialer';
import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import { evaluateDueAlertRules } from '../alert-rules/evaluate-alert-rules.js';
import { alertRuleRoutes } from '../alert-rules/routes.js';
import { AlertRuleService } from '../alert-rules/service.js';
import { pruneAlerts } from '../alert-rules/store.js';
import { BreakerTransitionWriter } from '../breaker/breaker-transition-writer.js';
import { CircuitChangeFeed } from '../breaker/circuit-change-feed.js';
import { FleetBreakers } from '../breaker/fleet-unreachability-breakers.js';
import { OrgBreakers } from '../breaker/org-breakers.js';
import { handleAcquireProbe, handleReleaseProbe, handleReportContacts } from '../breaker/probe-and-contact-handlers.js';
import { ProbeLeases } from '../breaker/probe-leases.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import { deleteOldAbuseCounts } from '../detectors/abuse-event-detector.js';
import { sweepBudgetAlerts } from '../detectors/budget-alerts.js';
import { sweepBudgetRowAlerts } from '../detectors/budget-row-alerts.js';
import { sendRejectionSummaries } from '../detectors/rejection-summaries.js';
import { UsageDetectorRunner } from '../detectors/run-detectors-while-booking.js';
import { deleteOldEvents } from '../events/event-retention.js';
import { eventRoutes } from '../events/routes.js';
import { unaryHandler } from '../grpc/unary-handler-and-grpc-errors.js';
import type { App } from '../http/app.js';
import type { UsageObserver } from '../ledger/usage-ingest.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { fixedOriginsOf, listFleetOrigins } from '../providers/fleet-origins.js';
import { addCircuitMetrics } from '../status/circuit-metrics.js';
import { statusRoutes } from '../status/routes.js';
import { StatusService } from '../status/status-service.js';
import { Throttle } from '../throttling/throttle.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { DeliveryDispatcher } from '../webhooks/delivery-dispatcher.js';
import { DeliverySender } from '../webhooks/delivery-sender.js';
import { WebhookService } from '../webhooks/endpoint-and-delivery-service.js';
import { webhookRoutes } from '../webhooks/routes.js';
import { addWebhookMetrics } from '../webhooks/webhook-metrics.js';

/** Each organization gets an event at most once a minute. */
const REJECTION_SUMMARIES_INTERVAL_MS = 10_000;
const SWEEP_INTERVAL_MS = 30_000;
/** A rule is due once a minute. */
const ALERT_RULES_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 600_000;

interface EventsDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  /** A separate connection pool for circuits. */
  readonly feeds: Sql;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  readonly tenantNames: NameResolver;
}

interface EventsModule {
  /** Runs the detectors on committed usage; for the usage ingest. */
  readonly usageObserver: UsageObserver;
  /** Changes of circuits, for the watch streams. */
  readonly circuitFeed: CircuitChangeFeed;
  /** The gRPC handlers that concern circuits. */
  readonly handlers: Pick<GatewayHandlers, 'acquireProbe' | 'releaseProbe' | 'reportContacts'>;
  start(): Promise<void>;
  /**
   * Must be called before the pool closes, when no more usage arrives. Releases the leases of unfinished deliveries.
   */
  stop(): Promise<void>;
}

export function buildCircuitsAndEvents(app: App, dependencies: EventsDependencies): EventsModule {
  const { config, log, sql, feeds, metrics, catalogue } = dependencies;
  const background = new BackgroundTasks(log);
  const transitions = new BreakerTransitionWriter(config.circuit, log);
  const orgBreakers = new OrgBreakers(feeds, transitions);
  const fleetBreakers = new FleetBreakers(feeds, transitions, listFleetOrigins(catalogue));
  const circuitFeed = new CircuitChangeFeed(feeds, log);
  const probes = new ProbeLeases(feeds, config.circuit);
  const status = new StatusService(sql, toStatusProviders(catalogue), config.circuit.windowMs);
  statusRoutes(app, status);
  addCircuitMetrics(metrics, status);
  eventRoutes(app, sql);
  alertRuleRoutes(app, new AlertRuleService(sql));
  const webhooks = buildWebhooks(app, dependencies);
  return {
    usageObserver: new UsageDetectorRunner(orgBreakers, config.abuse),
    circuitFeed,
    handlers: {
      acquireProbe: unaryHandler(log, 'AcquireProbe', (request) => handleAcquireProbe(probes, request)),
      releaseProbe: unaryHandler(log, 'ReleaseProbe', (request) => handleReleaseProbe(probes, orgBreakers, request)),
      reportContacts: unaryHandler(log, 'ReportContacts', (request) => handleReportContacts(fleetBreakers, request)),
    },
    async start() {
      await circuitFeed.start();
      orgBreakers.start();
      fleetBreakers.start();
      await webhooks.dispatcher.start();
      background.runEvery('budget sweep', SWEEP_INTERVAL_MS, () => sweepBudgetAlerts(sql));
      background.runEvery('budget row sweep', SWEEP_INTERVAL_MS, () => sweepBudgetRowAlerts(sql));
      background.runEvery('rejection summaries', REJECTION_SUMMARIES_INTERVAL_MS, () => sendRejectionSummaries(sql));
      background.runEvery('alert rules', ALERT_RULES_INTERVAL_MS, () => evaluateDueAlertRules(sql, log));
      background.runEvery('pruning alerts', PRUNE_INTERVAL_MS, () => pruneAlerts(sql));
      background.runEvery('pruning abuse counts', SWEEP_INTERVAL_MS, () => deleteOldAbuseCounts(sql));
      background.runEvery('pruning events', PRUNE_INTERVAL_MS, () => deleteOldEvents(sql));
    },
    async stop() {
      const stopped = background.stop();
      await orgBreakers.stop();
      await fleetBreakers.stop();
      await circuitFeed.stop();
      await webhooks.dispatcher.stop();
      await webhooks.sender.close();
      await stopped;
    },
  };
}

function buildWebhooks(app: App, { config, log, sql, metrics, vault, tenantNames }: EventsDependencies) {
  const sender = new DeliverySender({
    vault,
    log,
    timeoutMs: config.webhookTimeoutMs,
    dialer: new Dialer({
      allowCidrs: config.egressAllowCidrs,
      connectTimeoutMs: config.webhookTimeoutMs,
      tenantNames,
      operatorNames: tenantNames, // the address of a webhook is always set by a tenant
    }),
  });
  const dispatcher = new DeliveryDispatcher({
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

const toStatusProviders = ({ providers }: Catalogue) =>
  providers.map((provider) => {
    const { slug, displayName, originNames } = provider;
    const origins = fixedOriginsOf(provider);
    return { slug, displayName, origins: origins.length === originNames.length ? origins : null };
  });

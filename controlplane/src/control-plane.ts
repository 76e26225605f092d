/**
 * Composition root of the control plane: builds the shared services and the modules (composition/), and starts and
 * stops them in order. Throws `ConfigError` when a configured file cannot be used.
 */

import { TenantNameResolver } from '@acg/base/dns/tenant-name-resolver';
import type { Logger } from '@acg/base/log';
import { Authenticator } from './auth/authenticator.js';
import { PasswordHasher } from './auth/passwords/password-hasher.js';
import { enforceProjectScope } from './auth/project-token-scope.js';
import { SessionCookie } from './auth/sessions/session-cookie.js';
import { SessionJwts } from './auth/sessions/session-jwt.js';
import { buildAgentsAndProviders } from './composition/agents-and-providers.js';
import { buildConnectionLimits } from './composition/api-and-grpc-connection-limits.js';
import { type ArchiveModule, buildArchive } from './composition/archive.js';
import { type BillingModule, buildBilling } from './composition/billing.js';
import { buildCircuitsAndEvents } from './composition/circuits-and-events.js';
import { buildDataPlaneLink } from './composition/data-plane-link.js';
import { buildIdentity } from './composition/identity.js';
import { buildMinting } from './composition/minting.js';
import { buildUsage, type UsageModule } from './composition/usage.js';
import type { Config } from './config.js';
import { ConnectCookie } from './connections/connect-cookie.js';
import { ConnectionService } from './connections/connection-service.js';
import { connectionRoutes } from './connections/routes.js';
import { loadDashboardBuild } from './dashboard/load-dashboard-build.js';
import { dashboardRoutes, isPageRequest, sendDashboardPage } from './dashboard/routes.js';
import { OrganizationGrants } from './data-planes/organization-grants.js';
import { bindToAmbientTransaction } from './db/ambient-transaction.js';
import { migrate } from './db/migrate.js';
import { openConnectionPools } from './db/pools.js';
import type { Sql } from './db/postgres-client.js';
import { type App, createApp } from './http/app.js';
import { TooManyRequestsDelay } from './http/delay-429-responses.js';
import { createGracefulClose } from './http/graceful-close.js';
import { Idempotency } from './idempotency/idempotency.js';
import { GatewayIssuer } from './issuer/gateway-issuer.js';
import { issuerRoutes } from './issuer/issuer-routes.js';
import { createReportUsageHandler } from './ledger/report-usage-handler.js';
import { BackgroundTasks } from './ops/background-tasks.js';
import { healthRoutes, ReadinessCheck } from './ops/health.js';
import { Metrics, metricsRoute } from './ops/metrics.js';
import { MetricsServer } from './ops/metrics-server.js';
import { PoolProbes } from './ops/pool-probes.js';
import { OperatorPrices } from './prices/operator-prices.js';
import { projectRoutes } from './projects/routes.js';
import { ProjectService } from './projects/service.js';
import { loadCatalogue } from './providers/catalogue/catalogue.js';
import { referenceRoutes } from './reference/api-reference-routes.js';
import { SyslogStreams } from './syslog/syslog-streams.js';
import { Throttle } from './throttling/throttle.js';
import { Vault } from './vault/aes-gcm-vault.js';
import { checkMasterKeys } from './vault/master-key-check.js';

const SYSLOG_INTERVAL_MS = 5_000;

interface BoundPorts {
  readonly port: number;
  readonly grpcPort: number;
  /** Null: metrics are served on `port`. */
  readonly metricsPort: number | null;
}

export interface ControlPlane {
  readonly app: App;
  readonly sql: Sql;
  readonly usage: UsageModule;
  readonly billing: BillingModule;
  readonly archive: ArchiveModule;
  /** Migrates the database and opens the ports. Resolves when all ports are served. */
  start(): Promise<BoundPorts>;
  /** Reads the files that may change at run time again: PRICES_FILE. */
  reloadFiles(): void;
  /**
   * Uses JWT_SECRET, INTERNAL_TOKEN, MASTER_KEYS and the certificates of a configuration that was read again. Rejects, and
   * changes nothing, when the master keys do not fit the database.
   */
  replaceSecrets(fresh: Config): Promise<void>;
  /** Stops accepting requests, lets running ones finish, then closes the pools. */
  stop(): Promise<void>;
}

/** `hasher`: tests pass one of a lower cost. */
export function buildControlPlane(config: Config, log: Logger, hasher = new PasswordHasher()): ControlPlane {
  const pools = openConnectionPools(config.databaseUrl);
  const sql = bindToAmbientTransaction(pools.api);
  const tokens = new SessionJwts(config.jwtSecrets);
  const cookie = new SessionCookie(config.publicUrl);
  const authenticator = new Authenticator(sql, tokens, cookie);
  const health = new ReadinessCheck(sql);
  const metrics = new Metrics(config.version);
  const { reads, feeds, ingest: ingestSql, resolve } = pools;
  const poolProbes = new PoolProbes({ api: pools.api, reads, feeds, ingest: ingestSql, resolve }, metrics.registry);
  const background = new BackgroundTasks(log);
  const dashboard = loadDashboardBuild(config.publicUrl);
  const app = createApp({
    log,
    authenticator,
    metrics,
    trustedProxyCidrs: config.trustedProxyCidrs,
    publicUrl: config.publicUrl,
    handleUnrouted: (request, reply) =>
      dashboard !== null && isPageRequest(request)
        ? sendDashboardPage(dashboard, reply, cookie.readSecret(request) !== null)
        : null,
  });
  const connections = buildConnectionLimits(config, log, metrics);
  connections.api.install(app.server);
  const closeApp = createGracefulClose(app);
  if (dashboard !== null) dashboardRoutes(app, dashboard, cookie);
  enforceProjectScope(app, sql);
  const idempotency = new Idempotency(
    pools.api,
    config.masterKeys.map(({ key }) => key.reveal()),
  );
  idempotency.install(app);
  new TooManyRequestsDelay().install(app);
  healthRoutes(app, health);
  const metricsServer = config.metricsListen === null ? null : new MetricsServer(metrics);
  if (metricsServer === null) metricsRoute(app, metrics);
  const catalogue = loadCatalogue(config.providersFile, config.providersDir);
  const { standIns } = catalogue;
  const prices = new OperatorPrices(config.pricesFile, catalogue, log, metrics);
  const vault = new Vault(config.masterKeys);
  const shared = { config, log, sql, metrics, vault };
  const tenantNames = new TenantNameResolver();
  const identity = buildIdentity(app, { ...shared, tenantNames, tokens, cookie, authenticator, standIns, hasher });
  referenceRoutes(app, config.publicUrl);
  projectRoutes(app, new ProjectService(sql));
  const events = buildCircuitsAndEvents(app, { config, log, sql, feeds, metrics, catalogue, vault, tenantNames });
  const issuer = new GatewayIssuer(pools.api, vault, config.issuerUrl);
  issuerRoutes(app, {
    issuer: new GatewayIssuer(sql, vault, config.issuerUrl),
    catalogue,
    throttle: new Throttle(sql),
  });
  const mints = buildMinting({ config, log, sql: pools.api, vault, catalogue, tenantNames, issuer });
  const { minting } = mints;
  const agents = buildAgentsAndProviders(app, { config, log, sql, vault, catalogue, prices, tenantNames, minting });
  connectionRoutes(app, {
    connections: new ConnectionService(sql, minting, config.publicUrl, config.servesClientDocuments),
    sessionCookie: cookie,
    connectCookie: new ConnectCookie(config.publicUrl),
  });
  const { customProviders } = agents;
  const billing = buildBilling(app, { config, log, sql, vault, catalogue, customProviders, prices, tenantNames });
  const observers = [events.usageObserver, agents.usageObserver];
  const archive = buildArchive(app, { config, log, sql, metrics });
  const { mayDropDay } = archive;
  const usage = buildUsage(app, { config, log, sql, reads, ingestSql, metrics, observers, mayDropDay });
  const grants = new OrganizationGrants(pools.resolve, !config.identitiesRequired);
  const ungrantedFor = (identity: string) =>
    identity === ''
      ? null
      : (dataPlaneId: string, orgIds: readonly string[]) => grants.findUngranted({ identity, dataPlaneId }, orgIds);
  const link = buildDataPlaneLink({
    config,
    connections: connections.grpc,
    log,
    metrics,
    catalogue,
    vault,
    minting,
    pools,
    greeting: {
      circuits: async () => events.circuitFeed.listNotClosed(),
      prices: () => prices.book(),
      builtInProviders: catalogue.slugs,
    },
    handlers: {
      ...events.handlers,
      ...agents.handlers,
      reportUsage: createReportUsageHandler(usage.ingest, ungrantedFor, log),
    },
    grants,
  });

  events.circuitFeed.onChange = (circuit) => link.hub.broadcast({ circuit });
  prices.onChange = (book) => link.hub.broadcast({ prices: book });

  return {
    app,
    sql,
    usage,
    billing,
    archive,
    async start() {
      const ran = await migrate(sql);
      if (ran.length > 0) log.info({ migrations: ran }, 'database schema migrated');
      await checkMasterKeys(sql, vault);
      await usage.start();
      await app.listen({ host: config.host, port: config.port });
      identity.start();
      agents.start();
      mints.start();
      billing.start();
      archive.start();
      prices.start();
      await events.start();
      const { port: grpcPort } = await link.start();
      const { host = '', port: requestedPort = 0 } = config.metricsListen ?? {};
      const boundMetricsPort = (await metricsServer?.listen(host, requestedPort)) ?? null;
      poolProbes.start(background);
      if (config.syslog !== null) {
        const streams = new SyslogStreams(pools.feeds, config.syslog);
        background.runEvery('syslog', SYSLOG_INTERVAL_MS, () => streams.sendAll());
      }
      health.started = true;
      const address = app.server.address();
      const port = typeof address === 'object' && address !== null ? address.port : config.port;
      return { port, grpcPort, metricsPort: boundMetricsPort };
    },
    reloadFiles: () => prices.reload(),
    async replaceSecrets({ masterKeys, jwtSecrets, link: security }) {
      await checkMasterKeys(sql, new Vault(masterKeys));
      vault.replaceKeys(masterKeys);
      idempotency.replaceKeys(masterKeys.map(({ key }) => key.reveal()));
      tokens.replaceSecrets(jwtSecrets);
      link.replaceSecurity(security);
    },
    async stop() {
      health.started = false;
      await link.stop();
      await closeApp(config.drainTimeoutMs / 2);
      metricsServer?.close();
      await background.stop();
      await identity.stop();
      await agents.stop();
      await mints.stop();
      await billing.stop();
      await archive.stop();
      await prices.stop();
      await usage.stop();
      await events.stop();
      await pools.end();
    },
  };
}

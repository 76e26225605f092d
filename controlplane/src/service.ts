/**
 * Composition root of the control plane: builds what all parts share and the parts (parts/), starts and stops them in order. Throws
 * `ConfigError` when a file that the configuration names cannot be used.
 */
import type { Logger } from '@acg/base/log';
import { TenantNames } from '@acg/base/names/tenant-names';
import { checkKeyRing } from './accounts/key-ring-check.js';
import { Vault } from './accounts/vault.js';
import { Authenticator } from './auth/authenticate.js';
import { SessionCookie } from './auth/cookie.js';
import { Idempotency } from './auth/idempotency.js';
import { guardProjects } from './auth/project-scope.js';
import { SessionTokens } from './auth/session-token.js';
import type { Config } from './config.js';
import { dashboardRoutes, sendPage, wantsPage } from './dashboard/routes.js';
import { loadSite } from './dashboard/site.js';
import { joinable } from './db/joined-transaction.js';
import { migrate } from './db/migrate.js';
import { openPools } from './db/pools.js';
import type { Sql } from './db/sql.js';
import { type App, createApp } from './http/app.js';
import { boundedClose } from './http/bounded-close.js';
import { LateRefusals } from './http/late-refusals.js';
import { reportUsageHandler } from './ledger/report-usage-handler.js';
import { Health, healthRoutes } from './ops/health.js';
import { Metrics, metricsRoute } from './ops/metrics.js';
import { MetricsPort } from './ops/metrics-port.js';
import { buildAgents } from './parts/agents.js';
import { buildConnectionLimits } from './parts/connections.js';
import { buildLink } from './parts/data-planes.js';
import { buildEvents } from './parts/events.js';
import { buildIdentity } from './parts/people.js';
import { buildUsage, type UsagePart } from './parts/usage.js';
import { OperatorPrices } from './prices/operator-prices.js';
import { projectRoutes } from './projects/routes.js';
import { ProjectService } from './projects/service.js';
import { loadCatalogue } from './providers/catalogue/catalogue.js';
import { referenceRoutes } from './reference/routes.js';

interface ServicePorts {
  readonly port: number;
  readonly grpcPort: number;
  /** Null: metrics are served on `port`. */
  readonly metricsPort: number | null;
}

export interface Service {
  readonly app: App;
  readonly sql: Sql;
  readonly usage: UsagePart;
  /** Migrates, opens the ports; resolves when everything is served. */
  start(): Promise<ServicePorts>;
  /** Reads again the files that may change while it runs: PRICES_FILE. */
  rereadFiles(): void;
  /** Stops accepting, lets requests finish, closes the pool. */
  stop(): Promise<void>;
}

export function buildService(config: Config, log: Logger): Service {
  const pools = openPools(config.databaseUrl);
  const sql = joinable(pools.api);
  const tokens = new SessionTokens(config.jwtSecrets);
  const cookie = new SessionCookie(config.publicUrl);
  const authenticator = new Authenticator(sql, tokens, cookie);
  const health = new Health(sql);
  const metrics = new Metrics(config.version);
  const site = loadSite(config.publicUrl);
  const app = createApp({
    log,
    authenticator,
    metrics,
    trustedProxyCidrs: config.trustedProxyCidrs,
    publicUrl: config.publicUrl,
    answerUnrouted: (request, reply) =>
      site !== null && wantsPage(request) ? sendPage(site, reply, cookie.read(request) !== null) : null,
  });
  const connections = buildConnectionLimits(config, log, metrics);
  connections.api.install(app.server);
  const closeApp = boundedClose(app);
  if (site !== null) dashboardRoutes(app, site, cookie);
  guardProjects(app, sql);
  new Idempotency(
    pools.api,
    config.masterKeys.map(({ key }) => key.reveal()),
  ).install(app);
  new LateRefusals().install(app);
  healthRoutes(app, health);
  const metricsPort = config.metricsListen === null ? null : new MetricsPort(metrics);
  if (metricsPort === null) metricsRoute(app, metrics);
  const catalogue = loadCatalogue(config.providersFile);
  const { standIns } = catalogue;
  const prices = new OperatorPrices(config.pricesFile, catalogue, log, metrics);
  const identity = buildIdentity(app, { config, log, sql, tokens, cookie, authenticator, metrics, standIns });
  referenceRoutes(app, config.publicUrl);
  projectRoutes(app, new ProjectService(sql));
  const vault = new Vault(config.masterKeys);
  const tenantNames = new TenantNames();
  const { reads, feeds, ingest: ingestSql } = pools;
  const events = buildEvents(app, { config, log, sql, feeds, metrics, catalogue, vault, tenantNames });
  const agents = buildAgents(app, { config, log, sql, vault, catalogue, prices, tenantNames });
  const observers = [events.usageObserver, agents.usageObserver];
  const usage = buildUsage(app, { config, log, sql, reads, ingestSql, metrics, observers });
  const link = buildLink({
    config,
    connections: connections.grpc,
    log,
    metrics,
    catalogue,
    vault,
    pools,
    greeting: { circuits: async () => events.circuitFeed.notClosed(), prices: () => prices.book() },
    handlers: { ...events.handlers, reportUsage: reportUsageHandler(usage.ingest, log) },
  });

  events.circuitFeed.onChange = (circuit) => link.hub.broadcast({ circuit });
  prices.onChange = (book) => link.hub.broadcast({ prices: book });

  return {
    app,
    sql,
    usage,
    async start() {
      const ran = await migrate(sql);
      if (ran.length > 0) log.info({ migrations: ran }, 'schema brought up to date');
      await checkKeyRing(sql, vault);
      await usage.start();
      await app.listen({ host: config.host, port: config.port });
      identity.start();
      agents.start();
      prices.start();
      await events.start();
      const { port: grpcPort } = await link.start();
      const { host = '', port: wanted = 0 } = config.metricsListen ?? {};
      const boundMetricsPort = (await metricsPort?.listen(host, wanted)) ?? null;
      health.started = true;
      const address = app.server.address();
      const port = typeof address === 'object' && address !== null ? address.port : config.port;
      return { port, grpcPort, metricsPort: boundMetricsPort };
    },
    rereadFiles: () => prices.reread(),
    async stop() {
      health.started = false;
      await link.stop();
      await closeApp(config.drainTimeoutMs / 2);
      metricsPort?.close();
      await identity.stop();
      await agents.stop();
      await prices.stop();
      await usage.stop();
      await events.stop();
      await pools.end();
    },
  };
}

/** Composition root of the control plane: the only file that builds adapters; start and stop in order. */
import type { Logger } from '@acg/base/log';
import { PasswordHasher } from './auth/password-hasher.js';
import { AccountRecovery } from './auth/recovery.js';
import { authRoutes } from './auth/routes.js';
import { AuthService } from './auth/service.js';
import { SessionTokens } from './auth/session-token.js';
import { pruneEmailTokens } from './auth/store.js';
import { Throttle } from './auth/throttle.js';
import { type Config, outboxDirectory } from './config.js';
import { migrate } from './db/migrate.js';
import { openSql, type Sql } from './db/sql.js';
import { type App, createApp } from './http/app.js';
import { Authenticator } from './http/authenticate.js';
import { Mailer } from './mail/mailer.js';
import { outboxTransport, smtpTransport } from './mail/transports.js';
import { Background } from './ops/background.js';
import { Health, healthRoutes } from './ops/health.js';
import { Metrics, metricsRoute } from './ops/metrics.js';
import { projectRoutes } from './projects/routes.js';
import { ProjectService } from './projects/service.js';

const SQL_CONNECTIONS_MAX = 10;
const PRUNE_INTERVAL_MS = 60_000;
const MAIL_STOP_TIMEOUT_MS = 5_000;

export interface Service {
  readonly app: App;
  readonly sql: Sql;
  /** Migrates, opens the ports; resolves when everything is served. */
  start(): Promise<{ port: number }>;
  /** Stops accepting, lets requests finish, closes the pool. */
  stop(): Promise<void>;
}

export function buildService(config: Config, log: Logger): Service {
  const sql = openSql(config.databaseUrl, { connectionsMax: SQL_CONNECTIONS_MAX, applicationName: 'acg-controlplane' });
  const tokens = new SessionTokens(config.jwtSecret);
  const health = new Health(sql);
  const metrics = new Metrics(config.version);
  const app = createApp({
    log,
    authenticator: new Authenticator(sql, tokens),
    metrics,
    trustedProxyCidrs: config.trustedProxyCidrs,
    publicUrl: config.publicUrl,
    version: config.version,
  });
  healthRoutes(app, health);
  metricsRoute(app, metrics);
  const background = new Background(log);
  const mailer = new Mailer(
    config.smtpUrl === null
      ? outboxTransport(outboxDirectory(config), config.mailFrom)
      : smtpTransport(config.smtpUrl, config.mailFrom),
    log,
  );
  const hasher = new PasswordHasher();
  const throttle = new Throttle(sql);
  const recovery = new AccountRecovery(sql, hasher, throttle, mailer, background, config.publicUrl);
  const auth = new AuthService(sql, tokens, hasher, throttle, recovery);
  authRoutes(app, { auth, recovery, throttle });
  projectRoutes(app, new ProjectService(sql));
  const pruning = setInterval(() => {
    background.run('pruning', async () => {
      await throttle.prune();
      await pruneEmailTokens(sql);
    });
  }, PRUNE_INTERVAL_MS).unref();

  return {
    app,
    sql,
    async start() {
      const ran = await migrate(sql);
      if (ran.length > 0) log.info({ migrations: ran }, 'schema brought up to date');
      await app.listen({ host: config.host, port: config.port });
      health.started = true;
      const address = app.server.address();
      return { port: typeof address === 'object' && address !== null ? address.port : config.port };
    },
    async stop() {
      health.started = false;
      clearInterval(pruning);
      await app.close();
      await background.idle();
      await mailer.stop(MAIL_STOP_TIMEOUT_MS);
      await sql.end({ timeout: 5 });
    },
  };
}

/** Builds what concerns people: sessions, recovery, mail, members, audit; a part of the composition root. */
import type { Logger } from '@acg/base/log';
import { pruneAudit } from '../audit/retention.js';
import { auditRoutes } from '../audit/routes.js';
import type { Authenticator } from '../auth/authenticate.js';
import { configRoutes } from '../auth/config-routes.js';
import type { SessionCookie } from '../auth/cookie.js';
import { DeviceLogin } from '../auth/device-login.js';
import { devicePageRoute } from '../auth/device-page.js';
import { deviceRoutes } from '../auth/device-routes.js';
import { pruneDevices } from '../auth/device-store.js';
import { FailedLoginTrail } from '../auth/failed-login-trail.js';
import { pruneAnswers } from '../auth/idempotency-store.js';
import { managementTokenRoutes } from '../auth/management-token-routes.js';
import { ManagementTokens } from '../auth/management-tokens.js';
import { PasswordCheck } from '../auth/password-check.js';
import { PasswordHasher } from '../auth/password-hasher.js';
import { AccountRecovery } from '../auth/recovery.js';
import { authRoutes } from '../auth/routes.js';
import { AuthService } from '../auth/service.js';
import { sessionRoutes } from '../auth/session-routes.js';
import { pruneSessions } from '../auth/session-store.js';
import type { SessionTokens } from '../auth/session-token.js';
import { Sessions } from '../auth/sessions.js';
import { SignupPolicy } from '../auth/signup-policy.js';
import { pruneEmailTokens } from '../auth/store.js';
import { Throttle } from '../auth/throttle.js';
import { type Config, outboxDirectory } from '../config.js';
import type { Sql } from '../db/sql.js';
import { EventMailPreferences } from '../event-mail/preferences.js';
import { eventMailRoutes } from '../event-mail/routes.js';
import { EventMailSender } from '../event-mail/sender.js';
import { pruneQueue } from '../event-mail/store.js';
import type { App } from '../http/app.js';
import { linkPageRoutes } from '../mail/link-pages.js';
import { Mailer } from '../mail/mailer.js';
import { outboxTransport, smtpTransport } from '../mail/transports.js';
import { InvitationAcceptance } from '../members/acceptance.js';
import { memberRoutes } from '../members/routes.js';
import { MemberService } from '../members/service.js';
import { pruneInvitations } from '../members/store.js';
import { Background } from '../ops/background.js';
import type { Metrics } from '../ops/metrics.js';
import { OrganizationDeletions, purgeDue } from '../orgs/deletion.js';
import { pruneDeletions } from '../orgs/deletion-store.js';
import { organizationRoutes } from '../orgs/routes.js';
import { OrganizationService } from '../orgs/service.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { suspensionRoutes } from '../suspension/routes.js';
import { SuspensionService } from '../suspension/service.js';

const PRUNE_INTERVAL_MS = 60_000;
const EVENT_MAIL_INTERVAL_MS = 2_000;
const MAIL_STOP_TIMEOUT_MS = 5_000;

interface IdentityParts {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly tokens: SessionTokens;
  readonly cookie: SessionCookie;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly standIns: Catalogue['standIns'];
}

interface Identity {
  start(): void;
  /** Called after the HTTP server has closed: finishes background work and sends the mails that wait. */
  stop(): Promise<void>;
}

export function buildIdentity(
  app: App,
  { config, log, sql, tokens, cookie, authenticator, metrics, standIns }: IdentityParts,
): Identity {
  const background = new Background(log);
  const mailer = new Mailer(
    config.smtpUrl === null
      ? outboxTransport(outboxDirectory(config), config.mailFrom)
      : smtpTransport(config.smtpUrl, config.mailFrom),
    log,
  );
  metrics.gauge('gateway_control_mails_pending', 'Mails not sent yet.', () => mailer.pending);
  const hasher = new PasswordHasher();
  const throttle = new Throttle(sql);
  const passwords = new PasswordCheck(hasher, throttle, new FailedLoginTrail(sql, throttle, background));
  const mailLeaves = config.smtpUrl !== null;
  const recovery = new AccountRecovery(
    sql,
    hasher,
    throttle,
    passwords,
    mailer,
    background,
    config.publicUrl,
    mailLeaves,
  );
  const signup = new SignupPolicy(sql, config.signup);
  const sessions = new Sessions(sql, tokens);
  const auth = new AuthService(sql, sessions, hasher, throttle, recovery, passwords, signup);
  const { version, proxyUrl, publicUrl } = config;
  const mail = config.smtpUrl === null ? 'outbox' : 'smtp';
  configRoutes(app, { version, proxyUrl, publicUrl, mail, standIns }, signup);
  const deletions = new OrganizationDeletions(sql, auth, mailer, config.publicUrl, log);
  organizationRoutes(app, new OrganizationService(sql, config.signup === 'open'), deletions);
  authRoutes(app, { auth, sessions, recovery, throttle, authenticator });
  suspensionRoutes(app, new SuspensionService(sql));
  deviceRoutes(app, new DeviceLogin(sql, sessions, throttle, mailer, config.publicUrl), throttle);
  devicePageRoute(app);
  managementTokenRoutes(app, new ManagementTokens(sql));
  sessionRoutes(app, { auth, sessions, throttle, authenticator, cookie });
  const members = new MemberService(sql, throttle, mailer, config.publicUrl, config.smtpUrl === null);
  memberRoutes(app, { members, acceptance: new InvitationAcceptance(sql, hasher, auth), throttle, authenticator });
  auditRoutes(app, sql);
  eventMailRoutes(app, new EventMailPreferences(sql));
  const eventMail = new EventMailSender(sql, throttle, mailer, config.publicUrl);
  linkPageRoutes(app);
  const prune = async (): Promise<void> => {
    await throttle.prune();
    await pruneEmailTokens(sql);
    await pruneSessions(sql);
    await pruneDevices(sql);
    await pruneAnswers(sql);
    await pruneInvitations(sql);
    await pruneQueue(sql);
    await pruneAudit(sql, config.auditRetentionDays);
    await pruneDeletions(sql, config.auditRetentionDays);
    await purgeDue(sql, log);
  };
  return {
    start() {
      background.every('pruning', PRUNE_INTERVAL_MS, prune);
      background.every('mails of events', EVENT_MAIL_INTERVAL_MS, () => eventMail.turn());
    },
    async stop() {
      await background.stop();
      await mailer.stop(MAIL_STOP_TIMEOUT_MS);
    },
  };
}

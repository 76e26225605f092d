/**
 * Builds the module for users: sessions, recovery, mail, members, organizations and audit. Part of the composition
 * root.
 */
import { Dialer } from '@acg/base/dialer/dialer';
import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import type { Logger } from '@acg/base/log';
import { pruneAuditEntries } from '../audit/audit-list-and-prune-store.js';
import { auditRoutes } from '../audit/audit-list-routes.js';
import type { Authenticator } from '../auth/authenticator.js';
import { DeviceLogin } from '../auth/device-login/device-login.js';
import { devicePageRoute } from '../auth/device-login/device-page.js';
import { deviceRoutes } from '../auth/device-login/device-routes.js';
import { pruneDeviceLogins } from '../auth/device-login/device-store.js';
import { managementTokenRoutes } from '../auth/management-tokens/routes.js';
import { ManagementTokenService } from '../auth/management-tokens/service.js';
import { FailedLoginAudit } from '../auth/passwords/failed-login-audit.js';
import type { PasswordHasher } from '../auth/passwords/password-hasher.js';
import { PasswordVerifier } from '../auth/passwords/password-verifier.js';
import { publicConfigRoutes } from '../auth/public-config-routes.js';
import { PasswordResetAndEmailVerification } from '../auth/recovery/password-reset-and-email-verification.js';
import { authRoutes, createAuthThrottleHook } from '../auth/routes.js';
import { secondFactorRoutes } from '../auth/second-factor/routes.js';
import { SecondFactorService } from '../auth/second-factor/service.js';
import { SecondFactorVerifier } from '../auth/second-factor/verifier.js';
import { AuthService } from '../auth/service.js';
import { sessionRoutes } from '../auth/session-list-and-cookie-routes.js';
import type { SessionCookie } from '../auth/sessions/session-cookie.js';
import type { SessionJwts } from '../auth/sessions/session-jwt.js';
import { SessionService } from '../auth/sessions/session-service.js';
import { pruneSessions } from '../auth/sessions/session-store.js';
import { SignupPolicy } from '../auth/signup-policy.js';
import { pruneEmailTokens } from '../auth/users/user-and-membership-store.js';
import { type Config, outboxDirectory } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import { EventMailSender } from '../event-mail/event-mail-sender.js';
import { EventMailPreferenceService } from '../event-mail/preference-service.js';
import { eventMailRoutes } from '../event-mail/routes.js';
import { pruneQueuedEvents } from '../event-mail/store.js';
import type { App } from '../http/app.js';
import { pruneStoredResponses } from '../idempotency/stored-responses.js';
import { invitationPageRoute } from '../mail/invitation-page.js';
import { linkPageRoutes } from '../mail/link-pages.js';
import { Mailer } from '../mail/mailer.js';
import { createOutboxTransport, createSmtpTransport } from '../mail/smtp-and-outbox-transports.js';
import { InvitationAcceptance } from '../members/invitation-acceptance.js';
import { memberRoutes } from '../members/routes.js';
import { MemberService } from '../members/service.js';
import { pruneInvitations } from '../members/store.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import { OrganizationDeletionService, purgeDueOrganizations } from '../orgs/deletion-service.js';
import { pruneDeletions } from '../orgs/deletion-store.js';
import { organizationRoutes } from '../orgs/routes.js';
import { OrganizationService } from '../orgs/service.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { ScimGroupService } from '../scim/group-service.js';
import { SCIM_PATH, scimRoutes } from '../scim/scim-routes.js';
import { scimSettingsRoutes } from '../scim/settings-routes.js';
import { ScimSettingsService } from '../scim/settings-service.js';
import { ScimUserService } from '../scim/user-service.js';
import { SsoLoginService } from '../sso/login-service.js';
import { OidcClient } from '../sso/oidc-client.js';
import { resolveTxtRecords } from '../sso/resolve-txt-records.js';
import { ssoRoutes } from '../sso/routes.js';
import { SsoSettingsService } from '../sso/settings-service.js';
import { SsoCookie } from '../sso/sso-cookie.js';
import { pruneSsoLogins } from '../sso/store.js';
import { SsoTestService } from '../sso/test-service.js';
import { suspensionRoutes } from '../suspension/suspended-item-review-routes.js';
import { SuspensionService } from '../suspension/unproven-founder-item-suspension.js';
import { Throttle } from '../throttling/throttle.js';
import type { Vault } from '../vault/aes-gcm-vault.js';

const PRUNE_INTERVAL_MS = 60_000;
const DOMAIN_CHECK_INTERVAL_MS = 600_000;
const SSO_CONNECT_TIMEOUT_MS = 5_000;
const EVENT_MAIL_INTERVAL_MS = 2_000;
const MAIL_STOP_TIMEOUT_MS = 5_000;

interface IdentityDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly tokens: SessionJwts;
  readonly cookie: SessionCookie;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly standIns: Catalogue['standIns'];
  readonly hasher: PasswordHasher;
  readonly vault: Vault;
  readonly tenantNames: NameResolver;
}

interface IdentityModule {
  start(): void;
  /** Called after the HTTP server has closed: finishes background work and sends queued mails. */
  stop(): Promise<void>;
}

export function buildIdentity(
  app: App,
  {
    config,
    log,
    sql,
    tokens,
    cookie,
    authenticator,
    metrics,
    standIns,
    hasher,
    vault,
    tenantNames,
  }: IdentityDependencies,
): IdentityModule {
  const background = new BackgroundTasks(log);
  const mailer = new Mailer(
    config.smtpUrl === null
      ? createOutboxTransport(outboxDirectory(config), config.mailFrom)
      : createSmtpTransport(config.smtpUrl, config.mailFrom),
    log,
  );
  metrics.addGauge('gateway_control_mails_pending', 'Mails not sent yet.', () => mailer.pending);
  const throttle = new Throttle(sql);
  const failedLoginAudit = new FailedLoginAudit(sql, throttle, background);
  const passwords = new PasswordVerifier(hasher, throttle, failedLoginAudit);
  const factorVerifier = new SecondFactorVerifier(sql, vault, throttle, failedLoginAudit, mailer);
  const deliversMail = config.smtpUrl !== null;
  const recovery = new PasswordResetAndEmailVerification(
    sql,
    hasher,
    throttle,
    passwords,
    mailer,
    background,
    config.publicUrl,
    deliversMail,
  );
  const signup = new SignupPolicy(sql, config.signup);
  const sessions = new SessionService(sql, tokens);
  const auth = new AuthService(sql, sessions, hasher, throttle, recovery, passwords, signup, factorVerifier);
  const { version, proxyUrl, publicUrl } = config;
  const mail = config.smtpUrl === null ? 'outbox' : 'smtp';
  publicConfigRoutes(app, { version, proxyUrl, publicUrl, mail, standIns }, signup);
  const deletions = new OrganizationDeletionService(sql, auth, mailer, config.publicUrl, log);
  organizationRoutes(app, new OrganizationService(sql, config.signup === 'open'), deletions);
  authRoutes(app, { auth, sessions, recovery, throttle, authenticator });
  const factors = new SecondFactorService(sql, vault, factorVerifier, mailer, (actor, password) =>
    auth.confirmPassword(actor, password),
  );
  secondFactorRoutes(app, factors, createAuthThrottleHook(throttle));
  suspensionRoutes(app, new SuspensionService(sql));
  deviceRoutes(app, new DeviceLogin(sql, sessions, throttle, mailer, config.publicUrl), throttle);
  devicePageRoute(app);
  managementTokenRoutes(app, new ManagementTokenService(sql));
  sessionRoutes(app, { auth, sessions, throttle, authenticator, cookie });
  const dialer = new Dialer({
    allowCidrs: config.egressAllowCidrs,
    connectTimeoutMs: SSO_CONNECT_TIMEOUT_MS,
    tenantNames,
    operatorNames: new OperatorNameResolver(),
  });
  const oidc = new OidcClient(dialer);
  const egress = {
    allowCidrs: config.egressAllowCidrs,
    resolveHost: (orgId: string) => (host: string) => tenantNames.resolve(host, orgId),
  };
  const ssoSettings = new SsoSettingsService({ sql, vault, oidc, publicUrl, ...egress, resolveTxt: resolveTxtRecords });
  ssoRoutes(app, {
    settings: ssoSettings,
    tests: new SsoTestService({ sql, vault, dialer, throttle, settings: ssoSettings, publicUrl, ...egress }),
    logins: new SsoLoginService({ sql, vault, oidc, auth, sessions, throttle, publicUrl }),
    sessionCookie: cookie,
    ssoCookie: new SsoCookie(publicUrl),
    throttleHook: createAuthThrottleHook(throttle),
  });
  const members = new MemberService(sql, sessions, throttle, mailer, config.publicUrl, config.smtpUrl === null);
  memberRoutes(app, { members, acceptance: new InvitationAcceptance(sql, hasher, auth), throttle, authenticator });
  scimSettingsRoutes(app, new ScimSettingsService(sql, publicUrl + SCIM_PATH));
  scimRoutes(app, { sql, users: new ScimUserService(sql), groups: new ScimGroupService(sql), publicUrl });
  auditRoutes(app, sql);
  eventMailRoutes(app, new EventMailPreferenceService(sql));
  const eventMail = new EventMailSender(sql, throttle, mailer, config.publicUrl);
  linkPageRoutes(app);
  invitationPageRoute(app);
  const prune = async (): Promise<void> => {
    await throttle.prune();
    await pruneEmailTokens(sql);
    await pruneSessions(sql);
    await pruneDeviceLogins(sql);
    await pruneSsoLogins(sql);
    await pruneStoredResponses(sql);
    await pruneInvitations(sql);
    await pruneQueuedEvents(sql);
    await pruneAuditEntries(sql, config.auditRetentionDays);
    await pruneDeletions(sql, config.auditRetentionDays);
    await purgeDueOrganizations(sql, log);
  };
  return {
    start() {
      background.runEvery('pruning', PRUNE_INTERVAL_MS, prune);
      background.runEvery('domain checks', DOMAIN_CHECK_INTERVAL_MS, () => ssoSettings.recheckDomains());
      background.runEvery('event mails', EVENT_MAIL_INTERVAL_MS, () => eventMail.sendDue());
    },
    async stop() {
      await background.stop();
      await mailer.stop(MAIL_STOP_TIMEOUT_MS);
    },
  };
}

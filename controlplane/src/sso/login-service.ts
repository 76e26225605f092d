/**
 * Logins by single sign-on. A login is bound to the browser that began it and works once. An identity without an account
 * gets one; an account that exists is linked only after its own login. The session serves the organization alone and
 * ends after 24 hours.
 */
import { createHash, randomBytes } from 'node:crypto';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import type { AuthService } from '../auth/service.js';
import type { ClientInfo, SessionService } from '../auth/sessions/session-service.js';
import * as users from '../auth/users/user-and-membership-store.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { InvalidInput, NotFound, Unauthenticated } from '../domain/errors.js';
import type { Role } from '../http/route-access.js';
import { normaliseEmail } from '../http/schema.js';
import { endPersonalAgentsOfViewer } from '../members/end-membership.js';
import {
  deleteInvitationsTo,
  findInvitedRole,
  loadRole,
  lockOrganizationMembers,
  setMemberRole,
} from '../members/store.js';
import { lockPersonalAgents } from '../personal-agents/revocation/end-personal-agents.js';
import { lockDirectoryEntry } from '../scim/user-store.js';
import type { Throttle } from '../throttling/throttle.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { decideSsoLogin, type ProviderClaims, SSO_REJECTION_ADVICE, type SsoRejection } from './decide-login.js';
import { mailDomainOf } from './domain-name.js';
import { ProviderFailure } from './issuer-requests.js';
import { createLoginSecrets, type OidcClient } from './oidc-client.js';
import { openConnection } from './open-connection.js';
import * as store from './store.js';

export const LOGIN_LIFETIME_S = 600;
/** Entries of rejected logins in the audit trail, per organization and hour. */
const REJECTION_ENTRIES_MAX = 100;
const REJECTION_WINDOW_S = 3_600;
/** No password has this hash. */
const NO_PASSWORD = 'sso';

type SsoOutcome =
  | { readonly kind: 'session'; readonly cookie: string }
  /** The person logs in once to the account of the address; `secret` is for the browser's cookie. */
  | { readonly kind: 'prove_account'; readonly secret: string; readonly email: string }
  | { readonly kind: 'failure'; readonly text: string };

const UNKNOWN_LOGIN: SsoOutcome = {
  kind: 'failure',
  text: 'This login is unknown, used or older than 10 minutes. Log in again.',
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

interface LoginDependencies {
  readonly sql: Sql;
  readonly vault: Vault;
  readonly oidc: OidcClient;
  readonly auth: AuthService;
  readonly sessions: SessionService;
  readonly throttle: Throttle;
  readonly publicUrl: string;
}

export class SsoLoginService {
  constructor(readonly dependencies: LoginDependencies) {}

  /** Returns the address at the provider, and a secret for a cookie of the browser. */
  async start(email: string): Promise<{ url: string; secret: string }> {
    const { sql, oidc } = this.dependencies;
    const domain = mailDomainOf(normaliseEmail(email));
    const row = domain === null ? null : await store.findConnectionByDomain(sql, domain);
    if (row === null) throw new NotFound('single sign-on for the domain of this e-mail address');
    const secrets = createLoginSecrets();
    const secret = randomBytes(32).toString('base64url');
    const url = await oidc
      .buildAuthorizationUrl(openConnection(this.dependencies, row), secrets, email)
      .catch(({ message }: ProviderFailure) => {
        throw new InvalidInput(`the identity provider failed: ${message}`);
      });
    const { nonce, codeVerifier } = secrets;
    const hashes = { stateHash: sha256(secrets.state), browserHash: sha256(secret) };
    await store.insertLogin(sql, { orgId: row.orgId, nonce, codeVerifier, ...hashes, lifetimeS: LOGIN_LIFETIME_S });
    return { url, secret };
  }

  /** `secret`: the browser's cookie; null: it has none. */
  async finish(
    orgId: string,
    callback: URLSearchParams,
    secret: string | null,
    client: ClientInfo,
  ): Promise<SsoOutcome> {
    const { sql, oidc } = this.dependencies;
    const state = callback.get('state') ?? '';
    const login = secret === null ? null : await store.consumeLogin(sql, sha256(state), orgId, sha256(secret));
    const row = login === null ? null : await store.loadConnection(sql, orgId);
    if (login === null || row === null) return UNKNOWN_LOGIN;
    const claims = await oidc
      .exchangeCode(openConnection(this.dependencies, row), callback, { state, ...login })
      .catch((failure: ProviderFailure) => failure);
    if (claims instanceof ProviderFailure) {
      const { message } = claims;
      await this.#recordRejection(orgId, message, null, client.ip);
      return { kind: 'failure', text: `The answer of the identity provider was rejected: ${message}. Log in again.` };
    }
    const outcome = await sql.begin((tx) => this.#decide(tx, row, claims, client));
    if (typeof outcome !== 'string') return outcome as SsoOutcome;
    await this.#recordRejection(orgId, outcome, claims.email, client.ip);
    return { kind: 'failure', text: SSO_REJECTION_ADVICE[outcome as SsoRejection] };
  }

  /** `asked`: the connection whose provider has answered. */
  async #decide(
    tx: Tx,
    asked: store.ConnectionRow,
    claims: ProviderClaims,
    client: ClientInfo,
  ): Promise<SsoOutcome | SsoRejection> {
    const { orgId } = asked;
    const identity = { orgId, issuer: claims.issuer, subject: claims.subject };
    // A role must not change while an administrator or the directory changes it, and two logins of one new person at the
    // same moment must not create two accounts.
    await lockOrganizationMembers(tx, orgId);
    // An owner may have changed the provider while it answered. That ended its sessions, so it must open no other one.
    const row = await store.loadConnection(tx, orgId);
    if (row?.issuer !== asked.issuer || row.clientId !== asked.clientId) return UNKNOWN_LOGIN;
    const { defaultRole, groupRoles } = row;
    const linked = await store.findLinkedUser(tx, identity);
    const domain = claims.email === null ? null : mailDomainOf(claims.email);
    const account = claims.email === null ? null : await users.loadUserByEmail(tx, claims.email);
    const entry = claims.email === null ? null : await lockDirectoryEntry(tx, orgId, claims.email);
    const decision = decideSsoLogin({
      claims,
      linkedUserId: linked?.userId ?? null,
      memberRole: linked?.role ?? null,
      isDomainVerified: domain !== null && (await store.isDomainVerified(tx, orgId, domain)),
      accountId: account?.id ?? null,
      accountRole: account === null ? null : await loadRole(tx, orgId, account.id),
      defaultRole,
      groupRoles: groupRoles ?? [],
      invitedRole: claims.email === null ? null : await findInvitedRole(tx, orgId, claims.email),
      directory: entry,
    });
    if (decision.kind === 'reject') return decision.reason;
    if (decision.kind === 'open') {
      if (decision.role !== null)
        await this.#setRole(tx, orgId, decision.userId, linked!.role!, decision.role, client.ip);
      return this.#openSession(tx, decision.userId, orgId, client);
    }
    if (decision.kind === 'rejoin') {
      const user = (await users.loadUser(tx, decision.userId))!;
      await this.#insertMembership(tx, orgId, user, decision.role, client.ip);
      return this.#openSession(tx, user.id, orgId, client);
    }
    if (decision.kind === 'prove_account') {
      const secret = randomBytes(32).toString('base64url');
      const link = { ...identity, userId: decision.userId, role: decision.role };
      await store.insertLink(tx, sha256(secret), link, LOGIN_LIFETIME_S);
      return { kind: 'prove_account', secret, email: claims.email! };
    }
    const id = uuidv7(Date.now());
    const name = claims.name ?? decision.email.split('@')[0]!;
    await users.insertUser(tx, { id, email: decision.email, name, passwordHash: NO_PASSWORD, emailVerified: true });
    await this.#join(tx, identity, { id, email: decision.email }, decision.role, client.ip);
    return this.#openSession(tx, id, orgId, client);
  }

  /** Links the account of the waiting identity after its own login. Throws `Unauthenticated` when that fails. */
  async link(secret: string | null, password: string, code: string | undefined, client: ClientInfo): Promise<string> {
    const { sql, auth } = this.dependencies;
    const link = secret === null ? null : await store.loadLink(sql, sha256(secret));
    const user = link === null ? null : await users.loadUser(sql, link.userId);
    if (secret === null || link === null || user === null)
      throw new InvalidInput('this login is unknown, used or older than 10 minutes: log in again');
    const proof = { password, ...(code === undefined ? {} : { code }) };
    if (!(await auth.verifyAccountOwner(user, proof, null, { ip: client.ip, proof: 'none' })))
      throw new Unauthenticated('password is not the password of this account');
    const cookie = await sql.begin(async (tx) => {
      await lockOrganizationMembers(tx, link.orgId);
      const connection = await store.loadConnection(tx, link.orgId);
      if (!(await store.deleteLink(tx, sha256(secret))) || connection?.issuer !== link.issuer)
        throw new InvalidInput('this login is unknown, used or older than 10 minutes: log in again');
      const role = await users.lockMembership(tx, link.orgId, user.id);
      // A control plane of the previous release wrote no role.
      const joinRole = link.role ?? connection.defaultRole;
      if (role === null && joinRole === null) throw new InvalidInput(SSO_REJECTION_ADVICE.not_invited);
      if (role === null && (await lockDirectoryEntry(tx, link.orgId, user.email)) === 'inactive')
        throw new InvalidInput(SSO_REJECTION_ADVICE.deactivated);
      await this.#join(tx, link, user, role === null ? joinRole : null, client.ip);
      const opened = await this.#openSession(tx, user.id, link.orgId, client);
      return opened.cookie;
    });
    return cookie as string;
  }

  /** `role` null: the person is a member already. */
  async #join(
    tx: Tx,
    identity: store.SsoIdentity,
    user: { readonly id: string; readonly email: string },
    role: Role | null,
    ip: string,
  ): Promise<void> {
    const actor = { userId: user.id, email: user.email, orgId: identity.orgId, ip };
    const target = { type: 'user', id: user.id };
    if (role !== null) await this.#insertMembership(tx, identity.orgId, user, role, ip);
    if (!(await store.insertIdentity(tx, identity, user.id)))
      throw new InvalidInput('this identity was linked at the same moment: log in again');
    await recordAudit(tx, actor, 'sso.link', target, { subject: [null, identity.subject] });
  }

  /** The invitation to the address is accepted with it. */
  async #insertMembership(
    tx: Tx,
    orgId: string,
    user: { readonly id: string; readonly email: string },
    role: Role,
    ip: string,
  ): Promise<void> {
    await users.insertMembership(tx, orgId, user.id, role);
    await deleteInvitationsTo(tx, orgId, user.email);
    const actor = { userId: user.id, email: user.email, orgId, ip };
    await recordAudit(tx, actor, 'member.join', { type: 'user', id: user.id }, { role: [null, role] });
  }

  async #setRole(tx: Tx, orgId: string, userId: string, before: Role, role: Role, ip: string): Promise<void> {
    const { email } = (await users.loadUser(tx, userId))!;
    // Before the membership, as changes of an agent do.
    if (role === 'viewer') await lockPersonalAgents(tx, { orgId, userId });
    await setMemberRole(tx, orgId, userId, before, role);
    const actor = { userId, email, orgId, ip };
    await recordAudit(tx, actor, 'member.update', { type: 'user', id: userId }, { role: [before, role] });
    if (role === 'viewer') await endPersonalAgentsOfViewer(tx, orgId, userId);
  }

  async #openSession(
    tx: Tx,
    userId: string,
    orgId: string,
    client: ClientInfo,
  ): Promise<{ kind: 'session'; cookie: string }> {
    const user = (await users.loadUser(tx, userId))!;
    const cookie = await this.dependencies.sessions.openSsoSession(tx, user, orgId, client);
    const actor = { userId, email: user.email, orgId, ip: client.ip };
    await recordAudit(tx, actor, 'session.create', { type: 'user', id: userId }, { sso: [null, true] });
    return { kind: 'session', cookie };
  }

  async #recordRejection(orgId: string, reason: string, email: string | null, ip: string): Promise<void> {
    const { sql, throttle } = this.dependencies;
    if (
      !(await throttle.tryConsume(`sso-reject:${orgId}`, REJECTION_ENTRIES_MAX, REJECTION_WINDOW_S, 'rejected logins'))
    )
      return;
    const actor = { userId: null, email: email ?? '', orgId, ip };
    await sql.begin((tx) =>
      recordAudit(tx, actor, 'sso.reject', { type: 'organization', id: orgId }, { reason: [null, reason] }),
    );
  }
}

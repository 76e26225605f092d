/** Signup, login, password changes and account ownership: rules and transactions. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit, recordUserAudit } from '../audit/audit-trail.js';
import { isUniqueViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, Forbidden, NotFound, Unauthenticated } from '../domain/errors.js';
import type { Actor, Role } from '../http/route-access.js';
import { normaliseEmail } from '../http/schema.js';
import { NOTHING_SUSPENDED, type SuspensionResult } from '../suspension/unproven-founder-item-suspension.js';
import type { IdentityProof, Throttle } from '../throttling/throttle.js';
import { loadManagementToken } from './management-tokens/store.js';
import type { PasswordHasher } from './passwords/password-hasher.js';
import type { PasswordVerifier } from './passwords/password-verifier.js';
import type { PasswordResetAndEmailVerification } from './recovery/password-reset-and-email-verification.js';
import { reclaimAccount } from './recovery/reclaim-account.js';
import type { SecondFactorVerifier } from './second-factor/verifier.js';
import { type ClientInfo, SESSION_ENDED_MESSAGE, type SessionService } from './sessions/session-service.js';
import { markSessionAuthenticated, revokeUserSessions } from './sessions/session-store.js';
import type { SignupPolicy } from './signup-policy.js';
import type { LoginReply, MeReply, OrganizationWithRole, SelfReply, SignupReply } from './users/auth-schema.js';
import { createOrganization } from './users/create-organization.js';
import * as store from './users/user-and-membership-store.js';

interface LoginRequest {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, if the account has one. */
  readonly code?: string;
}

interface SignupRequest {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly orgName: string;
}

/**
 * An invited person who has proven with the mailed token to read the mailbox, and what else that person has proven.
 * `new`: the address has no account. `owner`: the person owns the account of that address, proven by password or
 * session. `mailbox`: the address of the account was never verified. `isFounder`: the person has also proven the
 * account's password or session.
 */
export type VerifiedInvitee =
  | { readonly kind: 'new'; readonly name: string; readonly passwordHash: string; readonly verified: boolean }
  | {
      readonly kind: 'owner';
      readonly userId: string;
      /** True when the link also proves access to the mailbox. */
      readonly provesMailbox: boolean;
    }
  | {
      readonly kind: 'mailbox';
      readonly userId: string;
      readonly passwordHash: string;
      readonly name: string | undefined;
      readonly isFounder: boolean;
    };

export class AuthService {
  constructor(
    readonly sql: Sql,
    readonly sessions: SessionService,
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly recovery: PasswordResetAndEmailVerification,
    readonly passwordVerifier: PasswordVerifier,
    readonly signupPolicy: SignupPolicy,
    readonly secondFactor: SecondFactorVerifier,
  ) {}

  /**
   * Creates the user, the organization and its first project in one transaction. Throws {@link Conflict} for a known
   * e-mail address.
   */
  async signup(request: SignupRequest, client: ClientInfo): Promise<SignupReply> {
    const email = normaliseEmail(request.email);
    await this.signupPolicy.assertOpen();
    const passwordHash = await this.hasher.assertStrongAndHash(request.password, client.ip);
    const user = { id: uuidv7(Date.now()), email, name: request.name, passwordHash, emailVerified: false };
    const { org, token } = await this.sql.begin(async (tx) => {
      await this.signupPolicy.lockAndAssertOpen(tx);
      await insertUserOrConflict(tx, user);
      const created = await createOrganization(tx, user, request.orgName, client.ip);
      await store.setActiveOrganization(tx, user.id, created.id);
      await this.throttle.clearFailuresAndTrustAddress(tx, email, client.ip);
      const version = { id: user.id, sessionVersion: 1 };
      return { org: created, token: await this.sessions.openBearerSession(tx, version, created.id, client) };
    });
    this.recovery.enqueueVerificationMail(user);
    return { token, user: { id: user.id, email, name: user.name }, org };
  }

  async login(request: LoginRequest, client: ClientInfo): Promise<LoginReply> {
    return this.#verifyPasswordAndOpen(request, client.ip, (tx, user, factorVerified) =>
      this.openSessionInPreferredOrg(tx, user, user.activeOrgId, client, factorVerified),
    );
  }

  /** Like {@link login}, but opens a browser session. `cookie` is the secret for its cookie. */
  async loginBrowser(request: LoginRequest, client: ClientInfo): Promise<{ cookie: string; reply: SelfReply }> {
    return this.#verifyPasswordAndOpen(request, client.ip, async (tx, user, factorVerified) => {
      const { active, orgs } = await selectActiveOrganization(tx, user, user.activeOrgId);
      const cookie = await this.sessions.openBrowserSession(tx, user, active.id, client, factorVerified);
      return { cookie, orgId: active.id, reply: presentSelf(user, active.id, active.role, orgs) };
    });
  }

  /**
   * An unknown e-mail address and a wrong password get the same error in the same time. Only a caller with the password
   * learns that the account has a second factor.
   */
  async #verifyPasswordAndOpen<T extends { readonly orgId: string }>(
    request: LoginRequest,
    ip: string,
    openSession: (tx: Tx, user: store.UserRow, factorVerified: boolean) => Promise<T>,
  ): Promise<T> {
    const email = normaliseEmail(request.email);
    const user = await store.loadUserByEmail(this.sql, email);
    if (
      !(await this.passwordVerifier.verifyPassword(email, user?.passwordHash ?? null, request.password, ip, 'none')) ||
      user === null
    ) {
      throw new Unauthenticated('wrong e-mail or password');
    }
    const factorVerified = await this.secondFactor.verifyLogin(user, request.code, ip);
    const opened = await this.sql.begin(async (tx) => {
      await this.throttle.clearFailuresAndTrustAddress(tx, email, ip);
      const reply = await openSession(tx, user, factorVerified);
      const actor = { userId: user.id, email, orgId: reply.orgId, ip };
      await recordAudit(tx, actor, 'session.create', { type: 'user', id: user.id }, {});
      return reply;
    });
    return opened as T;
  }

  /** Opens a session in the preferred organization, or else in the organization of the oldest membership. */
  async openSessionInPreferredOrg(
    tx: Tx,
    user: store.UserRow,
    preferredOrgId: string | null,
    client: ClientInfo,
    factorVerified = false,
  ): Promise<LoginReply> {
    const { active, orgs } = await selectActiveOrganization(tx, user, preferredOrgId);
    const token = await this.sessions.openBearerSession(tx, user, active.id, client, { factorVerified });
    return { token, user: { id: user.id, email: user.email, name: user.name }, orgId: active.id, orgs };
  }

  /**
   * Adds the invited person as a member. Another person may have created an unverified account to wait for this
   * invitation. Such an account passes to the reader of the mailbox and gets that person's password ({@link
   * reclaimAccount}). The caller notifies the owner of suspended items.
   */
  async addInvitedMember(
    tx: Tx,
    { email, orgId, role }: { readonly email: string; readonly orgId: string; readonly role: Role },
    invitee: VerifiedInvitee,
    ip: string,
  ): Promise<{ user: store.UserRow; suspended: SuspensionResult }> {
    // Before the account is locked, in the same order as a login.
    const isReclaimed = invitee.kind === 'mailbox' && !invitee.isFounder;
    if (isMailboxProven(invitee)) await this.throttle.recordMailboxProof(tx, email, ip, isReclaimed);
    else await this.throttle.clearFailuresAndTrustAddress(tx, email, ip);
    const known = await store.lockUserByEmail(tx, email);
    const expected = invitee.kind === 'new' ? null : invitee.userId;
    const isMailboxReclaim = invitee.kind === 'mailbox';
    if ((known?.id ?? null) !== expected || (isMailboxReclaim && known?.emailVerifiedAt !== null)) {
      throw new Conflict('the account of this e-mail address has changed meanwhile: try again');
    }
    const userId = known?.id ?? uuidv7(Date.now());
    let suspended = NOTHING_SUSPENDED;
    if (invitee.kind === 'new') {
      const { name, passwordHash, verified } = invitee;
      await insertUserOrConflict(tx, { id: userId, email, name, passwordHash, emailVerified: verified });
    } else if (invitee.kind === 'mailbox') {
      await store.setPasswordAndDeleteEmailTokens(tx, userId, invitee.passwordHash);
      if (isReclaimed) suspended = await reclaimAccount(tx, { id: userId, email }, ip);
      else await revokeUserSessions(tx, userId, null);
      await store.markEmailVerified(tx, userId);
      if (invitee.name !== undefined) await store.setUserName(tx, userId, invitee.name);
    }
    await store.insertMembership(tx, orgId, userId, role);
    await store.setActiveOrganization(tx, userId, orgId);
    return { user: (await store.loadUser(tx, userId))!, suspended };
  }

  findUserByEmail(email: string): Promise<store.UserRow | null> {
    return store.loadUserByEmail(this.sql, email);
  }

  /**
   * Whether the caller owns the account, by session, or by password and the code of its second factor. A wrong password
   * counts as a failed login; throws `TooManyAttempts` and `SecondFactorRequired` like a login.
   */
  async verifyAccountOwner(
    user: store.UserRow,
    { password, code }: { readonly password?: string; readonly code?: string },
    sessionUserId: string | null,
    { ip, proof }: { readonly ip: string; readonly proof: IdentityProof },
  ): Promise<boolean> {
    if (sessionUserId === user.id) return true;
    if (password === undefined) return false;
    if (!(await this.passwordVerifier.verifyPassword(user.email, user.passwordHash, password, ip, proof))) return false;
    await this.secondFactor.verifyLogin(user, code, ip);
    return true;
  }

  /**
   * Checks the password again within a live session, before an irreversible action. Throws {@link Forbidden} when it is
   * wrong.
   */
  async confirmPassword(actor: Actor, password: string): Promise<void> {
    await this.#loadUserByPassword(actor, password, new Forbidden('password is not the password of your account'));
  }

  async #loadUserByPassword(actor: Actor, password: string, wrongPasswordError: Forbidden): Promise<store.UserRow> {
    const user = await store.loadUser(this.sql, actor.userId);
    if (user === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    if (await this.passwordVerifier.verifyPassword(user.email, user.passwordHash, password, actor.ip, 'session'))
      return user;
    throw wrongPasswordError;
  }

  /** Revokes all other sessions and all reset and verification tokens mailed before. */
  async changePassword(actor: Actor, current: string, password: string): Promise<void> {
    const wrongPasswordError = new Forbidden('currentPassword is not the password of this account');
    const user = await this.#loadUserByPassword(actor, current, wrongPasswordError);
    const passwordHash = await this.hasher.assertStrongAndHash(password, actor.ip);
    await this.sql.begin(async (tx) => {
      // Hashing takes time: a password that was reset meanwhile through the mailbox must not be overwritten.
      const lockedUser = await store.lockUserByEmail(tx, user.email);
      if (lockedUser?.passwordHash !== user.passwordHash) throw wrongPasswordError;
      await store.setPasswordAndDeleteEmailTokens(tx, user.id, passwordHash);
      await revokeUserSessions(tx, user.id, actor.session?.id ?? null);
      if (actor.session !== null) await markSessionAuthenticated(tx, actor.session.id);
      await recordUserAudit(tx, user, actor.ip, 'user.password_change', { password: ['[secret]', '[secret]'] });
    });
  }

  /** Returns a token for another organization of the user. The next login opens that organization, too. */
  async switchOrganization(actor: Actor, orgId: string, client: ClientInfo): Promise<string> {
    return this.sql.begin(async (tx) => {
      const user = await store.loadUser(tx, actor.userId);
      const role = await store.lockMembership(tx, orgId, actor.userId);
      if (user === null || role === null) throw new NotFound('organization');
      // Locks the account before the session, as a password change does: the opposite order could deadlock.
      await store.setActiveOrganization(tx, actor.userId, orgId);
      const auditActor = { ...actor, orgId, role };
      await recordAudit(tx, auditActor, 'session.create', { type: 'user', id: actor.userId }, {});
      return this.sessions.switchOrganization(tx, actor, user, orgId, client);
    });
  }

  async renameUser(actor: Actor, name: string): Promise<SelfReply> {
    await this.sql.begin(async (tx) => {
      const before = await store.loadUser(tx, actor.userId);
      if (before === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
      await store.setUserName(tx, actor.userId, name);
      await recordUserAudit(tx, before, actor.ip, 'user.update', { name: [before.name, name] });
    });
    return this.getSelf(actor);
  }

  async getMe(actor: Actor): Promise<MeReply> {
    if (actor.token !== null) return this.#getTokenSelf(actor, actor.token.id);
    return { token: null, ...(await this.getSelf(actor)) };
  }

  async getSelf(actor: Actor): Promise<SelfReply> {
    const user = await store.loadUser(this.sql, actor.userId);
    if (user === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    const orgs = await store.listUserOrganizations(this.sql, actor.userId);
    const visible = actor.session?.sso === true ? orgs.map(withoutLoginPolicies) : orgs;
    return presentSelf(user, actor.orgId, actor.role, visible);
  }

  /** Returns the token and its organization, but no data of its creator. */
  async #getTokenSelf({ orgId, userId, role }: Actor, tokenId: string): Promise<MeReply> {
    const token = await loadManagementToken(this.sql, orgId, tokenId);
    if (token === null) throw new Unauthenticated('this management token was deleted');
    const { id, name, tokenPrefix, projectId } = token;
    const times = { expiresAt: token.expiresAt?.toISOString() ?? null, createdAt: token.createdAt.toISOString() };
    const orgs = (await store.listUserOrganizations(this.sql, userId)).filter((org) => org.id === orgId);
    return {
      user: null,
      token: { id, name, tokenPrefix, projectId, ...times },
      orgId,
      role,
      orgs: orgs.map((org) => ({ ...org, role })),
    };
  }
}

/** Whether the invitation link was sent only by mail, so that using it proves access to the mailbox. */
const isMailboxProven = (invitee: VerifiedInvitee): boolean =>
  invitee.kind === 'mailbox' || (invitee.kind === 'owner' ? invitee.provesMailbox : invitee.verified);

async function selectActiveOrganization(tx: Tx, user: store.UserRow, preferredOrgId: string | null) {
  const orgs = await store.listUserOrganizations(tx, user.id);
  const live = orgs.filter(({ purgeAt }) => purgeAt === undefined);
  const active = live.find((org) => org.id === preferredOrgId) ?? live[0] ?? orgs[0];
  if (active === undefined)
    throw new Forbidden('you are no longer a member of any organization: ask for an invitation');
  return { active, orgs };
}

/** A session of single sign-on fulfils the policies of its organization. */
const withoutLoginPolicies = ({ secondFactorMissing, ssoRequired, ...org }: OrganizationWithRole) => org;

function presentSelf(user: store.UserRow, orgId: string, role: Role, orgs: readonly OrganizationWithRole[]): SelfReply {
  const { id, email, name } = user;
  const presentedUser = { id, email, name, emailVerified: user.emailVerifiedAt !== null };
  return { user: presentedUser, orgId, role, orgs: [...orgs] };
}

/** Throws {@link Conflict} when a user with that e-mail address exists. */
async function insertUserOrConflict(tx: Tx, user: store.NewUser): Promise<void> {
  try {
    await store.insertUser(tx, user);
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key'))
      throw new Conflict('this e-mail already has an account: log in instead');
    throw error;
  }
}

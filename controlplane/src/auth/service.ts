/** Signup, login and who an account belongs to: rules and transactions. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit, recordUserAudit } from '../audit/audit-trail.js';
import { isUniqueViolation, type Sql, type Tx } from '../db/sql.js';
import { Conflict, Forbidden, NotFound, Unauthenticated } from '../domain/errors.js';
import type { Actor, Role } from '../http/route-access.js';
import { normaliseEmail } from '../http/schema.js';
import { NOTHING_SUSPENDED, type SuspensionResult } from '../suspension/service.js';
import type { IdentityProof, Throttle } from '../throttling/throttle.js';
import { loadManagementToken } from './management-tokens/store.js';
import type { PasswordHasher } from './passwords/password-hasher.js';
import type { PasswordVerifier } from './passwords/password-verifier.js';
import type { AccountRecovery } from './recovery/account-recovery.js';
import { reclaimAccount } from './recovery/reclaim-account.js';
import { type ClientInfo, SESSION_ENDED_MESSAGE, type SessionService } from './sessions/session-service.js';
import { markSessionAuthenticated, revokeUserSessions } from './sessions/session-store.js';
import type { SignupPolicy } from './signup-policy.js';
import { createOrganization } from './users/create-organization.js';
import type { LoginReply, MeReply, OrganizationWithRole, SelfReply, SignupReply } from './users/schema.js';
import * as store from './users/user-store.js';

interface SignupRequest {
  readonly email: string;
  readonly password: string;
  readonly name: string;
  readonly orgName: string;
}

/**
 * Somebody who was invited and has proven, by the mail's token, to read that mailbox; and what else that person showed.
 * `new`: the address had no account. `owner`: of the account with that address, by its password or a session.
 * `mailbox`: the account's address was never verified, so its creator never proved to own the mailbox; `founder`: the
 * person has shown the account's password or a session as well.
 */
export type VerifiedInvitee =
  | { readonly kind: 'new'; readonly name: string; readonly passwordHash: string; readonly verified: boolean }
  | {
      readonly kind: 'owner';
      readonly userId: string /** The link proves the mailbox. */;
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
    readonly recovery: AccountRecovery,
    readonly passwordVerifier: PasswordVerifier,
    readonly signupPolicy: SignupPolicy,
  ) {}

  /** User, organization and first project together, or none of them. A known e-mail is a {@link Conflict}. */
  async signup(request: SignupRequest, client: ClientInfo): Promise<SignupReply> {
    const email = normaliseEmail(request.email);
    await this.signupPolicy.assertOpen();
    const passwordHash = await this.hasher.hash(request.password, client.ip);
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

  async login(request: { email: string; password: string }, client: ClientInfo): Promise<LoginReply> {
    return this.#verifyPasswordAndOpen(request, client.ip, (tx, user) =>
      this.openSessionInPreferredOrg(tx, user, user.activeOrgId, client),
    );
  }

  /** As {@link login}, but the session is a browser's: `cookie` is what its cookie holds. */
  async loginBrowser(
    request: { email: string; password: string },
    client: ClientInfo,
  ): Promise<{ cookie: string; reply: SelfReply }> {
    return this.#verifyPasswordAndOpen(request, client.ip, async (tx, user) => {
      const { active, orgs } = await selectActiveOrganization(tx, user, user.activeOrgId);
      const cookie = await this.sessions.openBrowserSession(tx, user, active.id, client);
      return { cookie, orgId: active.id, reply: presentSelf(user, active.id, active.role, orgs) };
    });
  }

  /** Unknown e-mail and wrong password are one and the same answer, in the same time. */
  async #verifyPasswordAndOpen<T extends { readonly orgId: string }>(
    request: { email: string; password: string },
    ip: string,
    open: (tx: Tx, user: store.UserRow) => Promise<T>,
  ): Promise<T> {
    const email = normaliseEmail(request.email);
    const user = await store.loadUserByEmail(this.sql, email);
    if (
      !(await this.passwordVerifier.verifyPassword(email, user?.passwordHash ?? null, request.password, ip, 'none')) ||
      user === null
    ) {
      throw new Unauthenticated('wrong e-mail or password');
    }
    const opened = await this.sql.begin(async (tx) => {
      await this.throttle.clearFailuresAndTrustAddress(tx, email, ip);
      const reply = await open(tx, user);
      const actor = { userId: user.id, email, orgId: reply.orgId, ip };
      await recordAudit(tx, actor, 'session.create', { type: 'user', id: user.id }, {});
      return reply;
    });
    return opened as T;
  }

  /** A session in the preferred organization, else in the oldest membership. */
  async openSessionInPreferredOrg(
    tx: Tx,
    user: store.UserRow,
    preferredOrgId: string | null,
    client: ClientInfo,
  ): Promise<LoginReply> {
    const { active, orgs } = await selectActiveOrganization(tx, user, preferredOrgId);
    const token = await this.sessions.openBearerSession(tx, user, active.id, client);
    return { token, user: { id: user.id, email: user.email, name: user.name }, orgId: active.id, orgs };
  }

  /**
   * Makes the person a member. An account whose address was never verified may have been made by somebody else, in wait
   * for this invitation: it passes to the reader of the mailbox, whose password it gets ({@link reclaimAccount}). The caller announces what was suspended.
   */
  async addInvitedMember(
    tx: Tx,
    { email, orgId, role }: { readonly email: string; readonly orgId: string; readonly role: Role },
    invitee: VerifiedInvitee,
    ip: string,
  ): Promise<{ user: store.UserRow; suspended: SuspensionResult }> {
    // Before the account is locked, as in a login.
    const isReclaimed = invitee.kind === 'mailbox' && !invitee.isFounder;
    if (isMailboxProven(invitee)) await this.throttle.recordMailboxProof(tx, email, ip, isReclaimed);
    else await this.throttle.clearFailuresAndTrustAddress(tx, email, ip);
    const known = await store.lockUserByEmail(tx, email);
    const expected = invitee.kind === 'new' ? null : invitee.userId;
    const takenOver = invitee.kind === 'mailbox';
    if ((known?.id ?? null) !== expected || (takenOver && known?.emailVerifiedAt !== null)) {
      throw new Conflict('the account of this address has just changed: try again');
    }
    const userId = known?.id ?? uuidv7(Date.now());
    let suspended = NOTHING_SUSPENDED;
    if (invitee.kind === 'new') {
      const { name, passwordHash, verified } = invitee;
      await insertUserOrConflict(tx, { id: userId, email, name, passwordHash, emailVerified: verified });
    } else if (invitee.kind === 'mailbox') {
      await store.setPasswordHash(tx, userId, invitee.passwordHash);
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

  /** Wrong passwords count as failed logins: throws `TooManyAttempts` as a login would. */
  async verifyAccountOwner(
    user: store.UserRow,
    password: string | undefined,
    sessionOf: string | null,
    { ip, proof }: { readonly ip: string; readonly proof: IdentityProof },
  ): Promise<boolean> {
    if (sessionOf === user.id) return true;
    if (password === undefined) return false;
    return this.passwordVerifier.verifyPassword(user.email, user.passwordHash, password, ip, proof);
  }

  /** Asks for the password again in a live session, for what cannot be undone. Throws {@link Forbidden} where it is wrong. */
  async confirmPassword(actor: Actor, password: string): Promise<void> {
    await this.#loadUserByPassword(actor, password, new Forbidden('password is not the password of your account'));
  }

  async #loadUserByPassword(actor: Actor, password: string, wrong: Forbidden): Promise<store.UserRow> {
    const user = await store.loadUser(this.sql, actor.userId);
    if (user === null) throw new Unauthenticated(SESSION_ENDED_MESSAGE);
    if (await this.passwordVerifier.verifyPassword(user.email, user.passwordHash, password, actor.ip, 'session'))
      return user;
    throw wrong;
  }

  /** Ends all other sessions; the mails that were asked for before are dead. */
  async changePassword(actor: Actor, current: string, password: string): Promise<void> {
    const wrong = new Forbidden('currentPassword is not the password of this account');
    const user = await this.#loadUserByPassword(actor, current, wrong);
    const passwordHash = await this.hasher.hash(password, actor.ip);
    await this.sql.begin(async (tx) => {
      // Hashing takes its time: a password that was set meanwhile, by whoever reads the mailbox, stays.
      const now = await store.lockUserByEmail(tx, user.email);
      if (now?.passwordHash !== user.passwordHash) throw wrong;
      await store.setPasswordHash(tx, user.id, passwordHash);
      await revokeUserSessions(tx, user.id, actor.session?.id ?? null);
      if (actor.session !== null) await markSessionAuthenticated(tx, actor.session.id);
      await recordUserAudit(tx, user, actor.ip, 'user.password_change', { password: ['[secret]', '[secret]'] });
    });
  }

  /** A token for another organization of the user, which the next login opens too. */
  async switchOrganization(actor: Actor, orgId: string, client: ClientInfo): Promise<string> {
    return this.sql.begin(async (tx) => {
      const user = await store.loadUser(tx, actor.userId);
      const role = await store.lockMembership(tx, orgId, actor.userId);
      if (user === null || role === null) throw new NotFound('organization');
      // The account is locked before the session, as by a change of the password: the other order could deadlock.
      await store.setActiveOrganization(tx, actor.userId, orgId);
      const there = { ...actor, orgId, role };
      await recordAudit(tx, there, 'session.create', { type: 'user', id: actor.userId }, {});
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
    return presentSelf(user, actor.orgId, actor.role, await store.listUserOrganizations(this.sql, actor.userId));
  }

  /** Of its organization alone, and nothing of its creator. */
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

/** Whether the link of the invitation was in a mail alone. */
const isMailboxProven = (invitee: VerifiedInvitee): boolean =>
  invitee.kind === 'mailbox' || (invitee.kind === 'owner' ? invitee.provesMailbox : invitee.verified);

async function selectActiveOrganization(tx: Tx, user: store.UserRow, preferredOrgId: string | null) {
  const orgs = await store.listUserOrganizations(tx, user.id);
  const live = orgs.filter(({ purgeAt }) => purgeAt === undefined);
  const active = live.find((org) => org.id === preferredOrgId) ?? live[0] ?? orgs[0];
  if (active === undefined) throw new Forbidden('you are in no organization any more: ask for an invitation');
  return { active, orgs };
}

function presentSelf(user: store.UserRow, orgId: string, role: Role, orgs: readonly OrganizationWithRole[]): SelfReply {
  const { id, email, name } = user;
  const shown = { id, email, name, emailVerified: user.emailVerifiedAt !== null };
  return { user: shown, orgId, role, orgs: [...orgs] };
}

/** A user with that e-mail exists already: {@link Conflict}. */
async function insertUserOrConflict(tx: Tx, user: store.NewUser): Promise<void> {
  try {
    await store.insertUser(tx, user);
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key'))
      throw new Conflict('this e-mail already has an account: log in instead');
    throw error;
  }
}

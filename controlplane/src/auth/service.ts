/** Signup, login and who an account belongs to: rules and transactions. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit, recordUserAudit } from '../audit/trail.js';
import { type Sql, type Tx, violates } from '../db/sql.js';
import { Conflict, Forbidden, NotFound, Unauthenticated } from '../domain/errors.js';
import type { Actor, Role } from '../http/access.js';
import { normaliseEmail } from '../http/schema.js';
import { NOTHING_SUSPENDED, type Suspended } from '../suspension/service.js';
import { foundOrganization } from './found-organization.js';
import { loadToken } from './management-token-store.js';
import type { PasswordCheck } from './password-check.js';
import type { PasswordHasher } from './password-hasher.js';
import type { AccountRecovery } from './recovery.js';
import type { LoginReply, MeReply, OrganizationWithRole, SelfReply, SignupReply } from './schema.js';
import { endSessions, markAuthenticated } from './session-store.js';
import { type Client, ENDED, type Sessions } from './sessions.js';
import type { SignupPolicy } from './signup-policy.js';
import * as store from './store.js';
import { takeOver } from './takeover.js';
import type { Proof, Throttle } from './throttle.js';

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
export type Admission =
  | { readonly kind: 'new'; readonly name: string; readonly passwordHash: string; readonly verified: boolean }
  | { readonly kind: 'owner'; readonly userId: string /** The link proves the mailbox. */; readonly mailbox: boolean }
  | {
      readonly kind: 'mailbox';
      readonly userId: string;
      readonly passwordHash: string;
      readonly name: string | undefined;
      readonly founder: boolean;
    };

export class AuthService {
  constructor(
    readonly sql: Sql,
    readonly sessions: Sessions,
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly recovery: AccountRecovery,
    readonly passwords: PasswordCheck,
    readonly signupPolicy: SignupPolicy,
  ) {}

  /** User, organization and first project together, or none of them. A known e-mail is a {@link Conflict}. */
  async signup(request: SignupRequest, client: Client): Promise<SignupReply> {
    const email = normaliseEmail(request.email);
    await this.signupPolicy.assertOpen();
    const passwordHash = await this.hasher.hash(request.password, client.ip);
    const user = { id: uuidv7(Date.now()), email, name: request.name, passwordHash, verified: false };
    const { org, token } = await this.sql.begin(async (tx) => {
      await this.signupPolicy.hold(tx);
      await insertNewUser(tx, user);
      const created = await foundOrganization(tx, user, request.orgName, client.ip);
      await store.setActiveOrg(tx, user.id, created.id);
      await this.throttle.proveLogin(tx, email, client.ip);
      const version = { id: user.id, sessionVersion: 1 };
      return { org: created, token: await this.sessions.open(tx, version, created.id, client) };
    });
    this.recovery.sendVerification(user);
    return { token, user: { id: user.id, email, name: user.name }, org };
  }

  async login(request: { email: string; password: string }, client: Client): Promise<LoginReply> {
    return this.#login(request, client.ip, (tx, user) => this.openSession(tx, user, user.activeOrgId, client));
  }

  /** As {@link login}, but the session is a browser's: `cookie` is what its cookie holds. */
  async browserLogin(
    request: { email: string; password: string },
    client: Client,
  ): Promise<{ cookie: string; reply: SelfReply }> {
    return this.#login(request, client.ip, async (tx, user) => {
      const { active, orgs } = await activeOrganization(tx, user, user.activeOrgId);
      const cookie = await this.sessions.openBrowser(tx, user, active.id, client);
      return { cookie, orgId: active.id, reply: presentMe(user, active.id, active.role, orgs) };
    });
  }

  /** Unknown e-mail and wrong password are one and the same answer, in the same time. */
  async #login<T extends { readonly orgId: string }>(
    request: { email: string; password: string },
    ip: string,
    open: (tx: Tx, user: store.UserRow) => Promise<T>,
  ): Promise<T> {
    const email = normaliseEmail(request.email);
    const user = await store.loadUserByEmail(this.sql, email);
    if (
      !(await this.passwords.isOf(email, user?.passwordHash ?? null, request.password, ip, 'none')) ||
      user === null
    ) {
      throw new Unauthenticated('wrong e-mail or password');
    }
    const opened = await this.sql.begin(async (tx) => {
      await this.throttle.proveLogin(tx, email, ip);
      const reply = await open(tx, user);
      const actor = { userId: user.id, email, orgId: reply.orgId, ip };
      await recordAudit(tx, actor, 'session.create', { type: 'user', id: user.id }, {});
      return reply;
    });
    return opened as T;
  }

  /** A session in the preferred organization, else in the oldest membership. */
  async openSession(tx: Tx, user: store.UserRow, preferredOrgId: string | null, client: Client): Promise<LoginReply> {
    const { active, orgs } = await activeOrganization(tx, user, preferredOrgId);
    const token = await this.sessions.open(tx, user, active.id, client);
    return { token, user: { id: user.id, email: user.email, name: user.name }, orgId: active.id, orgs };
  }

  /**
   * Makes the person a member. An account whose address was never verified may have been made by somebody else, in wait
   * for this invitation: it passes to the reader of the mailbox, whose password it gets ({@link takeOver}). The caller announces what was suspended.
   */
  async admit(
    tx: Tx,
    { email, orgId, role }: { readonly email: string; readonly orgId: string; readonly role: Role },
    person: Admission,
    ip: string,
  ): Promise<{ user: store.UserRow; suspended: Suspended }> {
    // Before the account is locked, as in a login.
    const strangers = person.kind === 'mailbox' && !person.founder;
    if (provesMailbox(person)) await this.throttle.proveMailbox(tx, email, ip, strangers);
    else await this.throttle.proveLogin(tx, email, ip);
    const known = await store.lockUserByEmail(tx, email);
    const expected = person.kind === 'new' ? null : person.userId;
    const takenOver = person.kind === 'mailbox';
    if ((known?.id ?? null) !== expected || (takenOver && known?.emailVerifiedAt !== null)) {
      throw new Conflict('the account of this address has just changed: try again');
    }
    const userId = known?.id ?? uuidv7(Date.now());
    let suspended = NOTHING_SUSPENDED;
    if (person.kind === 'new') {
      const { name, passwordHash, verified } = person;
      await insertNewUser(tx, { id: userId, email, name, passwordHash, verified });
    } else if (person.kind === 'mailbox') {
      await store.setPassword(tx, userId, person.passwordHash);
      if (strangers) suspended = await takeOver(tx, { id: userId, email }, ip);
      else await endSessions(tx, userId, null);
      await store.markVerified(tx, userId);
      if (person.name !== undefined) await store.setName(tx, userId, person.name);
    }
    await store.insertMembership(tx, orgId, userId, role);
    await store.setActiveOrg(tx, userId, orgId);
    return { user: (await store.loadUser(tx, userId))!, suspended };
  }

  findAccount(email: string): Promise<store.UserRow | null> {
    return store.loadUserByEmail(this.sql, email);
  }

  /** Wrong passwords count as failed logins: throws `TooManyAttempts` as a login would. */
  async provesAccount(
    user: store.UserRow,
    password: string | undefined,
    sessionOf: string | null,
    { ip, proof }: { readonly ip: string; readonly proof: Proof },
  ): Promise<boolean> {
    if (sessionOf === user.id) return true;
    if (password === undefined) return false;
    return this.passwords.isOf(user.email, user.passwordHash, password, ip, proof);
  }

  /** Asks for the password again in a live session, for what cannot be undone. Throws {@link Forbidden} where it is wrong. */
  async confirmPassword(actor: Actor, password: string): Promise<void> {
    await this.#provenUser(actor, password, new Forbidden('password is not the password of your account'));
  }

  async #provenUser(actor: Actor, password: string, wrong: Forbidden): Promise<store.UserRow> {
    const user = await store.loadUser(this.sql, actor.userId);
    if (user === null) throw new Unauthenticated(ENDED);
    if (await this.passwords.isOf(user.email, user.passwordHash, password, actor.ip, 'session')) return user;
    throw wrong;
  }

  /** Ends all other sessions; the mails that were asked for before are dead. */
  async changePassword(actor: Actor, current: string, password: string): Promise<void> {
    const wrong = new Forbidden('currentPassword is not the password of this account');
    const user = await this.#provenUser(actor, current, wrong);
    const passwordHash = await this.hasher.hash(password, actor.ip);
    await this.sql.begin(async (tx) => {
      // Hashing takes its time: a password that was set meanwhile, by whoever reads the mailbox, stays.
      const now = await store.lockUserByEmail(tx, user.email);
      if (now?.passwordHash !== user.passwordHash) throw wrong;
      await store.setPassword(tx, user.id, passwordHash);
      await endSessions(tx, user.id, actor.session?.id ?? null);
      if (actor.session !== null) await markAuthenticated(tx, actor.session.id);
      await recordUserAudit(tx, user, actor.ip, 'user.password_change', { password: ['[secret]', '[secret]'] });
    });
  }

  /** A token for another organization of the user, which the next login opens too. */
  async switchOrg(actor: Actor, orgId: string, client: Client): Promise<string> {
    return this.sql.begin(async (tx) => {
      const user = await store.loadUser(tx, actor.userId);
      const role = await store.holdMembership(tx, orgId, actor.userId);
      if (user === null || role === null) throw new NotFound('organization');
      // The account is locked before the session, as by a change of the password: the other order could deadlock.
      await store.setActiveOrg(tx, actor.userId, orgId);
      const there = { ...actor, orgId, role };
      await recordAudit(tx, there, 'session.create', { type: 'user', id: actor.userId }, {});
      return this.sessions.move(tx, actor, user, orgId, client);
    });
  }

  async rename(actor: Actor, name: string): Promise<SelfReply> {
    await this.sql.begin(async (tx) => {
      const before = await store.loadUser(tx, actor.userId);
      if (before === null) throw new Unauthenticated(ENDED);
      await store.setName(tx, actor.userId, name);
      await recordUserAudit(tx, before, actor.ip, 'user.update', { name: [before.name, name] });
    });
    return this.self(actor);
  }

  async me(actor: Actor): Promise<MeReply> {
    if (actor.token !== null) return this.#programSelf(actor, actor.token.id);
    return { token: null, ...(await this.self(actor)) };
  }

  async self(actor: Actor): Promise<SelfReply> {
    const user = await store.loadUser(this.sql, actor.userId);
    if (user === null) throw new Unauthenticated(ENDED);
    return presentMe(user, actor.orgId, actor.role, await store.listOrganizations(this.sql, actor.userId));
  }

  /** Of its organization alone, and nothing of its creator. */
  async #programSelf({ orgId, userId, role }: Actor, tokenId: string): Promise<MeReply> {
    const token = await loadToken(this.sql, orgId, tokenId);
    if (token === null) throw new Unauthenticated('this management token was deleted');
    const { id, name, tokenPrefix, projectId } = token;
    const times = { expiresAt: token.expiresAt?.toISOString() ?? null, createdAt: token.createdAt.toISOString() };
    const orgs = (await store.listOrganizations(this.sql, userId)).filter((org) => org.id === orgId);
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
const provesMailbox = (person: Admission): boolean =>
  person.kind === 'mailbox' || (person.kind === 'owner' ? person.mailbox : person.verified);

async function activeOrganization(tx: Tx, user: store.UserRow, preferredOrgId: string | null) {
  const orgs = await store.listOrganizations(tx, user.id);
  const live = orgs.filter(({ purgeAt }) => purgeAt === undefined);
  const active = live.find((org) => org.id === preferredOrgId) ?? live[0] ?? orgs[0];
  if (active === undefined) throw new Forbidden('you are in no organization any more: ask for an invitation');
  return { active, orgs };
}

function presentMe(user: store.UserRow, orgId: string, role: Role, orgs: readonly OrganizationWithRole[]): SelfReply {
  const { id, email, name } = user;
  const shown = { id, email, name, emailVerified: user.emailVerifiedAt !== null };
  return { user: shown, orgId, role, orgs: [...orgs] };
}

/** A user with that e-mail exists already: {@link Conflict}. */
async function insertNewUser(tx: Tx, user: store.NewUser): Promise<void> {
  try {
    await store.insertUser(tx, user);
  } catch (error) {
    if (violates(error, 'users_email_key')) throw new Conflict('this e-mail already has an account: log in instead');
    throw error;
  }
}

/**
 * Accepting an invitation. The link proves that somebody reads the mailbox, and nothing else: a verified account joins
 * only when its owner wants it, an unverified one passes to the mailbox, and the inviter must still be one who may.
 */
import { recordAudit } from '../audit/audit-trail.js';
import type { PasswordHasher } from '../auth/passwords/password-hasher.js';
import type { AuthService, VerifiedInvitee } from '../auth/service.js';
import type { ClientInfo } from '../auth/sessions/session-service.js';
import { hashEmailToken } from '../auth/users/email-token.js';
import type { LoginReply } from '../auth/users/schema.js';
import type { UserRow } from '../auth/users/user-store.js';
import type { Sql, Tx } from '../db/sql.js';
import { AccountAlreadyExists, Forbidden, InvalidInput } from '../domain/errors.js';
import { invalidateSuspendedOrganizations } from '../suspension/service.js';
import { mayAssignRole } from './service.js';
import * as store from './store.js';

interface AcceptanceRequest {
  readonly token: string;
  /** Needed by a new user. */
  readonly name?: string;
  /** A new user's, or that of the account with the invited address. */
  readonly password?: string;
}

const UNKNOWN_INVITATION_MESSAGE = 'this invitation is unknown, used or expired: ask for a new one';

export class InvitationAcceptance {
  constructor(
    readonly sql: Sql,
    readonly hasher: PasswordHasher,
    readonly auth: AuthService,
  ) {}

  /** `sessionOf`: the user whose session the caller happens to have. */
  async accept(request: AcceptanceRequest, sessionUserId: string | null, client: ClientInfo): Promise<LoginReply> {
    const tokenHash = hashEmailToken(request.token);
    const open = await store.findLiveInvitation(this.sql, tokenHash);
    if (open === null) throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
    // Outside of the transaction: hashing waits its turn, and locks must not.
    const person = await this.#verifyInvitee(open, request, sessionUserId, client.ip);
    const { reply, suspended } = await this.sql.begin(async (tx) => {
      if ((await store.lockOrganizationMembers(tx, open.orgId)) === null)
        throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
      const invitation = await store.findLiveInvitation(tx, tokenHash);
      if (invitation === null) throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
      await assertInviterStillAllowed(tx, invitation);
      const { orgId, email, role } = invitation;
      const { user, suspended } = await this.auth.addInvitedMember(tx, { email, orgId, role }, person, client.ip);
      await store.deleteInvitation(tx, invitation.id);
      const actor = { userId: user.id, email, orgId, ip: client.ip };
      await recordAudit(tx, actor, 'member.join', { type: 'user', id: user.id }, { role: [null, role] });
      const reply = await this.auth.openSessionInPreferredOrg(tx, user, orgId, client);
      await invalidateSuspendedOrganizations(tx, suspended);
      return { reply, suspended };
    });
    this.auth.recovery.notifySuspension(open.email, suspended);
    return reply;
  }

  async #verifyInvitee(
    { email, linkShown }: store.InvitationRow,
    { name, password }: AcceptanceRequest,
    sessionOf: string | null,
    ip: string,
  ): Promise<VerifiedInvitee> {
    const user = await this.auth.findUserByEmail(email);
    // A link that the inviter has seen shows nothing about the mailbox.
    if (user !== null && (linkShown || user.emailVerifiedAt !== null)) {
      const proof = linkShown ? 'none' : 'mailbox';
      const proven = await this.auth.verifyAccountOwner(user, password, sessionOf, { ip, proof });
      if (proven) return { kind: 'owner', userId: user.id, provesMailbox: !linkShown };
      throw new AccountAlreadyExists('this address has an account already: log in to it first, or give its password');
    }
    if (user === null && name === undefined) {
      throw new InvalidInput('name is required: this e-mail has no account yet');
    }
    if (password === undefined) {
      const why = user === null ? 'has no account yet' : 'was never confirmed: the password becomes its new one';
      throw new InvalidInput(`password is required: this e-mail ${why}`);
    }
    const passwordHash = await this.hasher.hash(password, ip);
    if (user === null) return { kind: 'new', name: name!, passwordHash, verified: !linkShown };
    const founder = await this.#isAccountFounder(user, password, sessionOf, ip);
    return { kind: 'mailbox', userId: user.id, passwordHash, name, isFounder: founder };
  }

  /** Whether the reader of the mailbox made the account, too. No failed login: any new password is welcome here. */
  async #isAccountFounder(user: UserRow, password: string, sessionOf: string | null, ip: string): Promise<boolean> {
    return sessionOf === user.id || (await this.hasher.verify(user.passwordHash, password, ip));
  }
}

async function assertInviterStillAllowed(tx: Tx, { orgId, role, invitedBy }: store.InvitationRow): Promise<void> {
  const inviter = invitedBy === null ? null : await store.loadRole(tx, orgId, invitedBy);
  if (inviter === null || !mayAssignRole(inviter, role)) {
    throw new Forbidden(`whoever invited you may not make anybody ${role} any more: ask for a new invitation`);
  }
}

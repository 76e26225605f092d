/**
 * Acceptance of an invitation. The link proves access to the mailbox and nothing else. A verified account joins only
 * with the consent of its owner (session or password). An unverified account passes to the reader of the mailbox. The
 * inviter must still have the right to invite.
 */
import { recordAudit } from '../audit/audit-trail.js';
import type { PasswordHasher } from '../auth/passwords/password-hasher.js';
import type { AuthService, VerifiedInvitee } from '../auth/service.js';
import type { ClientInfo } from '../auth/sessions/session-service.js';
import type { LoginReply } from '../auth/users/auth-schema.js';
import { hashEmailToken } from '../auth/users/email-token.js';
import type { UserRow } from '../auth/users/user-and-membership-store.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { AccountAlreadyExists, Forbidden, InvalidInput } from '../domain/errors.js';
import { invalidateSuspendedOrganizations } from '../suspension/unproven-founder-item-suspension.js';
import type { InvitationDetails } from './schema.js';
import { mayAssignRole } from './service.js';
import * as store from './store.js';

interface AcceptanceRequest {
  readonly token: string;
  /** Required for a new user. */
  readonly name?: string;
  /** The password of a new user, or of the existing account with the invited address. */
  readonly password?: string;
  /** Of the second factor of the existing account, beside its password. */
  readonly code?: string;
}

const UNKNOWN_INVITATION_MESSAGE = 'this invitation is unknown, used or expired: ask for a new invitation';

export class InvitationAcceptance {
  constructor(
    readonly sql: Sql,
    readonly hasher: PasswordHasher,
    readonly auth: AuthService,
  ) {}

  /** `sessionUserId`: the user of the caller's session, or null. */
  async accept(request: AcceptanceRequest, sessionUserId: string | null, client: ClientInfo): Promise<LoginReply> {
    const tokenHash = hashEmailToken(request.token);
    const invitationBefore = await store.findLiveInvitation(this.sql, tokenHash);
    if (invitationBefore === null) throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
    // Outside the transaction: hashing may wait in a queue, and locks must not be held meanwhile.
    const invitee = await this.#verifyInvitee(invitationBefore, request, sessionUserId, client.ip);
    const { reply, suspended } = await this.sql.begin(async (tx) => {
      if ((await store.lockOrganizationMembers(tx, invitationBefore.orgId)) === null)
        throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
      const invitation = await store.findLiveInvitation(tx, tokenHash);
      if (invitation === null) throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
      await assertInviterStillAllowed(tx, invitation);
      const { orgId, email, role } = invitation;
      const { user, suspended } = await this.auth.addInvitedMember(tx, { email, orgId, role }, invitee, client.ip);
      await store.deleteInvitation(tx, invitation.id);
      const actor = { userId: user.id, email, orgId, ip: client.ip };
      await recordAudit(tx, actor, 'member.join', { type: 'user', id: user.id }, { role: [null, role] });
      const reply = await this.auth.openSessionInPreferredOrg(tx, user, orgId, client);
      await invalidateSuspendedOrganizations(tx, suspended);
      return { reply, suspended };
    });
    this.auth.recovery.notifySuspension(invitationBefore.email, suspended);
    return reply;
  }

  /** What the invited person sees before the acceptance. `sessionUserId`: the user of the caller's session, or null. */
  async describe(token: string, sessionUserId: string | null): Promise<InvitationDetails> {
    const invitation = await store.findLiveInvitation(this.sql, hashEmailToken(token));
    if (invitation === null) throw new InvalidInput(UNKNOWN_INVITATION_MESSAGE);
    const { email, role, linkShown } = invitation;
    const { inviterName, inviterEmail, ...details } = await store.loadInvitationDetails(this.sql, invitation);
    const user = await this.auth.findUserByEmail(email);
    const inviter = inviterName === null || inviterEmail === null ? null : { name: inviterName, email: inviterEmail };
    return { ...details, role, email, inviter, account: accountKind(user, linkShown, sessionUserId) };
  }

  async #verifyInvitee(
    { email, linkShown }: store.InvitationRow,
    { name, password, code }: AcceptanceRequest,
    sessionUserId: string | null,
    ip: string,
  ): Promise<VerifiedInvitee> {
    const user = await this.auth.findUserByEmail(email);
    // A link that the inviter has seen does not prove access to the mailbox.
    if (user !== null && (linkShown || user.emailVerifiedAt !== null)) {
      const proof = linkShown ? 'none' : 'mailbox';
      const isOwner = await this.auth.verifyAccountOwner(
        user,
        { ...(password === undefined ? {} : { password }), ...(code === undefined ? {} : { code }) },
        sessionUserId,
        { ip, proof },
      );
      if (isOwner) return { kind: 'owner', userId: user.id, provesMailbox: !linkShown };
      throw new AccountAlreadyExists(
        'an account with this e-mail address exists already: log in first, or send its password',
      );
    }
    if (user === null && name === undefined) {
      throw new InvalidInput('name is required: this e-mail has no account yet');
    }
    if (password === undefined) {
      const reason = user === null ? 'has no account yet' : 'was never confirmed, so its account needs a new password';
      throw new InvalidInput(`password is required: this e-mail ${reason}`);
    }
    const passwordHash = await this.hasher.assertStrongAndHash(password, ip);
    if (user === null) return { kind: 'new', name: name!, passwordHash, verified: !linkShown };
    const isFounder = await this.#isAccountFounder(user, password, sessionUserId, ip);
    return { kind: 'mailbox', userId: user.id, passwordHash, name, isFounder: isFounder };
  }

  /**
   * Whether the reader of the mailbox also created the account. A wrong password is not a failed login: the reader may
   * set any new password.
   */
  async #isAccountFounder(user: UserRow, password: string, sessionUserId: string | null, ip: string): Promise<boolean> {
    return sessionUserId === user.id || (await this.hasher.verify(user.passwordHash, password, ip));
  }
}

/** The same decision as of the acceptance: which proof the address needs. */
function accountKind(
  user: UserRow | null,
  linkShown: boolean,
  sessionUserId: string | null,
): InvitationDetails['account'] {
  if (user === null) return 'new';
  if (!linkShown && user.emailVerifiedAt === null) return 'unconfirmed';
  return user.id === sessionUserId ? 'session' : 'existing';
}

async function assertInviterStillAllowed(tx: Tx, { orgId, role, invitedBy }: store.InvitationRow): Promise<void> {
  const inviter = invitedBy === null ? null : await store.loadRole(tx, orgId, invitedBy);
  if (inviter === null || !mayAssignRole(inviter, role)) {
    throw new Forbidden(`the person who invited you can no longer assign the role ${role}: ask for a new invitation`);
  }
}

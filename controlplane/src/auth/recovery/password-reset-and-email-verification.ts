/**
 * Password reset and e-mail verification with single-use tokens that are sent by mail. Requests for mails return at
 * once, so that the response does not reveal whether an account exists.
 */
import { recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { InvalidInput, Unauthenticated } from '../../domain/errors.js';
import { normaliseEmail } from '../../http/schema.js';
import { createPasswordResetMail, createSuspensionMail, createVerificationMail } from '../../mail/mail-texts.js';
import type { Mailer } from '../../mail/mailer.js';
import type { BackgroundTasks } from '../../ops/background-tasks.js';
import {
  invalidateSuspendedOrganizations,
  NOTHING_SUSPENDED,
  type SuspensionResult,
} from '../../suspension/unproven-founder-item-suspension.js';
import type { Throttle } from '../../throttling/throttle.js';
import { deleteTokensCreatedBy } from '../management-tokens/store.js';
import type { PasswordHasher } from '../passwords/password-hasher.js';
import type { PasswordVerifier } from '../passwords/password-verifier.js';
import { revokeUserSessions } from '../sessions/session-store.js';
import { createEmailToken, hashEmailToken } from '../users/email-token.js';
import * as store from '../users/user-and-membership-store.js';
import { ensureOrganization, reclaimAccount } from './reclaim-account.js';

const RESET_TOKEN_LIFETIME_S = 3_600;
const VERIFICATION_TOKEN_LIFETIME_S = 86_400;
/**
 * Mails of one kind per address and window that a caller may request: enough for real use, too few to flood a mailbox.
 */
const MAILS_PER_ADDRESS_MAX = 5;
const MAILS_WINDOW_S = 3_600;
const UNKNOWN_VERIFICATION_MESSAGE = 'this verification token is unknown, used or expired';

export class PasswordResetAndEmailVerification {
  constructor(
    readonly sql: Sql,
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly passwordVerifier: PasswordVerifier,
    readonly mailer: Mailer,
    readonly background: BackgroundTasks,
    readonly publicUrl: string,
    /**
     * True when mails leave the server. Otherwise the operator passes links on and is responsible for who gets them
     * (docs/access.md).
     */
    readonly deliversMail: boolean,
  ) {}

  /** Returns at once: neither the response nor its time reveals whether the e-mail address is known. */
  requestPasswordReset(rawEmail: string): void {
    const email = normaliseEmail(rawEmail);
    this.background.run('reset mail', async () => {
      const user = await store.loadUserByEmail(this.sql, email);
      if (user === null || !(await this.#tryUseMailLimit('reset', user.id))) return;
      const { token, hash } = createEmailToken();
      await this.sql.begin((tx) => store.replaceEmailToken(tx, user.id, 'reset', hash, RESET_TOKEN_LIFETIME_S));
      this.mailer.enqueue(createPasswordResetMail(this.publicUrl, email, token));
    });
  }

  /**
   * Sets the password, revokes all sessions and lifts the limit on failed logins. The token works once.
   * `sessionUserId`: the user of the caller's session, or null. A caller without a session of the account reclaims an
   * account that was never verified ({@link reclaimAccount}).
   */
  async resetPassword(token: string, password: string, sessionUserId: string | null, ip: string): Promise<void> {
    // Hashes before the token is looked up, so that a wrong token takes as long as a valid one.
    const passwordHash = await this.hasher.assertStrongAndHash(password, ip);
    const { user, suspended } = await this.sql.begin(async (tx) => {
      const userId = await store.consumeEmailToken(tx, 'reset', hashEmailToken(token));
      if (userId === null) throw new InvalidInput('this reset token is unknown, used or expired: request a new mail');
      const before = (await store.loadUser(tx, userId))!;
      const isReclaimed = before.emailVerifiedAt === null && sessionUserId !== userId;
      // Before the account is locked, in the same order as a login.
      await this.throttle.recordMailboxProof(tx, before.email, ip, isReclaimed);
      await store.setPasswordAndDeleteEmailTokens(tx, userId, passwordHash);
      const items = isReclaimed ? await this.#reclaimUnverifiedAccount(tx, before, ip) : NOTHING_SUSPENDED;
      await revokeUserSessions(tx, userId, null);
      await store.markEmailVerified(tx, userId); // the token proves access to the mailbox
      await recordUserAudit(tx, before, ip, 'user.password_reset', { password: ['[secret]', '[secret]'] });
      await invalidateSuspendedOrganizations(tx, items);
      return { user: before, suspended: items };
    });
    this.notifySuspension(user.email, suspended);
  }

  /** Another person may have created the account with this address. */
  async #reclaimUnverifiedAccount(tx: Tx, user: store.UserRow, ip: string): Promise<SuspensionResult> {
    if (!this.deliversMail) {
      await deleteTokensCreatedBy(tx, user.id);
      return NOTHING_SUSPENDED;
    }
    const suspended = await reclaimAccount(tx, user, ip);
    await ensureOrganization(tx, user, ip);
    return suspended;
  }

  /** Mails the owner of the account that suspended items wait for a review. Sends nothing without such items. */
  notifySuspension(email: string, { items }: SuspensionResult): void {
    if (items > 0) this.mailer.enqueue(createSuspensionMail(this.publicUrl, email, items));
  }

  /** Sends the verification mail in the background, after signup. */
  enqueueVerificationMail(user: { readonly id: string; readonly email: string }): void {
    this.background.run('verification mail', () => this.#sendVerificationMail(user));
  }

  /**
   * Sends the verification mail again to an unverified address. Returns at once, for the same reason as {@link
   * requestPasswordReset}.
   */
  resendVerification(rawEmail: string): void {
    const email = normaliseEmail(rawEmail);
    this.background.run('verification mail', async () => {
      const user = await store.loadUserByEmail(this.sql, email);
      if (user === null || user.emailVerifiedAt !== null || !(await this.#tryUseMailLimit('verify', user.id))) return;
      await this.#sendVerificationMail(user);
    });
  }

  /**
   * `password`, if given, must be the account's. The page behind the e-mailed link requires it: one click must not
   * verify an account that an attacker created with that address.
   */
  async verifyEmailAndCheckPassword(token: string, password: string | undefined, ip: string): Promise<void> {
    const hash = hashEmailToken(token);
    if (password !== undefined) await this.#assertAccountPassword(hash, password, ip);
    await this.sql.begin(async (tx) => {
      const userId = await store.consumeEmailToken(tx, 'verify', hash);
      if (userId === null) throw new InvalidInput(UNKNOWN_VERIFICATION_MESSAGE);
      const user = await store.markEmailVerified(tx, userId);
      await this.throttle.recordMailboxProof(tx, user.email, ip, false);
      await recordUserAudit(tx, user, ip, 'user.email_verified', { emailVerified: [false, true] });
    });
  }

  async #assertAccountPassword(verificationTokenHash: Buffer, password: string, ip: string): Promise<void> {
    const user = await store.loadUserByEmailToken(this.sql, 'verify', verificationTokenHash);
    if (user === null) throw new InvalidInput(UNKNOWN_VERIFICATION_MESSAGE);
    if (await this.passwordVerifier.verifyPassword(user.email, user.passwordHash, password, ip, 'mailbox')) return;
    throw new Unauthenticated(
      'this is not the password of the account: if you did not create the account, do not confirm it',
    );
  }

  async #sendVerificationMail(user: { readonly id: string; readonly email: string }): Promise<void> {
    const { token, hash } = createEmailToken();
    await this.sql.begin((tx) => store.replaceEmailToken(tx, user.id, 'verify', hash, VERIFICATION_TOKEN_LIFETIME_S));
    this.mailer.enqueue(createVerificationMail(this.publicUrl, user.email, token));
  }

  #tryUseMailLimit(purpose: store.EmailTokenPurpose, userId: string): Promise<boolean> {
    return this.throttle.tryConsume(
      `${purpose}-mail:${userId}`,
      MAILS_PER_ADDRESS_MAX,
      MAILS_WINDOW_S,
      'mails to this address',
    );
  }
}

/** Forgotten passwords and e-mail verification: single-use tokens by mail. */
import { recordUserAudit } from '../audit/trail.js';
import type { Sql, Tx } from '../db/sql.js';
import { InvalidInput, TooManyAttempts, Unauthenticated } from '../domain/errors.js';
import { normaliseEmail } from '../http/schema.js';
import type { Mailer } from '../mail/mailer.js';
import { resetMail, suspendedMail, verifyMail } from '../mail/messages.js';
import type { Background } from '../ops/background.js';
import { announceSuspension, NOTHING_SUSPENDED, type Suspended } from '../suspension/service.js';
import { hashEmailToken, newEmailToken } from './email-token.js';
import { deleteTokensOf } from './management-token-store.js';
import type { PasswordCheck } from './password-check.js';
import type { PasswordHasher } from './password-hasher.js';
import { endSessions } from './session-store.js';
import * as store from './store.js';
import { ensureOrganization, takeOver } from './takeover.js';
import type { Throttle } from './throttle.js';

const RESET_LIFETIME_S = 3_600;
const VERIFY_LIFETIME_S = 86_400;
/** Mails of one kind that one address is sent on demand: enough for anybody, too few to flood a mailbox. */
const MAILS_MAX = 5;
const MAILS_WINDOW_S = 3_600;
const UNKNOWN_VERIFICATION = 'this verification token is unknown, used or expired';

export class AccountRecovery {
  constructor(
    readonly sql: Sql,
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly passwords: PasswordCheck,
    readonly mailer: Mailer,
    readonly background: Background,
    readonly publicUrl: string,
    /** Mails leave the server. Else the operator passes links on, and vouches for who gets them (docs/access.md). */
    readonly mailLeaves: boolean,
  ) {}

  /** Returns at once: whether the e-mail is known shows in nothing, not even in the time. */
  forgot(rawEmail: string): void {
    const email = normaliseEmail(rawEmail);
    this.background.run('reset mail', async () => {
      const user = await store.loadUserByEmail(this.sql, email);
      if (user === null || !(await this.#mayMail('reset', user.id))) return;
      const { token, hash } = newEmailToken();
      await this.sql.begin((tx) => store.replaceEmailToken(tx, user.id, 'reset', hash, RESET_LIFETIME_S));
      this.mailer.enqueue(resetMail(this.publicUrl, email, token));
    });
  }

  /**
   * Sets the password, ends all sessions, lifts the limit on failed logins. The token works once. `sessionOf`: the user
   * whose session the caller has; without one, an account that was never confirmed is taken over ({@link takeOver}).
   */
  async reset(token: string, password: string, sessionOf: string | null, ip: string): Promise<void> {
    // Hashed before the token is looked up, so that a wrong token takes as long as a right one.
    const passwordHash = await this.hasher.hash(password, ip);
    const { user, suspended } = await this.sql.begin(async (tx) => {
      const userId = await store.consumeEmailToken(tx, 'reset', hashEmailToken(token));
      if (userId === null) throw new InvalidInput('this reset token is unknown, used or expired: ask for a new mail');
      const before = (await store.loadUser(tx, userId))!;
      const taken = before.emailVerifiedAt === null && sessionOf !== userId;
      // Before the account is locked, as in a login.
      await this.throttle.proveMailbox(tx, before.email, ip, taken);
      await store.setPassword(tx, userId, passwordHash);
      const items = taken ? await this.#passOn(tx, before, ip) : NOTHING_SUSPENDED;
      await endSessions(tx, userId, null);
      await store.markVerified(tx, userId); // the mail has shown who reads that mailbox
      await recordUserAudit(tx, before, ip, 'user.password_reset', { password: ['[secret]', '[secret]'] });
      await announceSuspension(tx, items);
      return { user: before, suspended: items };
    });
    this.tellSuspended(user.email, suspended);
  }

  /** Somebody else may have made the account. */
  async #passOn(tx: Tx, user: store.UserRow, ip: string): Promise<Suspended> {
    if (!this.mailLeaves) {
      await deleteTokensOf(tx, user.id);
      return NOTHING_SUSPENDED;
    }
    const suspended = await takeOver(tx, user, ip);
    await ensureOrganization(tx, user, ip);
    return suspended;
  }

  /** Mails the owner of the account that items wait for a review; none: no mail. */
  tellSuspended(email: string, { items }: Suspended): void {
    if (items > 0) this.mailer.enqueue(suspendedMail(this.publicUrl, email, items));
  }

  /** After signup. */
  sendVerification(user: { readonly id: string; readonly email: string }): void {
    this.background.run('verification mail', () => this.#mailVerification(user));
  }

  /** Once more, where the address is not verified yet. Returns at once, like {@link forgot} and for the same reason. */
  resendVerification(rawEmail: string): void {
    const email = normaliseEmail(rawEmail);
    this.background.run('verification mail', async () => {
      const user = await store.loadUserByEmail(this.sql, email);
      if (user === null || user.emailVerifiedAt !== null || !(await this.#mayMail('verify', user.id))) return;
      await this.#mailVerification(user);
    });
  }

  /**
   * `password`, where given, must be the account's: the page behind the mail's link asks for it, so that nobody confirms
   * with one click an account that a stranger made with that address.
   */
  async verify(token: string, password: string | undefined, ip: string): Promise<void> {
    const hash = hashEmailToken(token);
    if (password !== undefined) await this.#checkPassword(hash, password, ip);
    await this.sql.begin(async (tx) => {
      const userId = await store.consumeEmailToken(tx, 'verify', hash);
      if (userId === null) throw new InvalidInput(UNKNOWN_VERIFICATION);
      const user = await store.markVerified(tx, userId);
      await this.throttle.proveMailbox(tx, user.email, ip, false);
      await recordUserAudit(tx, user, ip, 'user.email_verified', { emailVerified: [false, true] });
    });
  }

  async #checkPassword(verification: Buffer, password: string, ip: string): Promise<void> {
    const user = await store.loadUserByEmailToken(this.sql, 'verify', verification);
    if (user === null) throw new InvalidInput(UNKNOWN_VERIFICATION);
    if (await this.passwords.isOf(user.email, user.passwordHash, password, ip, 'mailbox')) return;
    throw new Unauthenticated('this is not the password of the account: if you did not make it, leave it unconfirmed');
  }

  async #mailVerification(user: { readonly id: string; readonly email: string }): Promise<void> {
    const { token, hash } = newEmailToken();
    await this.sql.begin((tx) => store.replaceEmailToken(tx, user.id, 'verify', hash, VERIFY_LIFETIME_S));
    this.mailer.enqueue(verifyMail(this.publicUrl, user.email, token));
  }

  async #mayMail(purpose: store.TokenPurpose, userId: string): Promise<boolean> {
    try {
      await this.throttle.count(`${purpose}-mail:${userId}`, MAILS_MAX, MAILS_WINDOW_S, 'mails to this address');
      return true;
    } catch (error) {
      if (error instanceof TooManyAttempts) return false;
      throw error;
    }
  }
}

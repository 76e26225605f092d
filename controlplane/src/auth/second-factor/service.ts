/** Sets up, renews and removes the second factor of the user's own account. All of it is in the audit trail. */
import { randomBytes } from 'node:crypto';
import { recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { Conflict, Forbidden } from '../../domain/errors.js';
import type { Actor } from '../../http/route-access.js';
import { createSecondFactorMail } from '../../mail/mail-texts.js';
import type { Mailer } from '../../mail/mailer.js';
import type { Vault } from '../../vault/aes-gcm-vault.js';
import { lockActiveSession } from '../sessions/session-service.js';
import { revokeUserSessions } from '../sessions/session-store.js';
import { loadUser } from '../users/user-and-membership-store.js';
import { createRecoveryCodes, hashRecoveryCode } from './recovery-code.js';
import type { SecondFactorStatus } from './schema.js';
import * as store from './store.js';
import { buildOtpauthUrl, encodeBase32, TOTP_SECRET_BYTES } from './totp.js';
import { type FactorUser, type SecondFactorVerifier, secretIdentityOf } from './verifier.js';

const ISSUER = 'Agent Credential Gateway';

/** Checks the password of the actor's account; throws `Forbidden` when it is wrong. */
type ConfirmPassword = (actor: Actor, password: string) => Promise<void>;

export class SecondFactorService {
  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    readonly verifier: SecondFactorVerifier,
    readonly mailer: Mailer,
    readonly confirmPassword: ConfirmPassword,
  ) {}

  async getStatus({ userId }: Actor): Promise<SecondFactorStatus> {
    const factor = await store.loadSecondFactor(this.sql, userId);
    return {
      enabledAt: factor?.confirmedAt?.toISOString() ?? null,
      recoveryCodesLeft: await store.countRecoveryCodes(this.sql, userId),
    };
  }

  /**
   * Creates a secret, which protects nothing until {@link confirm}. An account whose address is not verified may pass to
   * the reader of the mailbox, who could not log in with another person's secret; so it cannot have one.
   */
  async begin(actor: Actor, password: string): Promise<{ secret: string; otpauthUrl: string }> {
    await this.confirmPassword(actor, password);
    const secret = randomBytes(TOTP_SECRET_BYTES);
    const sealed = this.vault.encrypt(secretIdentityOf(actor.userId), secret.toString('hex'));
    await this.sql.begin(async (tx) => {
      await lockActiveSession(tx, actor);
      const user = await loadUser(tx, actor.userId);
      if (user?.emailVerifiedAt == null)
        throw new Forbidden('confirm your e-mail address first: open the link in your sign-up mail');
      if (!(await store.replacePendingSecret(tx, actor.userId, sealed)))
        throw new Conflict('this account already has a second factor: remove it first');
      await recordUserAudit(tx, toUser(actor), actor.ip, 'second_factor.create', { secret: [null, '[secret]'] });
    });
    return { secret: encodeBase32(secret), otpauthUrl: buildOtpauthUrl(ISSUER, actor.email, secret) };
  }

  /** Enables the second factor with its first code. Returns the recovery codes and ends all other sessions. */
  async confirm(actor: Actor, code: string): Promise<readonly string[]> {
    const factor = await store.loadSecondFactor(this.sql, actor.userId);
    if (factor === null) throw new Conflict('there is no secret to confirm: create one with POST /v1/second-factor');
    if (factor.confirmedAt !== null) throw new Conflict('this account already has a second factor');
    await this.verifier.verifyFirstCode(toUser(actor), factor, code, actor.ip);
    return this.#change(actor, 'second_factor.enable', async (tx) => {
      if (!(await store.confirmSecondFactor(tx, actor.userId)))
        throw new Conflict('the second factor was changed at the same moment: try again');
      await revokeUserSessions(tx, actor.userId, actor.session?.id ?? null);
      return this.#replaceRecoveryCodes(tx, actor.userId);
    });
  }

  /** Verifies a code for the actor's session: for 10 minutes it may do what cannot be undone. */
  async confirmSession(actor: Actor, code: string): Promise<void> {
    await this.verifier.verifyInSession(toUser(actor), code, actor.ip);
    await this.sql.begin(async (tx) => {
      await lockActiveSession(tx, actor);
      if (actor.session !== null) await store.markSessionConfirmed(tx, actor.session.id);
      await recordUserAudit(tx, toUser(actor), actor.ip, 'session.confirm', {});
    });
  }

  /** Replaces all recovery codes. */
  async renewRecoveryCodes(actor: Actor, code: string): Promise<readonly string[]> {
    await this.verifier.verifyInSession(toUser(actor), code, actor.ip);
    return this.#change(actor, 'second_factor.renew_recovery_codes', (tx) =>
      this.#replaceRecoveryCodes(tx, actor.userId),
    );
  }

  async remove(actor: Actor, code: string): Promise<void> {
    await this.verifier.verifyInSession(toUser(actor), code, actor.ip);
    await this.#change(actor, 'second_factor.remove', (tx) => store.deleteSecondFactor(tx, actor.userId));
  }

  async #change<T>(
    actor: Actor,
    action: 'second_factor.enable' | 'second_factor.renew_recovery_codes' | 'second_factor.remove',
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    const result = await this.sql.begin(async (tx) => {
      await lockActiveSession(tx, actor);
      const changed = await work(tx);
      if (actor.session !== null) await store.markSessionConfirmed(tx, actor.session.id);
      await recordUserAudit(tx, toUser(actor), actor.ip, action, {});
      return changed;
    });
    this.mailer.enqueue(createSecondFactorMail(actor.email, { action, ip: actor.ip }));
    return result as T;
  }

  async #replaceRecoveryCodes(tx: Tx, userId: string): Promise<readonly string[]> {
    const codes = createRecoveryCodes();
    await store.replaceRecoveryCodes(
      tx,
      userId,
      codes.map((code) => hashRecoveryCode(code)!),
    );
    return codes;
  }
}

const toUser = ({ userId, email }: Actor): FactorUser => ({ id: userId, email });

/**
 * Verifies codes of second factors. Each code works once. Of one account at most 5 codes may be tried in 15 minutes and
 * 20 in a day, counted before the comparison, so that parallel guesses learn no more than sequential ones. A correct
 * code resets the count. Recovery codes are too long to guess, so the limit does not apply to them: an attacker who
 * knows the password cannot lock the owner out.
 */
import { recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { type AppError, Forbidden, SecondFactorRequired } from '../../domain/errors.js';
import { createRecoveryCodeUsedMail } from '../../mail/mail-texts.js';
import type { Mailer } from '../../mail/mailer.js';
import type { Throttle } from '../../throttling/throttle.js';
import type { SecretIdentity, Vault } from '../../vault/aes-gcm-vault.js';
import type { FailedLoginAudit } from '../passwords/failed-login-audit.js';
import { hashRecoveryCode } from './recovery-code.js';
import * as store from './store.js';
import { findTotpStep, isTotpCode } from './totp.js';

const CODE_LIMITS = [
  { name: 'second-factor', max: 5, windowS: 15 * 60 },
  { name: 'second-factor-day', max: 20, windowS: 86_400 },
] as const;

export interface FactorUser {
  readonly id: string;
  readonly email: string;
}

export const secretIdentityOf = (userId: string): SecretIdentity => ({
  purpose: 'second_factor',
  orgId: userId,
  id: userId,
});

export class SecondFactorVerifier {
  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    readonly throttle: Throttle,
    readonly failedLoginAudit: FailedLoginAudit,
    readonly mailer: Mailer,
  ) {}

  /**
   * Called after the password was verified. Returns whether a code was needed and given. Throws
   * {@link SecondFactorRequired} when the account needs a code and `code` is missing or wrong.
   */
  async verifyLogin(user: FactorUser, code: string | undefined, ip: string): Promise<boolean> {
    const factor = await store.loadSecondFactor(this.sql, user.id);
    if (factor === null || factor.confirmedAt === null) return false;
    if (code === undefined) {
      throw new SecondFactorRequired(
        'this account has a second factor: send its code, or a recovery code, as code with e-mail and password',
      );
    }
    await this.#verify(user, factor, code, ip, new SecondFactorRequired('code is wrong, expired or used already'));
    return true;
  }

  /** Verifies a code in a session. Throws {@link Forbidden} when it is wrong or the account has no second factor. */
  async verifyInSession(user: FactorUser, code: string, ip: string): Promise<void> {
    const factor = await store.loadSecondFactor(this.sql, user.id);
    if (factor === null || factor.confirmedAt === null) throw new Forbidden('this account has no second factor');
    await this.#verify(user, factor, code, ip, new Forbidden('code is wrong, expired or used already'));
  }

  /** Verifies the first code of a new secret; recovery codes do not count. */
  async verifyFirstCode(user: FactorUser, factor: store.SecondFactorRow, code: string, ip: string): Promise<void> {
    const wrong = new Forbidden('code is wrong or expired: compare the clocks of the app and of this server');
    if (!isTotpCode(code)) throw wrong;
    await this.#verify(user, factor, code, ip, wrong);
  }

  async #verify(user: FactorUser, factor: store.SecondFactorRow, code: string, ip: string, wrong: AppError) {
    const recoveryCodeHash = hashRecoveryCode(code);
    const correct =
      recoveryCodeHash === null
        ? await this.#useTotpCode(user, factor, code)
        : await this.sql.begin((tx) => this.#useRecoveryCode(tx, user, recoveryCodeHash, ip));
    if (correct) return;
    this.failedLoginAudit.record(user.email, ip);
    throw wrong;
  }

  async #useTotpCode({ id }: FactorUser, factor: store.SecondFactorRow, text: string): Promise<boolean> {
    const code = text.replaceAll(' ', '');
    for (const { name, max, windowS } of CODE_LIMITS)
      await this.throttle.consume(`${name}:${id}`, max, windowS, 'codes of the second factor of this account');
    if (!isTotpCode(code)) return false;
    const secret = Buffer.from(this.vault.decrypt(secretIdentityOf(id), factor), 'hex');
    const step = findTotpStep(secret, code, Date.now(), factor.lastStep);
    if (step === null || !(await store.acceptStep(this.sql, id, factor.nonce, step))) return false;
    await this.throttle.reset(CODE_LIMITS.map(({ name }) => `${name}:${id}`));
    return true;
  }

  async #useRecoveryCode(tx: Tx, user: FactorUser, hash: Buffer, ip: string): Promise<boolean> {
    if (!(await store.useRecoveryCode(tx, user.id, hash))) return false;
    const left = await store.countRecoveryCodes(tx, user.id);
    await recordUserAudit(tx, user, ip, 'second_factor.use_recovery_code', { recoveryCodesLeft: [left + 1, left] });
    this.mailer.enqueue(createRecoveryCodeUsedMail(user.email, { ip, left }));
    return true;
  }
}

/**
 * Verifies the password of an account. All password checks go through this class: it takes the same time with and
 * without an account, and counts each wrong password as a failed login.
 */

import type { IdentityProof, Throttle } from '../../throttling/throttle.js';
import type { FailedLoginAudit } from './failed-login-audit.js';
import type { PasswordHasher } from './password-hasher.js';

export class PasswordVerifier {
  constructor(
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly failedLoginAudit: FailedLoginAudit,
  ) {}

  /**
   * `storedHash` null: no such account. `proof`: what the request has proven beside the password. Throws
   * `TooManyAttempts` after too many failed logins.
   */
  async verifyPassword(
    email: string,
    storedHash: string | null,
    password: string,
    ip: string,
    proof: IdentityProof,
  ): Promise<boolean> {
    await this.throttle.assertLoginAllowed(email, ip, proof);
    if (!(await this.hasher.verify(storedHash, password, ip))) {
      this.failedLoginAudit.record(email, ip);
      await this.throttle.recordFailedLogin(email, ip, proof);
      return false;
    }
    // Checks the limit again: guesses sent in parallel all pass the first check.
    await this.throttle.assertLoginAllowed(email, ip, proof);
    return true;
  }
}

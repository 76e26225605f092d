/** The one way to ask whether a password is an account's: in equal time, and counted as a failed login where it is not. */

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
   * `stored` null: no such account. `proof`: what the request has shown beside the password. Throws `TooManyAttempts` once
   * there are too many failed logins.
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
    // Again: guesses sent in parallel all pass the first check.
    await this.throttle.assertLoginAllowed(email, ip, proof);
    return true;
  }
}

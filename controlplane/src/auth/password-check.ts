/** The one way to ask whether a password is an account's: in equal time, and counted as a failed login where it is not. */
import type { FailedLoginTrail } from './failed-login-trail.js';
import type { PasswordHasher } from './password-hasher.js';
import type { Proof, Throttle } from './throttle.js';

export class PasswordCheck {
  constructor(
    readonly hasher: PasswordHasher,
    readonly throttle: Throttle,
    readonly failures: FailedLoginTrail,
  ) {}

  /**
   * `stored` null: no such account. `proof`: what the request has shown beside the password. Throws `TooManyAttempts` once
   * there are too many failed logins.
   */
  async isOf(email: string, stored: string | null, password: string, ip: string, proof: Proof): Promise<boolean> {
    await this.throttle.checkLogin(email, ip, proof);
    if (!(await this.hasher.verify(stored, password, ip))) {
      this.failures.record(email, ip);
      await this.throttle.failLogin(email, ip, proof);
      return false;
    }
    // Again: guesses sent in parallel all pass the first check.
    await this.throttle.checkLogin(email, ip, proof);
    return true;
  }
}

/**
 * Records failed logins in the audit trails of the account's organizations. Anyone can cause them, so they are limited:
 * one entry an hour per client network and 20 a day per account. Entries are written in the background, so that the
 * response time does not reveal whether an account exists.
 */

import { toClientNetworkKey } from '@acg/base/client-network-key';
import { recordUserAudit } from '../../audit/audit-trail.js';
import type { Sql } from '../../db/postgres-client.js';
import type { BackgroundTasks } from '../../ops/background-tasks.js';
import type { Throttle } from '../../throttling/throttle.js';
import * as store from '../users/user-and-membership-store.js';

const NETWORK_WINDOW_S = 3_600;
const ACCOUNT_ENTRIES_MAX = 20;
const ACCOUNT_WINDOW_S = 86_400;

export class FailedLoginAudit {
  constructor(
    readonly sql: Sql,
    readonly throttle: Throttle,
    readonly background: BackgroundTasks,
  ) {}

  /** Returns at once. An e-mail address without an account leaves no entry. */
  record(email: string, ip: string): void {
    this.background.run('failed login audit', async () => {
      const user = await store.loadUserByEmail(this.sql, email);
      if (user === null || !(await this.#tryUseEntryLimits(user.id, ip))) return;
      await this.sql.begin((tx) => recordUserAudit(tx, user, ip, 'login.fail', {}));
    });
  }

  async #tryUseEntryLimits(userId: string, ip: string): Promise<boolean> {
    const { throttle } = this;
    const subject = 'audit entries of failed logins';
    return (
      (await throttle.tryConsume(`login-entry:${userId}:${toClientNetworkKey(ip)}`, 1, NETWORK_WINDOW_S, subject)) &&
      (await throttle.tryConsume(`login-entries:${userId}`, ACCOUNT_ENTRIES_MAX, ACCOUNT_WINDOW_S, subject))
    );
  }
}

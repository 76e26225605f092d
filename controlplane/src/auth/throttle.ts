/**
 * Limits against brute force. The counts are in Postgres, so all control-plane instances share them; an address found
 * over its limit is also remembered in memory until its window ends, so that a flood does not become a flood of queries.
 */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/sql.js';
import { TooManyAttempts } from '../domain/errors.js';

const FAILED_LOGINS_MAX = 10;
const FAILED_LOGIN_WINDOW_S = 15 * 60;
const ADDRESS_REQUESTS_MAX = 600;
const ADDRESS_WINDOW_S = 60;
const BLOCKED_ADDRESSES_MAX = 10_000;
const PRUNE_ROWS_MAX = 10_000;

export class Throttle {
  readonly #blockedUntilMs = new LRUCache<string, number>({ max: BLOCKED_ADDRESSES_MAX });

  constructor(readonly sql: Sql) {}

  /** All auth endpoints together: 600 requests a minute per address (docs/contract.md#management-api). */
  async countAuthRequest(ip: string): Promise<void> {
    const key = `address:${addressKey(ip)}`;
    const blockedUntilMs = this.#blockedUntilMs.get(key) ?? 0;
    if (blockedUntilMs > Date.now()) throw tooMany('requests from this address', (blockedUntilMs - Date.now()) / 1000);
    try {
      await this.count(key, ADDRESS_REQUESTS_MAX, ADDRESS_WINDOW_S, 'requests from this address');
    } catch (error) {
      if (error instanceof TooManyAttempts) {
        this.#blockedUntilMs.set(key, Date.now() + error.retryAfterSeconds * 1000);
      }
      throw error;
    }
  }

  /** Counts one of at most `max` in a window that begins with the first; throws {@link TooManyAttempts} past it. */
  async count(key: string, max: number, windowS: number, what: string): Promise<void> {
    const [row] = await this.sql<{ count: number; left: number }[]>`
      insert into throttle_windows as w (key, count, expires_at)
      values (${key}, 1, now() + make_interval(secs => ${windowS}))
      on conflict (key) do update set
        count = case when w.expires_at <= now() then 1 else least(w.count + 1, ${max + 1}) end,
        expires_at = case when w.expires_at <= now() then excluded.expires_at else w.expires_at end
      returning count, extract(epoch from expires_at - now())::float8 as left`;
    if (row!.count > max) throw tooMany(what, row!.left);
  }

  /** Throws {@link TooManyAttempts} while the account has 10 failed logins in the last 15 minutes. */
  async checkLogin(email: string): Promise<void> {
    const left = await this.#loginBlockedForS(loginKey(email));
    if (left !== null) throw tooMany('failed logins for this account', left);
  }

  /**
   * Books a failed login; throws {@link TooManyAttempts} when the account already has 10. The caller answers 401 only
   * after this returned, so guesses sent in parallel learn no more than guesses in a row.
   */
  async failLogin(email: string): Promise<void> {
    const key = loginKey(email);
    const [booked] = await this.sql`
      insert into throttle_marks as m (key, marked_at, expires_at)
      values (${key}, array[now()], now() + make_interval(secs => ${FAILED_LOGIN_WINDOW_S}))
      on conflict (key) do update set
        marked_at = live_marks(m.marked_at, ${FAILED_LOGIN_WINDOW_S}) || now(),
        expires_at = excluded.expires_at
      where cardinality(live_marks(m.marked_at, ${FAILED_LOGIN_WINDOW_S})) < ${FAILED_LOGINS_MAX}
      returning 1`;
    if (booked === undefined) await this.checkLogin(email);
  }

  /** The owner has proven who it is: earlier failures count no more. */
  async forgetFailedLogins(sql: Sql | Tx, email: string): Promise<void> {
    await sql`delete from throttle_marks where key = ${loginKey(email)}`;
  }

  /** Removes what has expired. */
  async prune(): Promise<void> {
    for (const table of ['throttle_windows', 'throttle_marks']) {
      await this.sql`
        delete from ${this.sql(table)} where key in (
          select key from ${this.sql(table)} where expires_at < now() limit ${PRUNE_ROWS_MAX} for update skip locked)`;
    }
  }

  async #loginBlockedForS(key: string): Promise<number | null> {
    const [row] = await this.sql<{ left: number }[]>`
      select extract(epoch from live[1] - now())::float8 + ${FAILED_LOGIN_WINDOW_S} as left
        from throttle_marks, live_marks(marked_at, ${FAILED_LOGIN_WINDOW_S}) as live
       where key = ${key} and cardinality(live) >= ${FAILED_LOGINS_MAX}`;
    return row?.left ?? null;
  }
}

const tooMany = (what: string, leftS: number): TooManyAttempts => {
  const retryAfterS = Math.max(1, Math.ceil(leftS));
  return new TooManyAttempts(`too many ${what}: try again in ${retryAfterS} seconds`, retryAfterS);
};

/** Hashed, so that the table does not collect the addresses that people mistype. */
const loginKey = (email: string): string => `login:${createHash('sha256').update(email).digest('base64url')}`;

/** An IPv6 customer holds a whole /64; IPv4 in its IPv6 form is the IPv4 address. */
export function addressKey(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip);
  if (mapped !== null) return mapped[1]!;
  const [head = '', tail] = ip.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

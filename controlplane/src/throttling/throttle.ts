/**
 * Rate limits against brute force. The counts are in Postgres, so that all control-plane instances share them. A client
 * network over its limit is also cached in memory until its window ends: a flood of requests then causes no queries.
 */
import { createHash } from 'node:crypto';
import { toClientNetworkKey } from '@acg/base/client-network-key';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/postgres-client.js';
import { TooManyAttempts } from '../domain/errors.js';

/** After `max` failures in a sliding window of `windowS` seconds, requests get 429. */
interface FailureLimit {
  readonly max: number;
  readonly windowS: number;
  readonly subject: string;
}

const ADDRESS_FAILURE_LIMIT: FailureLimit = {
  max: 10,
  windowS: 15 * 60,
  subject: 'failed logins for this account from this address',
};
/**
 * Limits guessing from many IPs together. It does not apply to IPs where the account has logged in or verified its
 * e-mail address. Requests that prove a session or an e-mailed token are counted separately, so that attackers cannot
 * lock the owner out of those.
 */
const ACCOUNT_FAILURE_LIMIT: FailureLimit = { max: 100, windowS: 60 * 60, subject: 'failed logins for this account' };
const KNOWN_ADDRESS_LIFETIME_S = 30 * 86_400;
const REQUESTS_PER_NETWORK_MAX = 600;
const REQUEST_WINDOW_S = 60;
const CACHED_BLOCKS_MAX = 10_000;
const PRUNE_ROWS_MAX = 10_000;

/** What a request proves beside a password: nothing, a live session of the account, or the token of a mail to it. */
export type IdentityProof = 'none' | 'session' | 'mailbox';

export class Throttle {
  readonly #blockedUntilMs = new LRUCache<string, number>({ max: CACHED_BLOCKS_MAX });

  constructor(readonly sql: Sql) {}

  /**
   * Limits all auth endpoints together to 600 requests a minute per client network (docs/contract.md#management-api).
   */
  throttleAuthRequest(ip: string): Promise<void> {
    return this.#throttleNetwork(`address:${toClientNetworkKey(ip)}`);
  }

  /** Limits exchanges of workloads' tokens likewise; CI jobs behind one address must not lock people out. */
  throttleExchange(ip: string): Promise<void> {
    return this.#throttleNetwork(`exchange:${toClientNetworkKey(ip)}`);
  }

  /** Limits reads of the issuers' public documents likewise. */
  throttleIssuer(ip: string): Promise<void> {
    return this.#throttleNetwork(`issuer:${toClientNetworkKey(ip)}`);
  }

  async #throttleNetwork(key: string): Promise<void> {
    const blockedUntilMs = this.#blockedUntilMs.get(key) ?? 0;
    if (blockedUntilMs > Date.now())
      throw createTooManyAttempts('requests from this address', (blockedUntilMs - Date.now()) / 1000);
    try {
      await this.consume(key, REQUESTS_PER_NETWORK_MAX, REQUEST_WINDOW_S, 'requests from this address');
    } catch (error) {
      if (error instanceof TooManyAttempts) {
        this.#blockedUntilMs.set(key, Date.now() + error.retryAfterSeconds * 1000);
      }
      throw error;
    }
  }

  /**
   * Counts one use, of at most `max` in a window that begins with the first use. Throws {@link TooManyAttempts} beyond
   * that.
   */
  async consume(key: string, max: number, windowS: number, subject: string): Promise<void> {
    const [row] = await this.sql<{ count: number; left: number }[]>`
      insert into throttle_windows as w (key, count, expires_at)
      values (${key}, 1, now() + make_interval(secs => ${windowS}))
      on conflict (key) do update set
        count = case when w.expires_at <= now() then 1 else least(w.count + 1, ${max + 1}) end,
        expires_at = case when w.expires_at <= now() then excluded.expires_at else w.expires_at end
      returning count, extract(epoch from expires_at - now())::float8 as left`;
    if (row!.count > max) throw createTooManyAttempts(subject, row!.left);
  }

  /** Like {@link consume}, but returns false instead of throwing. */
  async tryConsume(key: string, max: number, windowS: number, subject: string): Promise<boolean> {
    try {
      await this.consume(key, max, windowS, subject);
      return true;
    } catch (error) {
      if (error instanceof TooManyAttempts) return false;
      throw error;
    }
  }

  /** Forgets the uses of those keys that {@link consume} counted. */
  async reset(keys: readonly string[]): Promise<void> {
    await this.sql`delete from throttle_windows where key = any(${[...keys]})`;
  }

  /** Throws {@link TooManyAttempts} after too many failed logins (docs/contract.md#management-api). */
  async assertLoginAllowed(email: string, ip: string, proof: IdentityProof): Promise<void> {
    await this.#assertUnderLimit(addressLoginKey(email, ip), ADDRESS_FAILURE_LIMIT);
    const left = await this.#secondsUntilUnblocked(accountLoginKey(email, proof), ACCOUNT_FAILURE_LIMIT);
    if (left !== null && !(await this.#isKnownAddress(email, ip)))
      throw createTooManyAttempts(ACCOUNT_FAILURE_LIMIT.subject, left);
  }

  /**
   * Records a failed login; throws {@link TooManyAttempts} when the limit was already reached. The caller answers 401
   * only after this has returned, so that parallel guesses learn no more than sequential ones.
   */
  async recordFailedLogin(email: string, ip: string, proof: IdentityProof): Promise<void> {
    const addressRecorded = await this.#recordFailure(addressLoginKey(email, ip), ADDRESS_FAILURE_LIMIT);
    const accountRecorded =
      addressRecorded && (await this.#recordFailure(accountLoginKey(email, proof), ACCOUNT_FAILURE_LIMIT));
    if (!accountRecorded) await this.assertLoginAllowed(email, ip, proof);
  }

  /**
   * Called after a successful login at that address. Deletes earlier failures from there and remembers the address as
   * known.
   */
  async clearFailuresAndTrustAddress(sql: Sql | Tx, email: string, ip: string): Promise<void> {
    await sql`delete from throttle_marks where key = ${addressLoginKey(email, ip)}`;
    await sql`
      insert into throttle_windows (key, count, expires_at)
      values (${knownAddressKey(email, ip)}, 1, now() + make_interval(secs => ${KNOWN_ADDRESS_LIFETIME_S}))
      on conflict (key) do update set expires_at = excluded.expires_at`;
  }

  /**
   * Called when the user has verified the e-mail address. Deletes earlier failures from all IPs and remembers this IP
   * as known, so that further guesses do not lock it. `forgetKnownAddresses`: other users may have logged in before, so
   * all other known IPs are deleted.
   */
  async recordMailboxProof(sql: Sql | Tx, email: string, ip: string, forgetKnownAddresses: boolean): Promise<void> {
    const keys = (['none', 'session', 'mailbox'] as const).map((proof) => accountLoginKey(email, proof));
    await sql`delete from throttle_marks where key = any(${keys})`;
    if (forgetKnownAddresses)
      await sql`delete from throttle_windows where starts_with(key, ${`known-${loginKey(email)}:`})`;
    await this.clearFailuresAndTrustAddress(sql, email, ip);
  }

  /** Deletes expired counts. */
  async prune(): Promise<void> {
    for (const table of ['throttle_windows', 'throttle_marks']) {
      await this.sql`
        delete from ${this.sql(table)} where key in (
          select key from ${this.sql(table)} where expires_at < now() limit ${PRUNE_ROWS_MAX} for update skip locked)`;
    }
  }

  /** Returns false when the limit was already reached. */
  async #recordFailure(key: string, { max, windowS }: FailureLimit): Promise<boolean> {
    const [recorded] = await this.sql`
      insert into throttle_marks as m (key, marked_at, expires_at)
      values (${key}, array[now()], now() + make_interval(secs => ${windowS}))
      on conflict (key) do update set
        marked_at = live_marks(m.marked_at, ${windowS}) || now(),
        expires_at = excluded.expires_at
      where cardinality(live_marks(m.marked_at, ${windowS})) < ${max}
      returning 1`;
    return recorded !== undefined;
  }

  async #assertUnderLimit(key: string, limit: FailureLimit): Promise<void> {
    const left = await this.#secondsUntilUnblocked(key, limit);
    if (left !== null) throw createTooManyAttempts(limit.subject, left);
  }

  async #secondsUntilUnblocked(key: string, { max, windowS }: FailureLimit): Promise<number | null> {
    const [row] = await this.sql<{ left: number }[]>`
      select extract(epoch from live[1] - now())::float8 + ${windowS} as left
        from throttle_marks, live_marks(marked_at, ${windowS}) as live
       where key = ${key} and cardinality(live) >= ${max}`;
    return row?.left ?? null;
  }

  async #isKnownAddress(email: string, ip: string): Promise<boolean> {
    const rows = await this.sql`
      select 1 from throttle_windows where key = ${knownAddressKey(email, ip)} and expires_at > now()`;
    return rows.length > 0;
  }
}

const createTooManyAttempts = (subject: string, leftS: number): TooManyAttempts => {
  const retryAfterS = Math.max(1, Math.ceil(leftS));
  return new TooManyAttempts(`too many ${subject}: try again in ${retryAfterS} seconds`, retryAfterS);
};

/** Hashed, so that the table does not collect mistyped e-mail addresses. */
const loginKey = (email: string): string => `login:${createHash('sha256').update(email).digest('base64url')}`;
const accountLoginKey = (email: string, proof: IdentityProof): string =>
  proof === 'none' ? loginKey(email) : `${proof}-${loginKey(email)}`;
const addressLoginKey = (email: string, ip: string): string => `${loginKey(email)}:${toClientNetworkKey(ip)}`;
const knownAddressKey = (email: string, ip: string): string => `known-${addressLoginKey(email, ip)}`;

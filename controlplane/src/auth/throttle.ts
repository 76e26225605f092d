/**
 * Limits against brute force. The counts are in Postgres, so all control-plane instances share them; an address found
 * over its limit is also remembered in memory until its window ends, so that a flood does not become a flood of queries.
 */
import { createHash } from 'node:crypto';
import { clientNetwork } from '@acg/base/client-network';
import { LRUCache } from 'lru-cache';
import type { Sql, Tx } from '../db/sql.js';
import { TooManyAttempts } from '../domain/errors.js';

/** So many failures in a sliding window, then 429. */
interface FailureLimit {
  readonly max: number;
  readonly windowS: number;
  readonly what: string;
}

const PER_ADDRESS: FailureLimit = {
  max: 10,
  windowS: 15 * 60,
  what: 'failed logins for this account from this address',
};
/**
 * Many addresses may guess together. The limit does not hold where the account has signed in or its mailbox was proven.
 * Requests of strangers count apart from requests that show a session or a mail's token, so that strangers cannot lock
 * the owner out of those.
 */
const PER_ACCOUNT: FailureLimit = { max: 100, windowS: 60 * 60, what: 'failed logins for this account' };
const KNOWN_ADDRESS_S = 30 * 86_400;
const ADDRESS_REQUESTS_MAX = 600;
const ADDRESS_WINDOW_S = 60;
const BLOCKED_ADDRESSES_MAX = 10_000;
const PRUNE_ROWS_MAX = 10_000;

/** What a request shows beside a password: nothing, a live session of the account, or the token of a mail to it. */
export type Proof = 'none' | 'session' | 'mailbox';

export class Throttle {
  readonly #blockedUntilMs = new LRUCache<string, number>({ max: BLOCKED_ADDRESSES_MAX });

  constructor(readonly sql: Sql) {}

  /** All auth endpoints together: 600 requests a minute per address (docs/contract.md#management-api). */
  async countAuthRequest(ip: string): Promise<void> {
    const key = `address:${clientNetwork(ip)}`;
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

  /** Throws {@link TooManyAttempts} while there are too many failed logins (docs/contract.md#management-api). */
  async checkLogin(email: string, ip: string, proof: Proof): Promise<void> {
    await this.#check(addressLoginKey(email, ip), PER_ADDRESS);
    const left = await this.#blockedForS(accountKey(email, proof), PER_ACCOUNT);
    if (left !== null && !(await this.#knows(email, ip))) throw tooMany(PER_ACCOUNT.what, left);
  }

  /**
   * Books a failed login; throws {@link TooManyAttempts} when there were too many already. The caller answers 401 only
   * after this returned, so guesses sent in parallel learn no more than guesses in a row.
   */
  async failLogin(email: string, ip: string, proof: Proof): Promise<void> {
    const ofAddress = await this.#mark(addressLoginKey(email, ip), PER_ADDRESS);
    const ofAccount = ofAddress && (await this.#mark(accountKey(email, proof), PER_ACCOUNT));
    if (!ofAccount) await this.checkLogin(email, ip, proof);
  }

  /** The owner has proven who it is there: earlier failures from there count no more, and its place is known. */
  async proveLogin(sql: Sql | Tx, email: string, ip: string): Promise<void> {
    await sql`delete from throttle_marks where key = ${addressLoginKey(email, ip)}`;
    await sql`
      insert into throttle_windows (key, count, expires_at)
      values (${knownKey(email, ip)}, 1, now() + make_interval(secs => ${KNOWN_ADDRESS_S}))
      on conflict (key) do update set expires_at = excluded.expires_at`;
  }

  /**
   * The owner has shown to read the mailbox, at that address: failures from before count no more, wherever they came
   * from, and the address is known, so that strangers who go on guessing do not lock it. `strangers`: other people may
   * have signed in to the account before, so no other address is known any more.
   */
  async proveMailbox(sql: Sql | Tx, email: string, ip: string, strangers: boolean): Promise<void> {
    const keys = (['none', 'session', 'mailbox'] as const).map((proof) => accountKey(email, proof));
    await sql`delete from throttle_marks where key = any(${keys})`;
    if (strangers) await sql`delete from throttle_windows where starts_with(key, ${`known-${loginKey(email)}:`})`;
    await this.proveLogin(sql, email, ip);
  }

  /** Removes what has expired. */
  async prune(): Promise<void> {
    for (const table of ['throttle_windows', 'throttle_marks']) {
      await this.sql`
        delete from ${this.sql(table)} where key in (
          select key from ${this.sql(table)} where expires_at < now() limit ${PRUNE_ROWS_MAX} for update skip locked)`;
    }
  }

  /** False: there are as many as may be. */
  async #mark(key: string, { max, windowS }: FailureLimit): Promise<boolean> {
    const [booked] = await this.sql`
      insert into throttle_marks as m (key, marked_at, expires_at)
      values (${key}, array[now()], now() + make_interval(secs => ${windowS}))
      on conflict (key) do update set
        marked_at = live_marks(m.marked_at, ${windowS}) || now(),
        expires_at = excluded.expires_at
      where cardinality(live_marks(m.marked_at, ${windowS})) < ${max}
      returning 1`;
    return booked !== undefined;
  }

  async #check(key: string, limit: FailureLimit): Promise<void> {
    const left = await this.#blockedForS(key, limit);
    if (left !== null) throw tooMany(limit.what, left);
  }

  async #blockedForS(key: string, { max, windowS }: FailureLimit): Promise<number | null> {
    const [row] = await this.sql<{ left: number }[]>`
      select extract(epoch from live[1] - now())::float8 + ${windowS} as left
        from throttle_marks, live_marks(marked_at, ${windowS}) as live
       where key = ${key} and cardinality(live) >= ${max}`;
    return row?.left ?? null;
  }

  async #knows(email: string, ip: string): Promise<boolean> {
    const rows = await this.sql`
      select 1 from throttle_windows where key = ${knownKey(email, ip)} and expires_at > now()`;
    return rows.length > 0;
  }
}

const tooMany = (what: string, leftS: number): TooManyAttempts => {
  const retryAfterS = Math.max(1, Math.ceil(leftS));
  return new TooManyAttempts(`too many ${what}: try again in ${retryAfterS} seconds`, retryAfterS);
};

/** Hashed, so that the table does not collect the addresses that people mistype. */
const loginKey = (email: string): string => `login:${createHash('sha256').update(email).digest('base64url')}`;
const accountKey = (email: string, proof: Proof): string =>
  proof === 'none' ? loginKey(email) : `${proof}-${loginKey(email)}`;
const addressLoginKey = (email: string, ip: string): string => `${loginKey(email)}:${clientNetwork(ip)}`;
const knownKey = (email: string, ip: string): string => `known-${addressLoginKey(email, ip)}`;

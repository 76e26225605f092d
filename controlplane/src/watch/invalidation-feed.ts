/**
 * Reads the invalidations of all control-plane instances in order. NOTIFY triggers a read at once. A poll every {@link
 * POLL_MS} is needed, too: a notification can be lost with its connection, and after a Postgres restart the client
 * library does not always listen again. No row is skipped: rows are read by revision, and revisions become visible in
 * order (0003_contexts.sql).
 *
 * Each read starts at the last known revision and compares its random mark. If that row is gone, the database lost
 * transactions (a failover or a restored backup): the feed continues from the newest row of the database, and
 * `onHistoryLost` resets the data planes.
 */

import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import type { Sql } from '../db/postgres-client.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { type FormerCredential, INVALIDATION_CHANNEL, type Invalidation } from './publish-invalidations.js';

export interface InvalidationRow {
  readonly revision: number;
  /** Random UUID of this revision. After a failover a number may be issued again, a mark never. */
  readonly mark: string;
  readonly kind: Invalidation['kind'];
  readonly id: string;
  readonly endsSessions: boolean;
  /** Not null: only sessions with a former version of this credential end. */
  readonly compromised: FormerCredential | null;
}

const rowColumns = (sql: Sql) => sql`
  revision, mark, kind, id, ends_sessions as "endsSessions", case when credential_id is not null then
    jsonb_build_object('id', credential_id, 'version', credential_version) end as compromised`;

const POLL_MS = 500;
const ROWS_PER_READ = 1_000;
/** Replaying more rows than this costs a data plane more than starting with an empty cache. */
const REPLAY_ROWS_MAX = 10_000;

/**
 * Why the last known revision is missing. `went_back`: the database lost it; `pruned`: this process did not read for
 * too long.
 */
export type HistoryLossReason = 'went_back' | 'pruned';

interface FeedListener {
  onRows(rows: readonly InvalidationRow[]): void;
  /** Earlier rows can no longer be replayed: every data plane must clear its context cache. */
  onHistoryLost(reason: HistoryLossReason): void;
}

export class InvalidationFeed {
  /** Highest revision read; 0: the table was empty. */
  lastRevision = 0;
  /** Mark of {@link lastRevision}; '': the table was empty. */
  lastMark = '';

  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #listener: FeedListener;
  readonly #background: BackgroundTasks;
  #unlisten: (() => Promise<void>) | null = null;
  #reading: Promise<void> | null = null;
  /** Limits the log of an outage of any length to two lines. */
  #failing = false;
  /** The read that starts when the current one ends. */
  #next: Promise<void> | null = null;

  constructor(sql: Sql, log: Logger, listener: FeedListener) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    this.#listener = listener;
  }

  async start(): Promise<void> {
    this.#continueFrom(await this.#loadNewest());
    const read = (): void => void this.read().catch(noop); // read() logs its errors
    // onlisten runs again after each reconnect and reads what was notified meanwhile.
    this.#unlisten = (await this.#sql.listen(INVALIDATION_CHANNEL, read, read)).unlisten;
    this.#background.runEvery('invalidations', POLL_MS, () => this.read().catch(noop));
  }

  async stop(): Promise<void> {
    await this.#unlisten?.().catch(noop);
    await this.#background.stop();
    await this.#reading?.catch(() => undefined);
  }

  /** Reads new rows. Resolves when everything committed before the call was passed to the listener. */
  read(): Promise<void> {
    if (this.#reading === null) return this.#startRead();
    // The current read may have taken its snapshot already, so callers wait for the next one.
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#startRead();
      });
    return this.#next;
  }

  /**
   * Rows after `revision` up to `upTo`. Null if there are too many, some were pruned, or the database does not have
   * `revision` with this mark because it lost transactions. `mark` is '' if a data plane of an earlier release sent
   * none.
   */
  async replay(revision: number, mark: string, upTo: number): Promise<readonly InvalidationRow[] | null> {
    if (revision > upTo) return null; // the database was restored from an older state
    const rows = await this.#sql<InvalidationRow[]>`
      select ${rowColumns(this.#sql)} from invalidations
       where revision >= ${revision} and revision <= ${upTo} order by revision limit ${REPLAY_ROWS_MAX + 2}`;
    // Pruning deletes the oldest rows first: if the data plane's last row still exists, no later row is missing.
    if (rows[0]?.revision !== revision || rows.length > REPLAY_ROWS_MAX + 1) return null;
    return mark === '' || rows[0].mark === mark ? rows.slice(1) : null;
  }

  #startRead(): Promise<void> {
    this.#reading = this.#readNew().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    try {
      for (;;) {
        const rows = await this.#sql<InvalidationRow[]>`
          select ${rowColumns(this.#sql)} from invalidations
           where revision >= ${this.lastRevision} order by revision limit ${ROWS_PER_READ}`;
        const known = this.lastRevision > 0 ? 1 : 0;
        if (known > 0 && (rows[0]?.revision !== this.lastRevision || rows[0].mark !== this.lastMark)) {
          await this.#restartFromNewest();
          break;
        }
        const last = rows.at(-1);
        if (last !== undefined && rows.length > known) {
          this.#continueFrom(last);
          this.#listener.onRows(rows.slice(known));
        }
        if (rows.length < ROWS_PER_READ) break;
      }
    } catch (error) {
      if (!this.#failing)
        this.#log.warn({ err: error }, 'invalidations cannot be read; data planes serve cached contexts');
      this.#failing = true;
      throw error;
    }
    if (this.#failing) this.#log.info('invalidations can be read again');
    this.#failing = false;
  }

  /** Continues from the newest row after the last known revision is missing or has another mark. */
  async #restartFromNewest(): Promise<void> {
    const lostRevision = this.lastRevision;
    const newest = await this.#loadNewest();
    // Pruning leaves only newer rows. After lost transactions there are older rows, or the same number with another
    // mark.
    const reason: HistoryLossReason = newest.oldest > lostRevision ? 'pruned' : 'went_back';
    this.#continueFrom(newest);
    this.#log.error(
      { reason, lostRevision, revision: newest.revision },
      reason === 'went_back'
        ? 'the database has lost committed transactions; all data planes start with empty context caches'
        : 'invalidations were pruned before this control plane read them; all data planes start with empty context caches',
    );
    this.#listener.onHistoryLost(reason);
  }

  async #loadNewest(): Promise<RevisionPosition & { readonly oldest: number }> {
    const [row] = await this.#sql<(RevisionPosition & { readonly oldest: number })[]>`
      select revision, mark, (select min(revision) from invalidations) as oldest
        from invalidations order by revision desc limit 1`;
    return row ?? { revision: 0, mark: '', oldest: 0 };
  }

  #continueFrom({ revision, mark }: RevisionPosition): void {
    this.lastRevision = revision;
    this.lastMark = mark;
  }
}

interface RevisionPosition {
  readonly revision: number;
  readonly mark: string;
}

const RETAINED_ROWS_MIN = 1_000;

/**
 * Deletes rows that no data plane will request again. Keeps the newest rows; the last one holds the current revision.
 */
export async function deleteOldInvalidations(sql: Sql, olderThanMs: number): Promise<void> {
  await sql`
    delete from invalidations
     where at < now() - ${olderThanMs} * interval '1 millisecond'
       and revision < (select max(revision) - ${RETAINED_ROWS_MIN} from invalidations)`;
}

/**
 * The invalidations of all control-plane instances, in order. NOTIFY makes it read at once; it also reads at a steady
 * pace, because a notification can be lost with its connection, and after a restart of Postgres the client library does
 * not always listen again. So nothing waits longer than {@link POLL_MS}, and
 * nothing is skipped: rows are read by revision, and revisions become visible in their order (0003_contexts.sql).
 */
import { ignore } from '@acg/base/ignore';
import type { Logger } from '@acg/base/log';
import type { Sql } from '../db/sql.js';
import { Background } from '../ops/background.js';
import { type Change, INVALIDATION_CHANNEL } from './invalidate.js';

export interface InvalidationRow {
  readonly revision: number;
  readonly kind: Change['kind'];
  readonly id: string;
  readonly endsSessions: boolean;
}

const POLL_MS = 500;
const ROWS_PER_READ = 1_000;
/** Replaying more than this costs a data plane more than starting with an empty cache. */
const REPLAY_ROWS_MAX = 10_000;

export class InvalidationFeed {
  /** Highest revision that was read. */
  lastRevision = 0;

  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #onRows: (rows: readonly InvalidationRow[]) => void;
  readonly #background: Background;
  #unlisten: (() => Promise<void>) | null = null;
  #reading: Promise<void> | null = null;
  /** So that an outage is two lines in the log, whatever its length. */
  #failing = false;
  /** Begins when the read under way ends. */
  #next: Promise<void> | null = null;

  constructor(sql: Sql, log: Logger, onRows: (rows: readonly InvalidationRow[]) => void) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new Background(log);
    this.#onRows = onRows;
  }

  async start(): Promise<void> {
    const [row] = await this.#sql<{ revision: number }[]>`
      select coalesce(max(revision), 0) as revision from invalidations`;
    this.lastRevision = row!.revision;
    const read = (): void => void this.read().catch(ignore); // logged where it fails
    // onlisten runs again after each reconnect: what was notified meanwhile is read then.
    this.#unlisten = (await this.#sql.listen(INVALIDATION_CHANNEL, read, read)).unlisten;
    this.#background.every('invalidations', POLL_MS, () => this.read().catch(ignore));
  }

  async stop(): Promise<void> {
    await this.#unlisten?.().catch(ignore);
    await this.#background.stop();
    await this.#reading?.catch(() => undefined);
  }

  /** Reads what is new; resolves when everything committed before the call was handed on. */
  read(): Promise<void> {
    if (this.#reading === null) return this.#begin();
    // The read under way may have taken its snapshot already: whoever comes now waits for the next one.
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#begin();
      });
    return this.#next;
  }

  /** What came after `revision` up to `upTo`, or null when too much came or some of it was pruned. */
  async replay(revision: number, upTo: number): Promise<readonly InvalidationRow[] | null> {
    if (revision > upTo) return null; // a database restored from an older state
    if (revision === upTo) return [];
    const rows = await this.#sql<InvalidationRow[]>`
      select revision, kind, id, ends_sessions as "endsSessions" from invalidations
       where revision >= ${revision} and revision <= ${upTo} order by revision limit ${REPLAY_ROWS_MAX + 2}`;
    // Pruning takes the oldest first: while the watcher's last one is still there, nothing after it is gone.
    if (rows[0]?.revision !== revision || rows.length > REPLAY_ROWS_MAX + 1) return null;
    return rows.slice(1);
  }

  #begin(): Promise<void> {
    this.#reading = this.#readNew().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    try {
      for (;;) {
        const rows = await this.#sql<InvalidationRow[]>`
          select revision, kind, id, ends_sessions as "endsSessions" from invalidations
           where revision > ${this.lastRevision} order by revision limit ${ROWS_PER_READ}`;
        const last = rows.at(-1);
        if (last !== undefined) {
          this.lastRevision = last.revision;
          this.#onRows(rows);
        }
        if (rows.length < ROWS_PER_READ) break;
      }
    } catch (error) {
      if (!this.#failing)
        this.#log.warn({ err: error }, 'invalidations cannot be read: data planes serve what they have');
      this.#failing = true;
      throw error;
    }
    if (this.#failing) this.#log.info('invalidations can be read again');
    this.#failing = false;
  }
}

const ROWS_KEPT_MIN = 1_000;

/** Deletes what no data plane will ask for again; never the newest row, which carries the revision. */
export async function pruneInvalidations(sql: Sql, olderThanMs: number): Promise<void> {
  await sql`
    delete from invalidations
     where at < now() - ${olderThanMs} * interval '1 millisecond'
       and revision < (select max(revision) - ${ROWS_KEPT_MIN} from invalidations)`;
}

/**
 * The invalidations of all control-plane instances, in order. NOTIFY makes it read at once; it also reads at a steady
 * pace, because a notification can be lost with its connection, and after a restart of Postgres the client library does
 * not always listen again. So nothing waits longer than {@link POLL_MS}, and
 * nothing is skipped: rows are read by revision, and revisions become visible in their order (0003_contexts.sql).
 *
 * Each read begins with the last revision that is known and compares its random mark. Where that row is gone, the
 * database went back (a failover that lost transactions, or a restored backup): the feed starts anew from what the
 * database has, and `onLost` resets the data planes.
 */

import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import type { Sql } from '../db/sql.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { INVALIDATION_CHANNEL, type Invalidation } from './publish-invalidations.js';

export interface InvalidationRow {
  readonly revision: number;
  /** Random UUID of this revision: a number may be issued again after a failover, its mark never. */
  readonly mark: string;
  readonly kind: Invalidation['kind'];
  readonly id: string;
  readonly endsSessions: boolean;
}

const POLL_MS = 500;
const ROWS_PER_READ = 1_000;
/** Replaying more than this costs a data plane more than starting with an empty cache. */
const REPLAY_ROWS_MAX = 10_000;

/** Why the last known revision is gone: `went_back`: the database lost it; `pruned`: this process was away too long. */
export type HistoryLossReason = 'went_back' | 'pruned';

interface FeedListener {
  onRows(rows: readonly InvalidationRow[]): void;
  /** Nothing can be replayed from before this moment: every data plane must forget its contexts. */
  onHistoryLost(reason: HistoryLossReason): void;
}

export class InvalidationFeed {
  /** Highest revision that was read; 0 = the table was empty. */
  lastRevision = 0;
  /** Mark of {@link lastRevision}; '' = the table was empty. */
  lastMark = '';

  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #listener: FeedListener;
  readonly #background: BackgroundTasks;
  #unlisten: (() => Promise<void>) | null = null;
  #reading: Promise<void> | null = null;
  /** So that an outage is two lines in the log, whatever its length. */
  #failing = false;
  /** Begins when the read under way ends. */
  #next: Promise<void> | null = null;

  constructor(sql: Sql, log: Logger, listener: FeedListener) {
    this.#sql = sql;
    this.#log = log;
    this.#background = new BackgroundTasks(log);
    this.#listener = listener;
  }

  async start(): Promise<void> {
    this.#continueFrom(await this.#loadNewest());
    const read = (): void => void this.read().catch(noop); // logged where it fails
    // onlisten runs again after each reconnect: what was notified meanwhile is read then.
    this.#unlisten = (await this.#sql.listen(INVALIDATION_CHANNEL, read, read)).unlisten;
    this.#background.runEvery('invalidations', POLL_MS, () => this.read().catch(noop));
  }

  async stop(): Promise<void> {
    await this.#unlisten?.().catch(noop);
    await this.#background.stop();
    await this.#reading?.catch(() => undefined);
  }

  /** Reads what is new; resolves when everything committed before the call was handed on. */
  read(): Promise<void> {
    if (this.#reading === null) return this.#startRead();
    // The read under way may have taken its snapshot already: whoever comes now waits for the next one.
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        return this.#startRead();
      });
    return this.#next;
  }

  /**
   * What came after `revision` up to `upTo`. Null when too much came, some of it was pruned, or the database does not
   * have `revision` under this mark: it went back. `mark` is '' where a data plane of the release before named none.
   */
  async replay(revision: number, mark: string, upTo: number): Promise<readonly InvalidationRow[] | null> {
    if (revision > upTo) return null; // a database restored from an older state
    const rows = await this.#sql<InvalidationRow[]>`
      select revision, mark, kind, id, ends_sessions as "endsSessions" from invalidations
       where revision >= ${revision} and revision <= ${upTo} order by revision limit ${REPLAY_ROWS_MAX + 2}`;
    // Pruning takes the oldest first: while the watcher's last one is still there, nothing after it is gone.
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
          select revision, mark, kind, id, ends_sessions as "endsSessions" from invalidations
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
        this.#log.warn({ err: error }, 'invalidations cannot be read: data planes serve what they have');
      this.#failing = true;
      throw error;
    }
    if (this.#failing) this.#log.info('invalidations can be read again');
    this.#failing = false;
  }

  /** The last known revision is not in the table under its mark. */
  async #restartFromNewest(): Promise<void> {
    const lost = this.lastRevision;
    const newest = await this.#loadNewest();
    // Pruning leaves newer rows only. After a step back older rows are there, or the same number with another mark.
    const reason: HistoryLossReason = newest.oldest > lost ? 'pruned' : 'went_back';
    this.#continueFrom(newest);
    this.#log.error(
      { reason, lostRevision: lost, revision: newest.revision },
      reason === 'went_back'
        ? 'the database has lost transactions that were committed: all data planes start with empty context caches'
        : 'invalidations were pruned before this control plane read them: all data planes start with empty context caches',
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

/** Deletes what no data plane will ask for again; never the newest row, which carries the revision. */
export async function deleteOldInvalidations(sql: Sql, olderThanMs: number): Promise<void> {
  await sql`
    delete from invalidations
     where at < now() - ${olderThanMs} * interval '1 millisecond'
       and revision < (select max(revision) - ${RETAINED_ROWS_MIN} from invalidations)`;
}

/**
 * Limits the concurrent report queries of each organization: two run, eight wait in order, further ones are rejected.
 * So no organization can occupy all connections for heavy reads.
 *
 * Up to ten exports may be open as well; their queries run one at a time, and only while no other query of the
 * organization runs. Clients decide how long exports stay open, so a member may hold at most as many as remain free.
 * Counts per process, like the connection pool.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { invariant } from '@acg/base/invariant-failures';
import postgres from 'postgres';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { InvalidInput, TooManyAttempts } from '../../domain/errors.js';

const RUNNING_QUERIES_MAX = 2;
const WAITING_QUERIES_MAX = 8;
const OPEN_EXPORTS_MAX = RUNNING_QUERIES_MAX + WAITING_QUERIES_MAX;
const RETRY_AFTER_S = 5;
const QUERY_CANCELED = '57014';

/** The statement exceeded its time limit. */
export const isStatementTimeout = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === QUERY_CANCELED;

interface WaitingQuery {
  readonly start: () => void;
  readonly isExport: boolean;
}

interface OrgQueue {
  running: number;
  /** Open exports; a lane for each user. */
  readonly exports: DynamicShare;
  /** Number of report queries in `waiting`; export queries are not counted. */
  waitingQueries: number;
  readonly waiting: WaitingQuery[];
}

export class QueryConcurrencyLimiter {
  /** Organizations with queries or open exports; others have no entry. */
  readonly #queues = new Map<string, OrgQueue>();

  /** `sql`: a separate pool with a statement timeout. */
  constructor(readonly sql: Sql) {}

  /** Runs a report query in one snapshot on one connection. Throws {@link TooManyAttempts} if too many are waiting. */
  runInSnapshot<T>(orgId: string, query: (tx: Tx) => Promise<T>): Promise<T> {
    return this.run(orgId, async () => {
      try {
        return (await this.sql.begin('isolation level repeatable read read only', query)) as T;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        throw new InvalidInput('the query takes too long. Request a shorter time range or fewer agents.');
      }
    });
  }

  /**
   * Runs the query when a slot is free. `isPatient`: a query of an export, which waits behind any number of others.
   * Throws {@link TooManyAttempts}.
   */
  async run<T>(orgId: string, query: () => Promise<T>, isExport = false): Promise<T> {
    const queue = this.#queueOf(orgId);
    if (canRun(queue, isExport)) queue.running++;
    else if (!isExport && queue.waitingQueries >= WAITING_QUERIES_MAX) {
      throw new TooManyAttempts(
        'too many report queries of this organization are running. Retry later.',
        RETRY_AFTER_S,
      );
    } else {
      if (!isExport) queue.waitingQueries++;
      await new Promise<void>((start) => queue.waiting.push({ start, isExport })); // startNext has counted it as running
    }
    try {
      return await query();
    } finally {
      queue.running--;
      invariant(queue.running >= 0, 'report_queries_not_negative');
      startNext(queue);
      this.#removeIfIdle(orgId, queue);
    }
  }

  /** Counts an export as open until the returned function is called. Throws {@link TooManyAttempts}. */
  openExport(orgId: string, userId: string): () => void {
    const queue = this.#queueOf(orgId);
    if (!queue.exports.tryTake(userId)) {
      throw new TooManyAttempts('too many exports are open. Retry when one of them has finished.', RETRY_AFTER_S);
    }
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      queue.exports.release(userId);
      this.#removeIfIdle(orgId, queue);
    };
  }

  #queueOf(orgId: string): OrgQueue {
    let queue = this.#queues.get(orgId);
    if (queue === undefined) {
      const exports = new DynamicShare({ capacity: OPEN_EXPORTS_MAX, fraction: 1 / 2 });
      queue = { running: 0, exports, waitingQueries: 0, waiting: [] };
      this.#queues.set(orgId, queue);
    }
    return queue;
  }

  #removeIfIdle(orgId: string, queue: OrgQueue): void {
    if (queue.running === 0 && queue.exports.used === 0) this.#queues.delete(orgId);
  }
}

const canRun = ({ running }: OrgQueue, isExport: boolean): boolean => running < (isExport ? 1 : RUNNING_QUERIES_MAX);

/** Starts the oldest waiting query that may run. Skips export queries that may not run yet. */
function startNext(queue: OrgQueue): void {
  const at = queue.waiting.findIndex(({ isExport }) => canRun(queue, isExport));
  if (at < 0) return;
  const [next] = queue.waiting.splice(at, 1);
  if (!next!.isExport) queue.waitingQueries--;
  queue.running++;
  next!.start();
}

/**
 * How many costly questions one organization has at once: two run, eight wait in order, further ones are refused. So no
 * organization holds the connections for heavy reads, whatever it asks for. Exports count apart: as many may be open,
 * and their runs go one at a time, while nothing else of the organization runs; as they stay open for as long as their
 * readers like, one member alone gets half of them. Counts this process only, as its connections do.
 */
import postgres from 'postgres';
import type { Sql, Tx } from '../../db/sql.js';
import { InvalidInput, TooManyAttempts } from '../../domain/errors.js';

const RUNNING_QUERIES_MAX = 2;
const WAITING_QUERIES_MAX = 8;
const OPEN_EXPORTS_MAX = RUNNING_QUERIES_MAX + WAITING_QUERIES_MAX;
const RETRY_AFTER_S = 5;
const QUERY_CANCELED = '57014';

/** The statement took longer than it may. */
export const isStatementTimeout = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === QUERY_CANCELED;

interface WaitingQuery {
  readonly start: () => void;
  readonly isExport: boolean;
}

interface OrgQueue {
  running: number;
  openExports: number;
  /** Members with some of these. */
  readonly exportsByUser: Map<string, number>;
  /** Questions among the waiting. */
  waitingQueries: number;
  readonly waiting: WaitingQuery[];
}

export class QueryConcurrencyLimiter {
  /** Organizations with something under way; the others have no entry. */
  readonly #queues = new Map<string, OrgQueue>();

  /** `sql`: a pool of its own, with a statement timeout. */
  constructor(readonly sql: Sql) {}

  /** Answers a question from one snapshot, on one connection. Throws {@link TooManyAttempts} when too many wait already. */
  runInSnapshot<T>(orgId: string, question: (tx: Tx) => Promise<T>): Promise<T> {
    return this.run(orgId, async () => {
      try {
        return (await this.sql.begin('isolation level repeatable read read only', question)) as T;
      } catch (error) {
        if (!isStatementTimeout(error)) throw error;
        throw new InvalidInput('this takes too long: ask for less time or fewer agents');
      }
    });
  }

  /** Runs the query when it is its turn. `isPatient`: one of an export, which waits however many do. */
  async run<T>(orgId: string, query: () => Promise<T>, isPatient = false): Promise<T> {
    const lane = this.#queueOf(orgId);
    if (canRun(lane, isPatient)) lane.running++;
    else if (!isPatient && lane.waitingQueries >= WAITING_QUERIES_MAX) {
      throw new TooManyAttempts('too many questions of this organization at once: try again later', RETRY_AFTER_S);
    } else {
      if (!isPatient) lane.waitingQueries++;
      await new Promise<void>((start) => lane.waiting.push({ start, isExport: isPatient })); // who starts it has counted it
    }
    try {
      return await query();
    } finally {
      lane.running--;
      startNext(lane);
      this.#removeIfIdle(orgId, lane);
    }
  }

  /** Counts an export as open until the returned function is called. Throws {@link TooManyAttempts}. */
  openExport(orgId: string, userId: string): () => void {
    const lane = this.#queueOf(orgId);
    const own = lane.exportsByUser.get(userId) ?? 0;
    if (own >= OPEN_EXPORTS_MAX - lane.openExports) {
      throw new TooManyAttempts('too many exports are open: try again when one of them has ended', RETRY_AFTER_S);
    }
    lane.openExports++;
    lane.exportsByUser.set(userId, own + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      lane.openExports--;
      const left = lane.exportsByUser.get(userId)! - 1;
      if (left === 0) lane.exportsByUser.delete(userId);
      else lane.exportsByUser.set(userId, left);
      this.#removeIfIdle(orgId, lane);
    };
  }

  #queueOf(orgId: string): OrgQueue {
    let lane = this.#queues.get(orgId);
    if (lane === undefined) {
      lane = { running: 0, openExports: 0, exportsByUser: new Map(), waitingQueries: 0, waiting: [] };
      this.#queues.set(orgId, lane);
    }
    return lane;
  }

  #removeIfIdle(orgId: string, lane: OrgQueue): void {
    if (lane.running === 0 && lane.openExports === 0) this.#queues.delete(orgId);
  }
}

const canRun = ({ running }: OrgQueue, isPatient: boolean): boolean => running < (isPatient ? 1 : RUNNING_QUERIES_MAX);

/** The oldest that may run; a run of an export waits on where it does not. */
function startNext(lane: OrgQueue): void {
  const at = lane.waiting.findIndex(({ isExport: isPatient }) => canRun(lane, isPatient));
  if (at < 0) return;
  const [next] = lane.waiting.splice(at, 1);
  if (!next!.isExport) lane.waitingQueries--;
  lane.running++;
  next!.start();
}

/**
 * How many costly questions one organization has at once: two run, eight wait in order, further ones are refused. So no
 * organization holds the connections for heavy reads, whatever it asks for. Exports count apart: as many may be open,
 * and their runs go one at a time, while nothing else of the organization runs; as they stay open for as long as their
 * readers like, one member alone gets half of them. Counts this process only, as its connections do.
 */
import postgres from 'postgres';
import type { Sql, Tx } from '../db/sql.js';
import { InvalidInput, TooManyAttempts } from '../domain/errors.js';

const RUNNING_MAX = 2;
const WAITING_MAX = 8;
const EXPORTS_MAX = RUNNING_MAX + WAITING_MAX;
const RETRY_AFTER_S = 5;
const QUERY_CANCELED = '57014';

/** The statement took longer than it may. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === QUERY_CANCELED;

interface Waiting {
  readonly start: () => void;
  readonly isPatient: boolean;
}

interface Lane {
  running: number;
  exports: number;
  /** Members with some of these. */
  readonly exportsOf: Map<string, number>;
  /** Questions among the waiting. */
  impatient: number;
  readonly waiting: Waiting[];
}

export class QueryGate {
  /** Organizations with something under way; the others have no entry. */
  readonly #lanes = new Map<string, Lane>();

  /** `sql`: a pool of its own, with a statement timeout. */
  constructor(readonly sql: Sql) {}

  /** Answers a question from one snapshot, on one connection. Throws {@link TooManyAttempts} when too many wait already. */
  ask<T>(orgId: string, question: (tx: Tx) => Promise<T>): Promise<T> {
    return this.run(orgId, async () => {
      try {
        return (await this.sql.begin('isolation level repeatable read read only', question)) as T;
      } catch (error) {
        if (!isTimeout(error)) throw error;
        throw new InvalidInput('this takes too long: ask for less time or fewer agents');
      }
    });
  }

  /** Runs the query when it is its turn. `isPatient`: one of an export, which waits however many do. */
  async run<T>(orgId: string, query: () => Promise<T>, isPatient = false): Promise<T> {
    const lane = this.#lane(orgId);
    if (mayRun(lane, isPatient)) lane.running++;
    else if (!isPatient && lane.impatient >= WAITING_MAX) {
      throw new TooManyAttempts('too many questions of this organization at once: try again later', RETRY_AFTER_S);
    } else {
      if (!isPatient) lane.impatient++;
      await new Promise<void>((start) => lane.waiting.push({ start, isPatient })); // who starts it has counted it
    }
    try {
      return await query();
    } finally {
      lane.running--;
      startNext(lane);
      this.#forget(orgId, lane);
    }
  }

  /** Counts an export as open until the returned function is called. Throws {@link TooManyAttempts}. */
  openExport(orgId: string, userId: string): () => void {
    const lane = this.#lane(orgId);
    const own = lane.exportsOf.get(userId) ?? 0;
    if (own >= EXPORTS_MAX - lane.exports) {
      throw new TooManyAttempts('too many exports are open: try again when one of them has ended', RETRY_AFTER_S);
    }
    lane.exports++;
    lane.exportsOf.set(userId, own + 1);
    let open = true;
    return () => {
      if (!open) return;
      open = false;
      lane.exports--;
      const left = lane.exportsOf.get(userId)! - 1;
      if (left === 0) lane.exportsOf.delete(userId);
      else lane.exportsOf.set(userId, left);
      this.#forget(orgId, lane);
    };
  }

  #lane(orgId: string): Lane {
    let lane = this.#lanes.get(orgId);
    if (lane === undefined) {
      lane = { running: 0, exports: 0, exportsOf: new Map(), impatient: 0, waiting: [] };
      this.#lanes.set(orgId, lane);
    }
    return lane;
  }

  #forget(orgId: string, lane: Lane): void {
    if (lane.running === 0 && lane.exports === 0) this.#lanes.delete(orgId);
  }
}

const mayRun = ({ running }: Lane, isPatient: boolean): boolean => running < (isPatient ? 1 : RUNNING_MAX);

/** The oldest that may run; a run of an export waits on where it does not. */
function startNext(lane: Lane): void {
  const at = lane.waiting.findIndex(({ isPatient }) => mayRun(lane, isPatient));
  if (at < 0) return;
  const [next] = lane.waiting.splice(at, 1);
  if (!next!.isPatient) lane.impatient--;
  lane.running++;
  next!.start();
}

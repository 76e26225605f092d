/**
 * Lets what a call does commit together with something that stands around it: inside `runJoined`, every query on a pool
 * made `joinable` goes to the one transaction, and a transaction begun there is a savepoint of it. Outside, and once the
 * transaction is over, nothing changes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql, Tx } from './sql.js';

export interface AmbientTransaction {
  readonly tx: Tx;
  /**
   * `paused`: there is none, until the call comes back from what it waits for. `over`: it commits, and what still runs
   * then, in the background, uses the pool.
   */
  readonly state: 'open' | 'paused' | 'over';
  /** Its connection is gone. Every further query fails with this: on the pool it would be half of the work. */
  readonly failure: Error | null;
  /** Rejects with the failure once there is one. */
  readonly connectionLost: Promise<never>;
  /** Ends the transaction, in which nothing may be written yet. */
  pause(): Promise<void>;
  /** Begins another one in its place; may throw. */
  resume(): Promise<void>;
}

const ambientTransaction = new AsyncLocalStorage<AmbientTransaction>();

/** Null: queries go to the pool. */
const openAmbientTransaction = (): AmbientTransaction | null => {
  const transaction = ambientTransaction.getStore();
  if (transaction === undefined) return null;
  if (transaction.failure !== null) throw transaction.failure;
  if (transaction.state === 'paused') throw new Error('a query while the transaction of the call is paused');
  return transaction.state === 'open' ? transaction : null;
};

/**
 * What is asked between the failure of a statement and the end of its connection may be answered by nobody, and the way
 * back to a savepoint is asked just then: its end is not waited for any longer than there is a connection.
 */
const runInSavepoint = <T>(
  { tx, connectionLost: lost }: AmbientTransaction,
  work: (inner: Tx) => Promise<T>,
): Promise<unknown> => Promise.race([tx.savepoint(work), lost]);

export function runInAmbientTransaction(transaction: AmbientTransaction, work: () => void): void {
  ambientTransaction.run(transaction, work);
}

/** Does what may take long, and asks nothing of the database, while no transaction stands open for it. */
export async function runOutsideTransaction<T>(work: () => Promise<T>): Promise<T> {
  const transaction = ambientTransaction.getStore();
  if (transaction?.state !== 'open') return work();
  await transaction.pause();
  try {
    return await work();
  } finally {
    await transaction.resume();
  }
}

export function bindToAmbientTransaction(pool: Sql): Sql {
  return new Proxy(pool, {
    apply: (target, self, args) => Reflect.apply((openAmbientTransaction()?.tx ?? target) as never, self, args),
    get(target, name) {
      const transaction = openAmbientTransaction();
      if (transaction === null) return Reflect.get(target, name);
      if (name === 'begin') return (work: (inner: Tx) => Promise<unknown>) => runInSavepoint(transaction, work);
      return Reflect.get(name in transaction.tx ? transaction.tx : target, name);
    },
  });
}

/**
 * Lets all queries of a call commit in one transaction. Within `runInAmbientTransaction`, queries on a pool wrapped by
 * `bindToAmbientTransaction` join that transaction, and a transaction begun there becomes a savepoint. Outside, and
 * after the transaction has ended, queries use the pool.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql, Tx } from './postgres-client.js';

export interface AmbientTransaction {
  readonly tx: Tx;
  /**
   * `paused`: there is no transaction until the call has finished waiting. `ended`: the transaction commits; later
   * queries, in the background, use the pool.
   */
  readonly state: 'open' | 'paused' | 'ended';
  /**
   * The connection is lost. Every further query fails with this error: on the pool it would commit only part of the
   * work.
   */
  readonly failure: Error | null;
  /** Rejects with the failure when the connection is lost. */
  readonly connectionLost: Promise<never>;
  /** Ends the transaction, in which nothing may have been written yet. */
  pause(): Promise<void>;
  /** Begins a new transaction; may throw. */
  resume(): Promise<void>;
}

const ambientTransaction = new AsyncLocalStorage<AmbientTransaction>();

/** Null: queries use the pool. Throws if the connection is lost or the transaction is paused. */
const openAmbientTransaction = (): AmbientTransaction | null => {
  const transaction = ambientTransaction.getStore();
  if (transaction === undefined) return null;
  if (transaction.failure !== null) throw transaction.failure;
  if (transaction.state === 'paused') throw new Error('query while the transaction of this call is paused');
  return transaction.state === 'open' ? transaction : null;
};

/**
 * Runs the work in a savepoint, until the connection is lost. A rollback to a savepoint that is sent while the
 * connection ends may never be answered.
 */
const runInSavepoint = <T>(
  { tx, connectionLost }: AmbientTransaction,
  work: (inner: Tx) => Promise<T>,
): Promise<unknown> => Promise.race([tx.savepoint(work), connectionLost]);

export function runInAmbientTransaction(transaction: AmbientTransaction, work: () => void): void {
  ambientTransaction.run(transaction, work);
}

/** Runs work that may take long and uses no database, without an open transaction meanwhile. */
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

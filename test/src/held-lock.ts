/** Locks of Postgres that a test holds, to let what waits for them line up in an order of its choice. */
import type { Sql, Tx } from '@acg/controlplane/db/sql';

/** Resolves once `take` has its locks; they are held until the returned function is called. */
export function holdLock(sql: Sql, take: (tx: Tx) => Promise<unknown>): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    let release = (): void => {};
    const released = new Promise<void>((go) => {
      release = go;
    });
    const transaction = sql.begin(async (tx) => {
      await take(tx);
      resolve(async () => {
        release();
        await transaction;
      });
      await released;
    });
    transaction.catch(reject);
  });
}

/** Statements of this database that wait for a lock. */
export async function lockWaiters(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return row!.n;
}

/** One connection of the pool for itself, for what a transaction cannot hold: locks and settings of a session. */
import postgres, { type ReservedSql } from 'postgres';
import type { Sql } from './sql.js';

export type ReservedConnection = ReservedSql<{ bigint: number }>;

/** Returned to the pool as it was: without locks, with the settings that it was opened with. */
export async function withReservedConnection<T>(
  sql: Sql,
  work: (connection: ReservedConnection) => Promise<T>,
): Promise<T> {
  const connection = await sql.reserve();
  try {
    return await work(connection);
  } finally {
    await waitForConnectionClose();
    if (await resetSession(connection)) connection.release();
  }
}

/** False: it is gone, and the pool has opened or will open another in its place. */
async function resetSession(connection: ReservedConnection): Promise<boolean> {
  try {
    await connection`select pg_advisory_unlock_all()`;
    await connection`reset all`;
    return true;
  } catch (error) {
    return error instanceof postgres.PostgresError;
  }
}

/**
 * To be awaited before anything is asked on a connection whose statement has failed. Where the connection itself broke,
 * the statement fails up to a turn of the event loop before the client of Postgres knows the connection's end, and what is
 * asked in between is never answered.
 */
export async function waitForConnectionClose(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((next) => setImmediate(next));
}

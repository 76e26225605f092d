/** A connection reserved for one task, for what a transaction cannot hold: locks, cursors and settings of a session. */
import postgres, { type ReservedSql } from 'postgres';
import type { Sql } from './postgres-client.js';

export type ReservedConnection = ReservedSql<{ bigint: number }>;

/**
 * Runs the work on a reserved connection. Before the connection returns to the pool, its locks are released, its cursors
 * closed and its settings reset.
 */
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

/** Returns false if the connection is lost; the pool replaces it. */
async function resetSession(connection: ReservedConnection): Promise<boolean> {
  try {
    await connection`select pg_advisory_unlock_all()`;
    await connection`close all`;
    await connection`reset all`;
    return true;
  } catch (error) {
    return error instanceof postgres.PostgresError;
  }
}

/**
 * Await this before any query on a connection whose statement has failed. If the connection itself broke, the statement
 * fails up to one event-loop turn before the Postgres client knows that, and a query sent in between is never answered.
 */
export async function waitForConnectionClose(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((next) => setImmediate(next));
}

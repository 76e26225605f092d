/** The Postgres connection pool and its types. */
import type { Socket } from 'node:net';
import type { Secret } from '@acg/base/secret';
import postgres from 'postgres';
import { createSocketFactory, type DeadPeerTimeouts, type PostgresAddress } from './dead-peer-detection.js';

/** int8 arrives as a number: exact below 2^53. Sums of nano-dollars are read as `::text` where they may be larger. */
type Types = { bigint: number };
export type Sql = postgres.Sql<Types>;
/** Functions that must run inside a transaction take this type. */
export type Tx = postgres.TransactionSql<Types>;
export type { JSONValue } from 'postgres';

export interface SqlOptions {
  readonly connectionsMax: number;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
  /** With a server that says nothing; ten seconds of both unless given. */
  readonly deadPeerTimeouts?: DeadPeerTimeouts;
}

const CONNECT_TIMEOUT_S = 10;
const RECONNECT_FIRST_S = 0.1;
const RECONNECT_MAX_S = 1;
const STATEMENT_TIMEOUT_MS = 60_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

/** Opens a lazy pool; nothing connects before the first query. */
export function openPool(url: Secret, options: SqlOptions): Sql {
  const socket: (to: PostgresAddress) => Socket = createSocketFactory(options.deadPeerTimeouts);
  return postgres<{ bigint: postgres.PostgresType<number> }>(url.reveal(), {
    ...({ socket } as object), // known to the client, not to its types
    max: options.connectionsMax,
    connect_timeout: CONNECT_TIMEOUT_S,
    // The library's own schedule reaches 20 s, which is how long a database that is back would go unused.
    backoff: (retries) => Math.min(RECONNECT_FIRST_S * 2 ** retries, RECONNECT_MAX_S) * (0.5 + Math.random() / 2),
    idle_timeout: 300,
    max_lifetime: 3_600,
    onnotice: () => {},
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      TimeZone: 'UTC',
      jit: 'off', // compiling a query over 90 partitions takes longer than running it
    },
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => Number(text),
      },
    },
  });
}

const UNIQUE_VIOLATION = '23505';

/** Whether the error is a violation of that unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION && error.constraint_name === constraint
  );
}

const FOREIGN_KEY_VIOLATION = '23503';
const KEY_VIOLATIONS = new Set([UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION]);

/** A row that this one refers to was deleted by another transaction meanwhile. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === FOREIGN_KEY_VIOLATION;

const TRANSACTION_CONFLICTS = new Set(['40001', '40P01']);

/** A deadlock or a serialization failure: the transaction was rolled back for another one, and may be tried again. */
export const isTransactionConflict = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && TRANSACTION_CONFLICTS.has(error.code);

/** Whether the error is a violation of any unique or foreign key. */
export const isKeyViolation = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && KEY_VIOLATIONS.has(error.code);

const UNSTORABLE_TEXT = new Set(['22021', '22P05']);

/** Postgres stores every character but NUL, which JSON and URLs can carry. */
export const isUnstorableText = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && UNSTORABLE_TEXT.has(error.code);

/**
 * The client's own words for a connection that is not there, the operating system's, and the server's. Among these: read
 * only (a standby after a failover), no room on its disk, in its memory or its tables of locks and connections, and a
 * statement that waited too long, for a lock that somebody else holds.
 */
const UNAVAILABLE_CODES = new Set(
  (
    'CONNECTION_CLOSED CONNECTION_ENDED CONNECTION_DESTROYED CONNECT_TIMEOUT ' +
    'ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ' +
    '57P01 57P02 57P03 08000 08003 08006 08001 08004 25006 53000 53100 53200 53300 53400 55P03 57014'
  ).split(' '),
);

/** Postgres cannot be reached, is starting or stopping, or does not take this now: it may in a moment. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  isFatalServerError(error) ||
  (error instanceof Error &&
    UNAVAILABLE_CODES.has((error as { code?: string }).code ?? '') &&
    isPostgresConnectionError(error));

/** The server ends this connection or does not open it, for whatever reason: no query's fault. */
const isFatalServerError = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.severity === 'FATAL';

/** A refused connection to something else is not the database's. */
const isPostgresConnectionError = (error: Error): boolean =>
  error instanceof postgres.PostgresError || 'query' in error || /postgres/.test(error.stack ?? '');

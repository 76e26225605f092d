/** The Postgres connection pool, its types and its error classes. */
import type { Socket } from 'node:net';
import type { Secret } from '@acg/base/secret';
import postgres from 'postgres';
import {
  createSocketFactory,
  type DeadPeerTimeouts,
  type PostgresAddress,
} from './probe-silent-server-and-disconnect.js';

/** int8 is parsed as a number, exact below 2^53. Sums of nano-dollars that may be larger are read as `::text`. */
type Types = { bigint: number };
export type Sql = postgres.Sql<Types>;
/** Functions that must run inside a transaction take this type. */
export type Tx = postgres.TransactionSql<Types>;
export type { JSONValue } from 'postgres';

export interface SqlOptions {
  readonly connectionsMax: number;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
  /** Limits for a silent server; 10 s each by default. */
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
    ...({ socket } as object), // supported by the client, but missing in its types
    max: options.connectionsMax,
    connect_timeout: CONNECT_TIMEOUT_S,
    // The library's default backoff reaches 20 s, and a recovered database would stay unused that long.
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

/** Whether the error is a violation of this unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION && error.constraint_name === constraint
  );
}

const FOREIGN_KEY_VIOLATION = '23503';
const KEY_VIOLATIONS = new Set([UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION]);

/** Another transaction has deleted a row that this one refers to. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === FOREIGN_KEY_VIOLATION;

const TRANSACTION_CONFLICTS = new Set(['40001', '40P01']);

/** A deadlock or serialization failure: the transaction was rolled back and may be retried. */
export const isTransactionConflict = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && TRANSACTION_CONFLICTS.has(error.code);

/** Whether the error violates any unique or foreign key. */
export const isKeyViolation = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && KEY_VIOLATIONS.has(error.code);

const UNSTORABLE_TEXT = new Set(['22021', '22P05']);

/** Postgres cannot store NUL, which JSON and URLs can contain. */
export const isUnstorableText = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && UNSTORABLE_TEXT.has(error.code);

/**
 * Codes of the client library for a lost connection, of the operating system, and of the server. The server's include:
 * read-only (a standby after a failover), out of disk space, memory, locks or connections, and a statement that timed
 * out, perhaps while waiting for a lock.
 */
const UNAVAILABLE_CODES = new Set(
  (
    'CONNECTION_CLOSED CONNECTION_ENDED CONNECTION_DESTROYED CONNECT_TIMEOUT ' +
    'ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT ' +
    '57P01 57P02 57P03 08000 08003 08006 08001 08004 25006 53000 53100 53200 53300 53400 55P03 57014'
  ).split(' '),
);

/** Postgres is unreachable, starting, stopping or out of resources. A retry may succeed. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  isFatalServerError(error) ||
  (error instanceof Error &&
    UNAVAILABLE_CODES.has((error as { code?: string }).code ?? '') &&
    isPostgresConnectionError(error));

/** The server closed this connection or rejected it; the query is not at fault. */
const isFatalServerError = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.severity === 'FATAL';

/** A failed connection to another service is not a database error. */
const isPostgresConnectionError = (error: Error): boolean =>
  error instanceof postgres.PostgresError || 'query' in error || /postgres/.test(error.stack ?? '');

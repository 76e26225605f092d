/**
 * Connection pools to Postgres, separated by use. Requests that a tenant can make slow never delay revocations, the
 * booking of usage, or the resolution of a token.
 */
import type { Secret } from '@acg/base/secret';
import { openPool, type Sql, type SqlOptions } from './postgres-client.js';

export interface Pools {
  /** The management API and its background tasks. */
  readonly api: Sql;
  /** Reports, logs and exports. */
  readonly reads: Sql;
  readonly ingest: Sql;
  /** What data planes must learn at once: invalidations and circuits; also their registrations. */
  readonly feeds: Sql;
  /** Tokens that data planes have not cached. */
  readonly resolve: Sql;
  end(): Promise<void>;
}

const CONNECTIONS_MAX = { api: 10, reads: 6, ingest: 4, feeds: 3, resolve: 4 } as const;
const READ_TIMEOUT_MS = 30_000;
const END_TIMEOUT_S = 5;

/** Lazy: a pool connects at its first query. */
export function openConnectionPools(url: Secret): Pools {
  const open = (name: keyof typeof CONNECTIONS_MAX, overrides: Partial<SqlOptions> = {}): Sql =>
    openPool(url, { connectionsMax: CONNECTIONS_MAX[name], applicationName: `acg-${name}`, ...overrides });
  const reads = open('reads', { statementTimeoutMs: READ_TIMEOUT_MS });
  const pools = { api: open('api'), reads, ingest: open('ingest'), feeds: open('feeds'), resolve: open('resolve') };
  return {
    ...pools,
    async end() {
      await Promise.all(Object.values(pools).map((sql) => sql.end({ timeout: END_TIMEOUT_S })));
    },
  };
}

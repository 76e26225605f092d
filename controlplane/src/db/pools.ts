/**
 * Connections to Postgres, apart by what waits for them: nothing that a tenant can make slow stands in front of a
 * revocation, of usage that is to be booked, or of a token that an agent waits for.
 */
import type { Secret } from '@acg/base/secret';
import { openPool, type Sql, type SqlOptions } from './sql.js';

export interface Pools {
  /** The management API and the jobs behind it. */
  readonly api: Sql;
  /** Reports, logs and exports. */
  readonly reads: Sql;
  readonly ingest: Sql;
  /** What data planes are told at once: invalidations, circuits, who is connected. */
  readonly feeds: Sql;
  /** Tokens that data planes do not know. */
  readonly resolve: Sql;
  end(): Promise<void>;
}

const CONNECTIONS_MAX = { api: 10, reads: 6, ingest: 4, feeds: 3, resolve: 4 } as const;
const READ_TIMEOUT_MS = 30_000;
const END_TIMEOUT_S = 5;

/** Nothing connects before its first query. */
export function openConnectionPools(url: Secret): Pools {
  const open = (name: keyof typeof CONNECTIONS_MAX, more: Partial<SqlOptions> = {}): Sql =>
    openPool(url, { connectionsMax: CONNECTIONS_MAX[name], applicationName: `acg-${name}`, ...more });
  const reads = open('reads', { statementTimeoutMs: READ_TIMEOUT_MS });
  const pools = { api: open('api'), reads, ingest: open('ingest'), feeds: open('feeds'), resolve: open('resolve') };
  return {
    ...pools,
    async end() {
      await Promise.all(Object.values(pools).map((sql) => sql.end({ timeout: END_TIMEOUT_S })));
    },
  };
}

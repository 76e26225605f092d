/**
 * Settings for statements whose every step is a lookup by index. Postgres plans such a statement again at each execution,
 * which for one of many joins takes several times as long as its execution (bench/RESULTS.md, "Runs and new tokens in Postgres"). With these settings
 * a connection plans it once. The plan must not depend on the sizes that tables had then: so it scans and hashes no
 * table where an index can be used.
 */
import type { Sql, Tx } from './postgres-client.js';

const SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const;

/**
 * An expression that applies the settings when it is evaluated: to the rest of the transaction, or to all later statements
 * of the connection. Settings at connect time would need `ignore_startup_parameters` in PgBouncer.
 */
export function planOnce(sql: Sql | Tx, until: 'end of transaction' | 'end of connection') {
  const isLocal = until === 'end of transaction';
  return Object.entries(SETTINGS)
    .map(([name, value]) => sql`set_config(${name}, ${value}, ${isLocal})`)
    .reduce((all, one) => sql`${all}, ${one}`);
}

/** Reads the run's ledger from the database and says when no further records can arrive. */

import { type ChaosEnvironment, readMetric } from '../chaos-environment.js';
import type { ChaosAgent } from '../traffic/tenants.js';
import type { LedgerCall } from './evidence-types.js';
import type { LedgerCallMatcher } from './ledger-call-matcher.js';

interface LedgerRow {
  readonly id: string;
  readonly agent_id: string;
  readonly method: string;
  readonly path: string;
  readonly bytes_in: number;
  readonly cost_nanos: number;
  readonly tokens: number;
  readonly error: string | null;
}

export interface LedgerSnapshot {
  readonly calls: readonly LedgerCall[];
  readonly sums: { readonly requests: number; readonly costNanos: number; readonly spentNanos: number };
  /** Records that could not be recorded in the ledger, and deliveries that failed for good. */
  readonly poisonRecords: number;
  readonly failedDeliveries: number;
}

export async function readLedgerSnapshot(
  { postgres }: ChaosEnvironment,
  agents: readonly ChaosAgent[],
  ledgerCallMatcher: LedgerCallMatcher,
): Promise<LedgerSnapshot> {
  const { sql } = postgres;
  const names = new Map(agents.map(({ id, agent }) => [id, agent]));
  const rows = await sql<LedgerRow[]>`
    select id, agent_id, method, path, bytes_in, cost_nanos,
           tokens_in_uncached + tokens_cache_read + tokens_cache_write + tokens_out as tokens, error
    from usage_records`;
  const [hours] = await sql<{ requests: number; cost: number }[]>`
    select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(cost_nanos), 0)::bigint as cost from usage_hourly`;
  const [month] = await sql<{ spent: number }[]>`
    select coalesce(sum(spent_nanos), 0)::bigint as spent from month_spend`;
  const [poison] = await sql<{ count: number }[]>`select count(*) as count from poison_records`;
  const [failed] = await sql<{ count: number }[]>`
    select count(*) as count from webhook_deliveries where status = 'failed'`;
  return {
    calls: rows.map((row) => ({
      recordId: row.id,
      callId: ledgerCallMatcher.findCallId(row.agent_id, row.method, row.path, row.bytes_in),
      agent: names.get(row.agent_id) ?? '',
      costNanos: row.cost_nanos,
      tokens: row.tokens,
      error: row.error ?? '',
    })),
    sums: { requests: hours!.requests, costNanos: hours!.cost, spentNanos: month!.spent },
    poisonRecords: poison!.count,
    failedDeliveries: failed!.count,
  };
}

/** True when no call is in flight, all usage is acknowledged and no delivery is pending. */
export async function isQuiescent({ dataPlanes, postgres }: ChaosEnvironment): Promise<boolean> {
  for (const { metricsUrl } of dataPlanes) {
    for (const name of ['gateway_inflight', 'gateway_websockets', 'gateway_spool_bytes']) {
      if ((await readMetric(metricsUrl, name)) !== 0) return false;
    }
  }
  const [waiting] = await postgres.sql<{ count: number }[]>`
    select (select count(*) from events where fanned_out_at is null)
         + (select count(*) from webhook_deliveries where status = 'pending') as count`;
  return waiting!.count === 0;
}

/** SQL that reads the pages of /logs. */
import type { Sql, Tx } from '../db/sql.js';
import type { Page } from '../http/pagination.js';
import { SEARCHED_TEXT } from '../ledger/search-index.js';
import type { TimeRange } from './period.js';

export interface LogFilter {
  readonly agentId: string;
  readonly range: TimeRange;
  readonly provider: string | null;
  readonly statusMin: number | null;
  readonly statusMax: number | null;
  /** Substring, any case, of path, model, error or request id. */
  readonly search: string | null;
}

/** A row as it is shown, but for times, nulls and cents. */
export interface LogRow {
  readonly id: string;
  readonly startedAt: Date;
  readonly agentId: string;
  readonly keyId: string;
  readonly providerSlug: string;
  readonly accountId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly model: string;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  readonly tokensReasoning: number;
  readonly costNanos: number;
  readonly usageSource: string;
  readonly priceSource: string;
  readonly durationMs: number;
  readonly ttfbMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly streamed: boolean;
  readonly dataPlaneId: string;
}

const columns = (sql: Sql | Tx) => sql`
  id, started_at as "startedAt", agent_id as "agentId", key_id as "keyId", provider_slug as "providerSlug",
  account_id as "accountId", method, path, status, error, model,
  tokens_in_uncached + tokens_cache_read + tokens_cache_write as "tokensIn", tokens_out as "tokensOut",
  tokens_cache_read as "tokensCacheRead", tokens_cache_write as "tokensCacheWrite",
  tokens_reasoning as "tokensReasoning", cost_nanos as "costNanos", usage_source as "usageSource",
  price_source as "priceSource", duration_ms as "durationMs", ttfb_ms as "ttfbMs", bytes_in as "bytesIn",
  bytes_out as "bytesOut", streamed, data_plane_id as "dataPlaneId"`;

/** A page of matching rows, newest first, and how many match, counted to `countMax` and no further: one scan for both. */
export async function selectLogPage(
  sql: Tx,
  filter: LogFilter,
  page: Page,
  countMax: number,
): Promise<{ readonly rows: readonly LogRow[]; readonly counted: number }> {
  const { limit, offset } = page;
  const rows = await sql<(LogRow & { readonly counted: number })[]>`
    with hits as materialized (
      select started_at, id from usage_records where ${condition(sql, filter)}
       order by started_at desc, id desc limit ${Math.max(countMax, offset + limit)}),
    shown as (select started_at, id from hits order by started_at desc, id desc limit ${limit} offset ${offset})
    select counted, r.* from (select count(*) as counted from hits) c left join (
      select row.* from shown s cross join lateral ( -- lateral: 50 look-ups, never a join over all days
        select ${columns(sql)} from usage_records u where u.started_at = s.started_at and u.id = s.id limit 1) row
    ) r on true
     order by "startedAt" desc, id desc`;
  const counted = rows[0]!.counted;
  return { rows: rows[0]!.id === null ? [] : rows, counted };
}

function condition(sql: Sql | Tx, filter: LogFilter) {
  const { agentId, range, provider, statusMin, statusMax, search } = filter;
  return sql`agent_id = ${agentId}
    and started_at >= ${new Date(range.fromMs)} and started_at < ${new Date(range.toMs)}
    ${provider === null ? sql`` : sql`and provider_slug = ${provider}`}
    ${statusMin === null ? sql`` : sql`and status >= ${statusMin}`}
    ${statusMax === null ? sql`` : sql`and status <= ${statusMax}`}
    ${search === null ? sql`` : sql`and ${sql.unsafe(SEARCHED_TEXT)} ilike ${pattern(search)}`}`;
}

const LIKE_SPECIAL = /[\\%_]/g;
const pattern = (search: string): string => `%${search.replace(LIKE_SPECIAL, '\\$&')}%`;

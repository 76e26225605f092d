/** SQL of the pages of an agent's logs. */
import { containsPattern } from '../../db/like-pattern.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import { SEARCH_EXPRESSION } from '../../ledger/log-search-index.js';
import { JSON_ROW_SQL } from '../log-record/csv-and-json-row-sql.js';
import type { LogRecord } from '../log-record/log-schema.js';
import type { TimeRange } from '../query/time-range.js';

export interface AgentLogFilter {
  readonly orgId: string;
  readonly agentId: string;
  readonly range: TimeRange;
  readonly provider: string | null;
  readonly statusMin: number | null;
  readonly statusMax: number | null;
  /** Case-insensitive substring of path, model, error or request id. */
  readonly search: string | null;
}

/** One page of matching rows, newest first, and the number of matches, counted up to `countMax`. One scan for both. */
export async function selectAgentLogPage(
  sql: Tx,
  filter: AgentLogFilter,
  page: Page,
  countMax: number,
): Promise<{ readonly logs: LogRecord[]; readonly counted: number }> {
  const { limit, offset } = page;
  const rows = await sql<{ readonly counted: number; readonly log: LogRecord | null }[]>`
    with hits as materialized (
      select started_at, id from usage_records where ${filterCondition(sql, filter)}
       order by started_at desc, id desc limit ${Math.max(countMax, offset + limit)}),
    shown as (select started_at, id from hits order by started_at desc, id desc limit ${limit} offset ${offset})
    select counted, log from (select count(*) as counted from hits) c left join (
      select s.*, row.log from shown s cross join lateral ( -- lateral: 50 lookups instead of a join over all days
        select ${sql.unsafe(JSON_ROW_SQL)}::json as log
          from usage_records r
         where r.org_id = ${filter.orgId} and r.started_at = s.started_at and r.id = s.id limit 1) row
    ) r on true
     order by started_at desc, id desc`;
  return { logs: rows.flatMap(({ log }) => log ?? []), counted: rows[0]!.counted };
}

function filterCondition(sql: Sql | Tx, filter: AgentLogFilter) {
  const { agentId, range, provider, statusMin, statusMax, search } = filter;
  return sql`agent_id = ${agentId}
    and started_at >= ${new Date(range.fromMs)} and started_at < ${new Date(range.toMs)}
    ${provider === null ? sql`` : sql`and provider_slug = ${provider}`}
    ${statusMin === null ? sql`` : sql`and status >= ${statusMin}`}
    ${statusMax === null ? sql`` : sql`and status <= ${statusMax}`}
    ${search === null ? sql`` : sql`and ${sql.unsafe(SEARCH_EXPRESSION)} ilike ${containsPattern(search)}`}`;
}

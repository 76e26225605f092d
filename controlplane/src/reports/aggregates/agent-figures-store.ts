/**
 * SQL of the list of agents with their usage figures. One query sorts all matching agents by one figure and returns the
 * page; the other figures are read only for the agents of the page.
 */
import { containsPattern } from '../../db/like-pattern.js';
import type { Tx } from '../../db/postgres-client.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { Order } from '../../http/search-and-sort-query-schema.js';
import { type ConfiguredLimits, limitColumns } from '../../limits/agent-limit-fields.js';
import { rollupsByDimension, type UsageScope } from '../query/rollup-selection.js';
import type { TimeRange } from '../query/time-range.js';
import type { AgentFigures, AgentSort } from './agent-figures-schema.js';

/** Filter and order of the list of agents. */
export interface AgentListQuery {
  /** The organization or project; `agentIds` is null. */
  readonly scope: UsageScope;
  readonly range: TimeRange;
  /** Month of the spend, `YYYY-MM` (UTC). */
  readonly month: string;
  /** Part of the name, slug or id; `''`: any. */
  readonly search: string;
  readonly status: AgentFigures['status'] | null;
  readonly sort: AgentSort;
  readonly order: Order;
}

export interface ListedAgent extends ConfiguredLimits {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: AgentFigures['status'];
  readonly projectId: string;
  readonly projectName: string;
  readonly ownerUserId: string | null;
  readonly usageThresholds: readonly number[];
  readonly createdAt: Date;
  /** Spend of the month as decimal text, because it may exceed 2^53. */
  readonly monthNanos: string;
  /**
   * Start of the last call. For hours written before call times were stored, the hour; for calls older than the hourly
   * rollups, the day.
   */
  readonly lastCallAt: Date | null;
}

/** The agents of the page in the requested order, and the number of all matching agents. */
export async function listAgentsByFigure(
  tx: Tx,
  query: AgentListQuery,
  { limit, offset }: Page,
): Promise<ListResult<ListedAgent>> {
  const where = agentListCondition(tx, query);
  const direction = query.order === 'asc' ? tx`asc` : tx`desc`;
  const rows = await tx<ListedAgent[]>`
    select a.*, p.name as "projectName", coalesce(m.spent_nanos, 0)::text as "monthNanos", l.at as "lastCallAt"
      from (select a.id, a.name, a.slug, a.status, a.project_id as "projectId", a.owner_user_id as "ownerUserId", a.created_at as "createdAt",
                   a.usage_thresholds as "usageThresholds",
                   ${limitColumns(tx)}, ${ZERO_WHEN_MISSING.has(query.sort) ? tx`coalesce(k.key, 0)` : tx`k.key`} as key
              from agents a ${sortKeyJoin(tx, query)} where ${where}
             order by key ${direction} nulls last, a.created_at desc, a.id desc
             limit ${limit} offset ${offset}) a
      join projects p on p.id = a."projectId"
      left join month_spend m on m.agent_id = a.id and m.month = ${query.month}
      left join lateral (${lastCallQuery(tx)}) l on true
     order by a.key ${direction} nulls last, a."createdAt" desc, a.id desc`;
  const [count] = await tx<{ total: number }[]>`select count(*) as total from agents a where ${where}`;
  return { rows, total: count!.total };
}

/** Sort keys that are 0 for an agent without data. The others are null, and sort last. */
const ZERO_WHEN_MISSING: ReadonlySet<AgentSort> = new Set(['costCents', 'monthCents', 'requests', 'rejectedRequests']);

function agentListCondition(tx: Tx, { scope: { orgId, projectId }, search, status }: AgentListQuery) {
  const like = containsPattern(search);
  return tx`a.org_id = ${orgId}
    ${projectId === null ? tx`` : tx`and a.project_id = ${projectId}`}
    ${status === null ? tx`` : tx`and a.status = ${status}`}
    ${search === '' ? tx`` : tx`and (a.name ilike ${like} or a.slug ilike ${like} or a.id::text ilike ${like})`}`;
}

/** Joins the sort key of each agent as `k.key`. */
function sortKeyJoin(tx: Tx, { scope, range, month, sort }: AgentListQuery) {
  const lateral = (query: ReturnType<Tx>) => tx`cross join lateral (${query}) k`;
  const joined = (query: ReturnType<Tx>) => tx`left join (${query}) k on k.agent_id = a.id`;
  const sums = (key: string) =>
    joined(tx`
      select value::uuid as agent_id, ${tx.unsafe(key)} as key
        from ${rollupsByDimension(tx, scope, range, 'agent')} r group by value`);
  switch (sort) {
    case 'name':
      return lateral(tx`select lower(a.name) as key`);
    case 'createdAt':
      return lateral(tx`select a.created_at as key`);
    case 'costCents':
      return sums('sum(cost_nanos)');
    case 'requests':
      return sums('sum(requests)');
    case 'errorRate':
      return sums('sum(errors)::float8 / nullif(sum(requests), 0)');
    case 'rejectedRequests':
      return joined(tx`
        select agent_id, sum(count) as key from rejections_hourly
         where org_id = ${scope.orgId} and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
         group by agent_id`);
    case 'monthCents':
      return joined(tx`select agent_id, spent_nanos as key from month_spend where month = ${month}`);
    case 'budgetUsedPercent':
      return lateral(tx`
        select coalesce((select spent_nanos from month_spend where agent_id = a.id and month = ${month}), 0)
               / nullif(a.budget_cents_monthly, 0)::float8 as key`);
    case 'lastCallAt':
      return lateral(tx`select (${lastCallQuery(tx)}) as key`);
  }
}

/** Start of the last call of agent `a`; the day if its hourly rollups are deleted. */
const lastCallQuery = (tx: Tx) => tx`
  select coalesce(
    (select coalesce(max(h.last_at), max(h.hour)) from usage_hourly h
      where h.agent_id = a.id and h.hour = (select max(n.hour) from usage_hourly n where n.agent_id = a.id)),
    (select max(d.day) from usage_daily d where d.agent_id = a.id)) as at`;

/** The list of an organization's runs. */
import { containsPattern } from '../db/like-pattern.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { RunState } from './schema.js';
import { columns, from, type RunRow, stateColumn } from './store.js';

interface RunFilter extends Sorting<keyof typeof ORDER> {
  readonly agentId?: string;
  readonly projectId?: string;
  readonly parentId?: string;
  readonly rootId?: string;
  readonly state?: RunState;
  readonly search?: string;
}

/** Other orders than that of creation sort this many of the newest runs, which bounds their time. */
const SORTED_RUNS_MAX = 10_000;

const ORDER = {
  // Ids are in the order of creation.
  createdAt: { by: 'r.id' },
  label: { by: 'lower(r.label)', text: true },
  agentName: { by: 'lower(a.name)', text: true },
  spentCents: {
    by: "(select coalesce(sum(b.spent_nanos), 0) from budget_spend b where b.budget_id = r.id and b.period = 'total')",
  },
  calls: { by: '(select coalesce(sum(b.calls), 0) from budget_spend b where b.budget_id = r.id)' },
  // `endedAt`, or `expiresAt` of a run that has not ended.
  end: { by: 'coalesce(r.ended_at, r.expires_at)' },
} as const;

/** The organization's runs, newest first; only top runs unless the filter names a run. */
export async function listRuns(
  sql: Sql,
  orgId: string,
  { agentId, projectId, parentId, rootId, state, search, ...sorting }: RunFilter,
  page: Page,
): Promise<ListResult<RunRow>> {
  const where = sql`r.org_id = ${orgId}
    ${agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}`}
    ${projectId === undefined ? sql`` : sql`and a.project_id = ${projectId}`}
    ${parentId === undefined ? sql`` : sql`and r.ancestors <> '{}' and r.ancestors[1] = ${parentId}`}
    ${rootId === undefined ? sql`` : sql`and r.root_id = ${rootId}`}
    ${parentId === undefined && rootId === undefined && search === undefined ? sql`and r.ancestors = '{}'` : sql``}
    ${state === undefined ? sql`` : sql`and ${stateColumn(sql)} = ${state}`}
    ${search === undefined ? sql`` : sql`and (r.label ilike ${containsPattern(search)} or r.id::text = ${search.toLowerCase()})`}`;
  const ordered = orderBy(sql, ORDER, sorting);
  const isByCreation = sorting.sort === undefined || sorting.sort === 'createdAt';
  const listed = isByCreation
    ? where
    : sql`r.id in (select r.id from runs r join agents a on a.id = r.agent_id where ${where}
                    order by r.id desc limit ${SORTED_RUNS_MAX})`;
  // Ids first: otherwise spend and sub-runs of all skipped rows would be summed up, too.
  const rows = await sql<RunRow[]>`
    with page as materialized (
      select r.id from runs r join agents a on a.id = r.agent_id where ${listed}
      ${ordered} limit ${page.limit} offset ${page.offset})
    select ${columns(sql)} from ${from(sql)} where r.id in (select id from page) ${ordered}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from runs r join agents a on a.id = r.agent_id where ${where}`;
  return { rows, total: count!.total };
}

/**
 * Which rollups answer for a span of whole hours: whole days from the days' rollups as far as they are made, what is
 * left at both ends from the hours'. A past day in which something was booked late is read from its hours until it has
 * been added up anew (ledger/daily-rollups.ts).
 */
import { DAY_MS } from '@acg/base/units';
import type { Sql, Tx } from '../db/sql.js';
import type { Interval, TimeRange } from './period.js';

export const DIMENSIONS = ['project', 'agent', 'provider', 'model', 'key'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Whose usage: an organization's, one of its projects', or that of some of its agents. */
export interface Scope {
  readonly orgId: string;
  readonly projectId: string | null;
  /** Null: all, those that are gone, too. */
  readonly agentIds: readonly string[] | null;
}

const VALUE: Readonly<Record<Dimension, string>> = {
  project: 'project_id::text',
  agent: 'agent_id::text',
  provider: 'provider_slug',
  model: 'model',
  key: 'key_id::text',
};
const SUMS = 'requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum, latency_sketch';

/** Rows of (hour, value, sums, sketch); a project's and a provider's have sketches, and all of those of agents. */
export function rollupsBy(sql: Sql | Tx, scope: Scope, range: TimeRange, dimension: Dimension) {
  const columns = sql.unsafe(`${VALUE[dimension]} as value, ${SUMS}`);
  if (scope.agentIds !== null) return span(sql, scope, range, sql`usage_daily d where`, columns);
  const stored = dimension === 'project' ? 'provider' : dimension;
  const value = dimension === 'project' ? 'project_id::text' : 'value';
  const days = sql`usage_daily_by d where dimension = ${stored} and`;
  return span(sql, scope, range, days, columns, sql.unsafe(`${value} as value, ${SUMS}`));
}

/** The same, of days as a whole or of each hour. */
export function rollupsOfBuckets(
  sql: Sql | Tx,
  scope: Scope,
  range: TimeRange,
  interval: Interval,
  dimension: Dimension,
) {
  if (interval === 'day') return rollupsBy(sql, scope, range, dimension);
  return sql`(
    select hour, ${sql.unsafe(`${VALUE[dimension]} as value, ${SUMS}`)} from usage_hourly
     where ${whose(sql, scope)} and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)})`;
}

/** Rows of (hour, agent_id, provider_slug, sums, sketch). */
export function rollupsOfAgents(sql: Sql | Tx, scope: Scope, range: TimeRange) {
  return span(sql, scope, range, sql`usage_daily d where`, sql.unsafe(`agent_id, provider_slug, ${SUMS}`));
}

type Fragment = ReturnType<Sql['unsafe']> | ReturnType<Sql>;

function span(
  sql: Sql | Tx,
  scope: Scope,
  { fromMs, toMs }: TimeRange,
  days: Fragment,
  hourColumns: Fragment,
  dayColumns: Fragment = hourColumns,
) {
  const { orgId } = scope;
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  const firstDay = new Date(Math.ceil(fromMs / DAY_MS) * DAY_MS);
  const lastDay = new Date(Math.floor(toMs / DAY_MS) * DAY_MS);
  const rolledUntil = sql`least(${lastDay}::timestamptz, (select rolled_until from usage_daily_progress))`;
  const of = whose(sql, scope);
  return sql`(
    select day as hour, ${dayColumns} from ${days} ${of} and day >= ${firstDay} and day < ${rolledUntil}
       and not exists (select from usage_late l where l.org_id = ${orgId} and l.day = d.day)
    union all
    select h.* from (select distinct day from usage_late
             where org_id = ${orgId} and day >= ${firstDay} and day < ${rolledUntil}) late
     cross join lateral ( -- offset 0: looked up day by day: never all hours joined with no days
       select hour, ${hourColumns} from usage_hourly
        where ${of} and hour >= late.day and hour < late.day + interval '1 day' offset 0) h
    union all
    select hour, ${hourColumns} from usage_hourly
     where ${of} and hour >= ${from} and hour < least(${firstDay}::timestamptz, ${to}::timestamptz)
    union all
    select hour, ${hourColumns} from usage_hourly
     where ${of} and hour >= greatest(${firstDay}::timestamptz, ${rolledUntil}) and hour < ${to})`;
}

/** The rows of the scope. */
export function whose(sql: Sql | Tx, { orgId, projectId, agentIds }: Scope) {
  const ofProject = projectId === null ? sql`` : sql`and project_id = ${projectId}`;
  const ofAgents = agentIds === null ? sql`` : sql`and agent_id = any(${[...agentIds]}::uuid[])`;
  return sql`org_id = ${orgId} ${ofAgents} ${ofProject}`;
}

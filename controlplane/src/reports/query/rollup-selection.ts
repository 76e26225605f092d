/**
 * Which rollups answer for a span of whole hours: whole days from the days' rollups as far as they are made, what is
 * left at both ends from the hours'. A past day in which something was booked late is read from its hours until it has
 * been added up anew (ledger/daily-rollups.ts). Of organizations and projects hours that are over are added up, too, in
 * the same way (ledger/hour-rollups.ts); only the last one or two are read as they are booked.
 */
import { DAY_MS } from '@acg/base/units';
import type { Sql, Tx } from '../../db/sql.js';
import type { Interval, TimeRange } from './time-range.js';

export const DIMENSIONS = ['project', 'agent', 'provider', 'model', 'key'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Whose usage: an organization's, one of its projects', or that of some of its agents. */
export interface UsageScope {
  readonly orgId: string;
  readonly projectId: string | null;
  /** Null: all, those that are gone, too. */
  readonly agentIds: readonly string[] | null;
}

const DIMENSION_EXPRESSIONS: Readonly<Record<Dimension, string>> = {
  project: 'project_id::text',
  agent: 'agent_id::text',
  provider: 'provider_slug',
  model: 'model',
  key: 'key_id::text',
};
const SUM_COLUMNS = 'requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum, latency_sketch';

/** Rows of (hour, value, sums, sketch); a project's and a provider's have sketches, and all of those of agents. */
export function rollupsByDimension(sql: Sql | Tx, scope: UsageScope, range: TimeRange, dimension: Dimension) {
  const columns = sql.unsafe(`${DIMENSION_EXPRESSIONS[dimension]} as value, ${SUM_COLUMNS}`);
  const added = dimensionRollups(sql, scope, dimension);
  if (added === null) return rollupsInRange(sql, scope, range, sql`usage_daily d where`, columns, null);
  return rollupsInRange(sql, scope, range, sql`usage_daily_by d where ${added.of}`, columns, added);
}

/** Rows by one dimension, of days and of hours that are over. */
interface DimensionRollups {
  readonly columns: Fragment;
  /** Begins their condition. */
  readonly of: Fragment;
}

/** Null: there are none of some agents. */
function dimensionRollups(sql: Sql | Tx, { agentIds }: UsageScope, dimension: Dimension): DimensionRollups | null {
  if (agentIds !== null) return null;
  const [stored, value] = dimension === 'project' ? ['provider', 'project_id::text'] : [dimension, 'value'];
  return { columns: sql.unsafe(`${value} as value, ${SUM_COLUMNS}`), of: sql`dimension = ${stored} and` };
}

/** The same, of days as a whole or of each hour. */
export function rollupsByBucket(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
  dimension: Dimension,
) {
  if (interval === 'day') return rollupsByDimension(sql, scope, range, dimension);
  const columns = sql.unsafe(`${DIMENSION_EXPRESSIONS[dimension]} as value, ${SUM_COLUMNS}`);
  const [from, to] = [sql`${new Date(range.fromMs)}::timestamptz`, sql`${new Date(range.toMs)}::timestamptz`];
  return sql`(${hourlyRollupsInRange(sql, scope, from, to, columns, dimensionRollups(sql, scope, dimension))})`;
}

/** Rows of (hour, agent_id, provider_slug, sums, sketch). */
export function rollupsByAgentAndProvider(sql: Sql | Tx, scope: UsageScope, range: TimeRange) {
  const columns = sql.unsafe(`agent_id, provider_slug, ${SUM_COLUMNS}`);
  return rollupsInRange(sql, scope, range, sql`usage_daily d where`, columns, null);
}

type Fragment = ReturnType<Sql['unsafe']> | ReturnType<Sql>;

function rollupsInRange(
  sql: Sql | Tx,
  scope: UsageScope,
  { fromMs, toMs }: TimeRange,
  days: Fragment,
  hourColumns: Fragment,
  added: DimensionRollups | null,
) {
  const { orgId } = scope;
  const [from, to] = [sql`${new Date(fromMs)}::timestamptz`, sql`${new Date(toMs)}::timestamptz`];
  const firstDay = sql`${new Date(Math.ceil(fromMs / DAY_MS) * DAY_MS)}::timestamptz`;
  const lastDay = new Date(Math.floor(toMs / DAY_MS) * DAY_MS);
  const rolledUntil = sql`least(${lastDay}::timestamptz, (select rolled_until from usage_daily_progress))`;
  const of = scopeCondition(sql, scope);
  return sql`(
    select day as hour, ${added?.columns ?? hourColumns} from ${days} ${of} and day >= ${firstDay} and day < ${rolledUntil}
       and d.day not in (select l.day from usage_late l where l.org_id = ${orgId})
    union all
    select h.* from (select distinct day from usage_late
             where org_id = ${orgId} and day >= ${firstDay} and day < ${rolledUntil}) late
     cross join lateral ( -- offset 0: looked up day by day: never all hours joined with no days
       select hour, ${hourColumns} from usage_hourly
        where ${of} and hour >= late.day and hour < late.day + interval '1 day' offset 0) h
    union all
    ${hourlyRollupsInRange(sql, scope, from, sql`least(${firstDay}, ${to})`, hourColumns, added)}
    union all
    ${hourlyRollupsInRange(sql, scope, sql`greatest(${firstDay}, ${rolledUntil})`, to, hourColumns, added)})`;
}

/**
 * The hours from one instant to another: those that are over from what is added up of them, if there is any, unless
 * something was booked late in them; the last ones as they are.
 */
function hourlyRollupsInRange(
  sql: Sql | Tx,
  scope: UsageScope,
  from: Fragment,
  to: Fragment,
  columns: Fragment,
  added: DimensionRollups | null,
) {
  const of = scopeCondition(sql, scope);
  if (added === null)
    return sql`select hour, ${columns} from usage_hourly where ${of} and hour >= ${from} and hour < ${to}`;
  const { orgId } = scope;
  const rolledUntil = sql`(select rolled_until from usage_hourly_progress)`;
  const isRolled = sql`hour >= ${from} and hour < least(${to}, ${rolledUntil})`;
  return sql`
    select hour, ${added.columns} from usage_hourly_by d where ${added.of} ${of} and ${isRolled}
       and d.hour not in (select l.hour from usage_late_hours l where l.org_id = ${orgId})
    union all
    select h.* from (select distinct hour from usage_late_hours where org_id = ${orgId} and ${isRolled}) late
     cross join lateral (select hour, ${columns} from usage_hourly where ${of} and hour = late.hour offset 0) h
    union all
    select hour, ${columns} from usage_hourly
     where ${of} and hour >= greatest(${from}, ${rolledUntil}) and hour < ${to}`;
}

/** The rows of the scope. */
export function scopeCondition(sql: Sql | Tx, { orgId, projectId, agentIds }: UsageScope) {
  const ofProject = projectId === null ? sql`` : sql`and project_id = ${projectId}`;
  const ofAgents = agentIds === null ? sql`` : sql`and agent_id = any(${[...agentIds]}::uuid[])`;
  return sql`org_id = ${orgId} ${ofAgents} ${ofProject}`;
}

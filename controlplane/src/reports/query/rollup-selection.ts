/**
 * Selects the rollups that cover a range of whole hours: daily rollups for whole days that are rolled up, hourly ones
 * for the rest at both ends. A past day with late bookings is read from its hours until its rollup is rebuilt
 * (ledger/daily-rollups.ts).
 *
 * For organizations and projects, finished hours come from hourly rollups by dimension in the same way
 * (ledger/hourly-dimension-rollups.ts). Only the last one or two hours are read directly.
 */
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { TOOL_PREFIX } from '../../ledger/usage-aggregation.js';
import type { Interval, TimeRange } from './time-range.js';

export const DIMENSIONS = ['project', 'agent', 'provider', 'model', 'tool', 'key'] as const;
export type StoredDimension = (typeof DIMENSIONS)[number];
/** `tag:customer`: the values of the tag `customer` (ledger/tag-rollups.ts). */
export type TagDimension = `tag:${string}`;
export type Dimension = StoredDimension | TagDimension;
export const TAG_DIMENSION_PATTERN = 'tag:[a-z0-9_]{1,32}';
const TAG_DIMENSION_PREFIX = 'tag:';
export const isTagDimension = (dimension: string): dimension is TagDimension =>
  dimension.startsWith(TAG_DIMENSION_PREFIX);

/** Scope of a report: an organization, one of its projects, or some of its agents. */
export interface UsageScope {
  readonly orgId: string;
  readonly projectId: string | null;
  /** Null: all agents, including deleted ones. */
  readonly agentIds: readonly string[] | null;
  /** Only calls with this key. Rollups by one dimension, rejections and tags have no key: such queries reject it. */
  readonly keyId?: string;
}

/** Rollups hold the model or the tool in one column (ledger/usage-aggregation.ts). */
const modelOf = (column: string): string => `case when ${column} like '${TOOL_PREFIX}%' then '' else ${column} end`;
const toolOf = (column: string): string =>
  `case when ${column} like '${TOOL_PREFIX}%' then substr(${column}, ${TOOL_PREFIX.length + 1}) else '' end`;

const DIMENSION_EXPRESSIONS: Readonly<Record<StoredDimension, string>> = {
  project: 'project_id::text',
  agent: 'agent_id::text',
  provider: 'provider_slug',
  model: modelOf('model'),
  tool: toolOf('model'),
  key: 'key_id::text',
};
const SUM_COLUMNS = 'requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum, latency_sketch';

/** Rows of (hour, value, sums, sketch). Only projects and providers have sketches, unless the scope names agents. */
export function rollupsByDimension(sql: Sql | Tx, scope: UsageScope, range: TimeRange, dimension: Dimension) {
  if (isTagDimension(dimension)) return tagRollups(sql, scope, range, dimension);
  const columns = sql.unsafe(`${DIMENSION_EXPRESSIONS[dimension]} as value, ${SUM_COLUMNS}`);
  const byDimension = dimensionRollups(sql, scope, dimension);
  if (byDimension === null) return rollupsInRange(sql, scope, range, sql`usage_daily d where`, columns, null);
  return rollupsInRange(sql, scope, range, sql`usage_daily_by d where ${byDimension.of}`, columns, byDimension);
}

/**
 * Tags are summed by day: the days that the range touches. They have no sketches. Rolled-up days and open ones have no
 * agents, so a scope of agents reads the rows by agent (ledger/tag-daily-rollups.ts, ledger/open-tag-days.ts).
 */
function tagRollups(sql: Sql | Tx, scope: UsageScope, { fromMs, toMs }: TimeRange, dimension: TagDimension) {
  const columns = sql.unsafe(`day::timestamp at time zone 'UTC' as hour, value, requests, errors, tokens_in, tokens_out,
    cost_nanos, duration_ms_sum, ''::bytea as latency_sketch`);
  const day = (ms: number) => sql`${new Date(ms).toISOString().slice(0, 10)}::text::date`;
  const [first, last] = [day(fromMs), day(toMs - 1)];
  const ofKey = sql`${scopeCondition(sql, scope)} and key = ${dimension.slice(TAG_DIMENSION_PREFIX.length)}`;
  if (scope.agentIds !== null)
    return sql`(select ${columns} from usage_tags where ${ofKey} and day >= ${first} and day <= ${last})`;
  const rolledUntil = sql`(select rolled_until from usage_tags_progress)`;
  const openSince = sql`(select open_since from usage_tags_progress)`;
  const late = sql`select l.day from usage_tags_late l where l.org_id = ${scope.orgId}`;
  return sql`(
    select ${columns} from usage_tags_daily d
     where ${ofKey} and day >= ${first} and day <= ${last} and day < ${rolledUntil} and d.day not in (${late})
    union all
    select t.* from (select distinct day as late_day from usage_tags_late
             where org_id = ${scope.orgId} and day >= ${first} and day <= ${last} and day < ${rolledUntil}) l
     cross join lateral (select ${columns} from usage_tags where ${ofKey} and day = l.late_day offset 0) t
    union all
    select ${columns} from usage_tags
     where ${ofKey} and day >= greatest(${first}, ${rolledUntil}) and day <= ${last} and day < ${openSince}
    union all
    select ${columns} from usage_tags_open
     where ${ofKey} and day >= greatest(${first}, ${rolledUntil}, ${openSince}) and day <= ${last})`;
}

/** Rows of (hour, value, then_value, sums, sketch) by two dimensions; no sketch has a meaning here. */
export function rollupsByTwoDimensions(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  dimension: StoredDimension,
  then: StoredDimension,
) {
  const columns = sql.unsafe(
    `${DIMENSION_EXPRESSIONS[dimension]} as value, ${DIMENSION_EXPRESSIONS[then]} as then_value, ${SUM_COLUMNS}`,
  );
  return rollupsInRange(sql, scope, range, sql`usage_daily d where`, columns, null);
}

/** Rollups by one dimension, for days and finished hours. */
interface DimensionRollups {
  readonly columns: Fragment;
  /** First part of the condition on their rows. */
  readonly of: Fragment;
}

/** Null if the scope names agents or a key: there are no such rollups for them. */
function dimensionRollups(
  sql: Sql | Tx,
  { agentIds, keyId }: UsageScope,
  dimension: StoredDimension,
): DimensionRollups | null {
  if (agentIds !== null || keyId !== undefined) return null;
  const [stored, value] = STORED_DIMENSIONS[dimension] ?? [dimension, 'value'];
  return { columns: sql.unsafe(`${value} as value, ${SUM_COLUMNS}`), of: sql`dimension = ${stored} and` };
}

/** The stored dimension that holds another one, and the expression for its value. */
const STORED_DIMENSIONS: Readonly<Partial<Record<StoredDimension, readonly [stored: string, value: string]>>> = {
  project: ['provider', 'project_id::text'],
  model: ['model', modelOf('value')],
  tool: ['model', toolOf('value')],
};

/** As {@link rollupsByDimension}, with one row set per day or per hour. */
export function rollupsByBucket(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
  dimension: Dimension,
) {
  if (isTagDimension(dimension)) return tagRollups(sql, scope, range, dimension);
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
  dimension: DimensionRollups | null,
) {
  const { orgId } = scope;
  const [from, to] = [sql`${new Date(fromMs)}::timestamptz`, sql`${new Date(toMs)}::timestamptz`];
  const firstDay = sql`${new Date(Math.ceil(fromMs / DAY_MS) * DAY_MS)}::timestamptz`;
  const lastDay = new Date(Math.floor(toMs / DAY_MS) * DAY_MS);
  const rolledUntil = sql`least(${lastDay}::timestamptz, (select rolled_until from usage_daily_progress))`;
  const inScope = scopeCondition(sql, scope);
  return sql`(
    select day as hour, ${dimension?.columns ?? hourColumns} from ${days} ${inScope} and day >= ${firstDay} and day < ${rolledUntil}
       and d.day not in (select l.day from usage_late l where l.org_id = ${orgId})
    union all
    select h.* from (select distinct day from usage_late
             where org_id = ${orgId} and day >= ${firstDay} and day < ${rolledUntil}) late
     cross join lateral ( -- offset 0 forces one lookup per late day; otherwise the planner may join all hours
       select hour, ${hourColumns} from usage_hourly
        where ${inScope} and hour >= late.day and hour < late.day + interval '1 day' offset 0) h
    union all
    ${hourlyRollupsInRange(sql, scope, from, sql`least(${firstDay}, ${to})`, hourColumns, dimension)}
    union all
    ${hourlyRollupsInRange(sql, scope, sql`greatest(${firstDay}, ${rolledUntil})`, to, hourColumns, dimension)})`;
}

/**
 * The hours between two times. With dimension rollups, finished hours come from them, except hours with late bookings;
 * the last hours come from the hourly rollups.
 */
function hourlyRollupsInRange(
  sql: Sql | Tx,
  scope: UsageScope,
  from: Fragment,
  to: Fragment,
  columns: Fragment,
  dimension: DimensionRollups | null,
) {
  const inScope = scopeCondition(sql, scope);
  if (dimension === null)
    return sql`select hour, ${columns} from usage_hourly where ${inScope} and hour >= ${from} and hour < ${to}`;
  const { orgId } = scope;
  const rolledUntil = sql`(select rolled_until from usage_hourly_progress)`;
  const isRolled = sql`hour >= ${from} and hour < least(${to}, ${rolledUntil})`;
  return sql`
    select hour, ${dimension.columns} from usage_hourly_by d where ${dimension.of} ${inScope} and ${isRolled}
       and d.hour not in (select l.hour from usage_late_hours l where l.org_id = ${orgId})
    union all
    select h.* from (select distinct hour from usage_late_hours where org_id = ${orgId} and ${isRolled}) late
     cross join lateral (select hour, ${columns} from usage_hourly where ${inScope} and hour = late.hour offset 0) h
    union all
    select hour, ${columns} from usage_hourly
     where ${inScope} and hour >= greatest(${from}, ${rolledUntil}) and hour < ${to}`;
}

/** Condition that selects the rows of the scope. */
export function scopeCondition(sql: Sql | Tx, { orgId, projectId, agentIds, keyId }: UsageScope) {
  const projectFilter = projectId === null ? sql`` : sql`and project_id = ${projectId}`;
  const agentFilter = agentIds === null ? sql`` : sql`and agent_id = any(${[...agentIds]}::uuid[])`;
  const keyFilter = keyId === undefined ? sql`` : sql`and key_id = ${keyId}`;
  return sql`org_id = ${orgId} ${agentFilter} ${projectFilter} ${keyFilter}`;
}

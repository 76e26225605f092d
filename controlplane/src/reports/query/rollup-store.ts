/** SQL of the usage reports. Reads rollups only, for any period. Log records: reports/calls. */
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../../db/postgres-client.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { UsageSums } from './add-and-format-usage-sums.js';
import {
  type Dimension,
  isTagDimension,
  rollupsByAgentAndProvider,
  rollupsByBucket,
  rollupsByDimension,
  rollupsByTwoDimensions,
  type StoredDimension,
  scopeCondition,
  type UsageScope,
} from './rollup-selection.js';
import type { Interval, TimeRange } from './time-range.js';

export interface ReportedAgent {
  readonly id: string;
  readonly name: string;
  readonly budgetCents: number | null;
}

/** The given agents that belong to the organization. */
export function loadReportedAgents(sql: Sql | Tx, orgId: string, ids: readonly string[]): Promise<ReportedAgent[]> {
  return sql<ReportedAgent[]>`
    select id, name, budget_cents_monthly as "budgetCents" from agents
     where org_id = ${orgId} and id = any(${[...ids]}::uuid[])`;
}

/** Sums of one agent and provider. */
export interface ProviderSums extends UsageSums {
  readonly agentId: string;
  readonly providerSlug: string;
  /** {@link SKETCHES_EXPRESSION}. */
  readonly sketches: string;
}

/** Sums as Postgres returns them: nano-dollars as text, because a sum may exceed 2^53. */
export type RawSums<T extends { readonly costNanos: bigint }> = Omit<T, 'costNanos'> & { readonly costNanos: string };
export const parseExactSums = <T extends { readonly costNanos: string }>(rows: readonly T[]) =>
  rows.map((row) => ({ ...row, costNanos: BigInt(row.costNanos) }));

export const SUM_EXPRESSIONS = `sum(requests)::bigint as requests, sum(errors)::bigint as errors, sum(tokens_in)::bigint as "tokensIn",
  sum(tokens_out)::bigint as "tokensOut", sum(cost_nanos)::text as "costNanos",
  sum(duration_ms_sum)::bigint as "durationMsSum"`;

/**
 * All sketches of a group concatenated, for {@link LatencySketch.fromBase64}. Base64 is a third shorter than the
 * hexadecimal text of `bytea` and is decoded twenty times as fast.
 */
export const SKETCHES_EXPRESSION = `encode(string_agg(latency_sketch, ''::bytea), 'base64')`;
export async function sumByProvider(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  hasSketches: boolean,
): Promise<readonly ProviderSums[]> {
  const rows = await sql<RawSums<ProviderSums>[]>`
    select agent_id as "agentId", provider_slug as "providerSlug", ${sql.unsafe(SUM_EXPRESSIONS)},
           ${sql.unsafe(hasSketches ? SKETCHES_EXPRESSION : `''`)} as sketches
      from ${rollupsByAgentAndProvider(sql, scope, range)} r
     group by agent_id, provider_slug order by sum(requests) desc, provider_slug`;
  return parseExactSums(rows);
}

export interface AgentSums extends UsageSums {
  /** {@link SKETCHES_EXPRESSION}. */
  readonly sketches: string;
}

/** Sums by agent id; agents without calls are missing. */
export async function sumByAgent(tx: Tx, scope: UsageScope, range: TimeRange): Promise<ReadonlyMap<string, AgentSums>> {
  const rows = await tx<(RawSums<AgentSums> & { readonly agentId: string })[]>`
    select agent_id as "agentId", ${tx.unsafe(SUM_EXPRESSIONS)}, ${tx.unsafe(SKETCHES_EXPRESSION)} as sketches
      from ${rollupsByAgentAndProvider(tx, scope, range)} r group by agent_id`;
  return new Map(parseExactSums(rows).map((row) => [row.agentId, row]));
}

interface AgentBucketSums {
  readonly agentId: string;
  readonly bucket: Date;
  readonly requests: number;
  readonly costNanos: bigint;
}

/** Sums of the scope's agents by bucket; buckets without calls are missing. */
export async function sumByAgentAndBucket(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly AgentBucketSums[]> {
  const rows = await tx<RawSums<AgentBucketSums>[]>`
    select value as "agentId", date_trunc(${interval}, hour) as bucket, sum(requests)::bigint as requests,
           sum(cost_nanos)::text as "costNanos"
      from ${rollupsByBucket(tx, scope, range, interval, 'agent')} r group by 1, 2`;
  return parseExactSums(rows);
}

interface NamedSums extends UsageSums {
  readonly name: string | null;
  /** Value of the dimension: slug, model or id. `''` or the nil UUID if unknown. */
  readonly value: string;
}

/** Columns by which a breakdown can be sorted. Constants, never input. */
export const BREAKDOWN_SORTS = {
  costUsd: 'cost',
  requests: 'requests',
  errors: 'errors',
  tokensIn: '"tokensIn"',
  tokensOut: '"tokensOut"',
} as const;

interface BreakdownOptions extends Page {
  readonly dimension: Dimension;
  /** The second dimension; null: by one. */
  readonly thenBy: StoredDimension | null;
  /** Null: without the previous period. */
  readonly previous: TimeRange | null;
  readonly sort: keyof typeof BREAKDOWN_SORTS;
  readonly order: 'asc' | 'desc';
}

interface BreakdownSums extends NamedSums {
  /** Null with one dimension. */
  readonly thenValue: string | null;
  readonly thenName: string | null;
  readonly previousRequests: number | null;
  readonly previousCostNanos: bigint | null;
}

type BreakdownSqlRow = RawSums<Omit<BreakdownSums, 'previousCostNanos'>> & {
  readonly previousCostNanos: string | null;
  readonly total: number;
  readonly sums: RawSums<UsageSums>;
  readonly previousSums: { readonly requests: number; readonly costNanos: string };
};

interface BreakdownResult extends ListResult<BreakdownSums> {
  /** Of all rows. */
  readonly sums: UsageSums;
  /** Of everything in the previous period, also of groups that have no row in this one. */
  readonly previousSums: { readonly requests: number; readonly costNanos: bigint } | null;
}

/**
 * Sums per value of one dimension or pair of two, with the previous period and the sums of all rows. `name` is the
 * current name; null for deleted objects and for values without a name.
 */
export async function sumBreakdown(
  tx: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  { dimension, thenBy, previous, sort, order, limit, offset }: BreakdownOptions,
): Promise<BreakdownResult> {
  const rollups = (of: TimeRange) =>
    thenBy === null || isTagDimension(dimension)
      ? tx`(select d.*, ''::text as then_value from ${rollupsByDimension(tx, scope, of, dimension)} d)`
      : rollupsByTwoDimensions(tx, scope, of, dimension, thenBy);
  const earlier =
    previous === null
      ? tx`select null::text as value, null::text as then_value, null::bigint as requests, null::numeric as cost where false`
      : tx`select value, then_value, sum(requests)::bigint as requests, sum(cost_nanos) as cost
             from ${rollups(previous)} r group by 1, 2`;
  const by = tx.unsafe(`${BREAKDOWN_SORTS[sort]} ${order}, cost desc, requests desc, value, then_value`);
  const rows = await tx<BreakdownSqlRow[]>`
    with sums as materialized (
      select value, then_value, ${tx.unsafe(SUM_EXPRESSIONS)}, sum(cost_nanos) as cost from ${rollups(range)} r
       group by value, then_value),
    earlier as materialized (${earlier}),
    shown as (select * from sums order by ${by} limit ${limit} offset ${offset}),
    everything as (
      select count(*) as total, json_build_object(
               'requests', coalesce(sum(requests), 0), 'errors', coalesce(sum(errors), 0),
               'tokensIn', coalesce(sum("tokensIn"), 0), 'tokensOut', coalesce(sum("tokensOut"), 0),
               'costNanos', coalesce(sum(cost), 0)::text, 'durationMsSum', coalesce(sum("durationMsSum"), 0)) as sums
        from sums),
    before as (
      select json_build_object('requests', coalesce(sum(requests), 0), 'costNanos', coalesce(sum(cost), 0)::text) as sums
        from earlier)
    select c.sums, b.sums as "previousSums", s.value, s.requests, s.errors, s."tokensIn", s."tokensOut", s."costNanos", s."durationMsSum", c.total,
           ${nameExpression(tx, scope, dimension)} as name,
           ${thenBy === null ? tx`null` : tx`s.then_value`} as "thenValue",
           ${thenBy === null ? tx`null` : nameExpression(tx, scope, thenBy, 'then_value')} as "thenName",
           e.requests as "previousRequests", e.cost::text as "previousCostNanos"
      from everything c cross join before b
      left join shown s on true
      left join earlier e on e.value = s.value and e.then_value = s.then_value
     order by ${tx.unsafe(`s.${BREAKDOWN_SORTS[sort]} ${order}, s.cost desc, s.requests desc, s.value, s.then_value`)}`;
  const { total, sums, previousSums } = rows[0]!;
  return {
    rows: parseExactSums(rows.filter(({ value }) => value !== null)).map(
      ({ total: _, sums: _sums, previousSums: _before, previousCostNanos, ...row }) => ({
        ...row,
        previousCostNanos: previousCostNanos === null ? null : BigInt(previousCostNanos),
      }),
    ),
    total,
    sums: parseExactSums([sums])[0]!,
    previousSums: previous === null ? null : parseExactSums([previousSums])[0]!,
  };
}

/** `column`: of the row `s`, which holds the value. */
export function nameExpression(
  sql: Sql | Tx,
  { orgId }: UsageScope,
  dimension: Dimension,
  column: 'value' | 'then_value' = 'value',
) {
  const tables: { readonly [dimension in Dimension]?: string } = {
    project: 'projects',
    agent: 'agents',
    key: 'key_names',
  };
  const table = tables[dimension];
  if (table === undefined) return sql`null`;
  return sql`(select n.name from ${sql(table)} n where n.id = s.${sql(column)}::uuid and n.org_id = ${orgId})`;
}

export interface BucketSums extends UsageSums {
  readonly bucket: Date;
}

/** Buckets without calls are missing. */
export async function sumByBucket(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<readonly BucketSums[]> {
  return parseExactSums(
    await sql<RawSums<BucketSums>[]>`
      select date_trunc(${interval}, hour) as bucket, ${sql.unsafe(SUM_EXPRESSIONS)}
        from ${rollupsByBucket(sql, scope, range, interval, 'provider')} r
       group by 1`,
  );
}

export interface RejectionSum {
  readonly agentId: string;
  /** `''`: rejected before the provider was known. */
  readonly providerSlug: string;
  readonly bucket: Date;
  readonly count: number;
}

export function sumRejections(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
  interval: Interval,
): Promise<RejectionSum[]> {
  return sql<RejectionSum[]>`
    select agent_id as "agentId", provider_slug as "providerSlug", date_trunc(${interval}, hour) as bucket,
           sum(count)::bigint as count
      from rejections_hourly
     where ${scopeCondition(sql, scope)} and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
     group by agent_id, provider_slug, bucket`;
}

/** Number of rejected calls by agent id. */
export async function sumRejectionsByAgent(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ agentId: string; count: number }[]>`
    select agent_id as "agentId", sum(count)::bigint as count from rejections_hourly
     where ${scopeCondition(tx, { ...scope, projectId: null })}
       and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)} group by agent_id`;
  return new Map(rows.map(({ agentId, count }) => [agentId, count]));
}

export interface SpendSums {
  readonly agentId: string;
  /** Spend of the calendar month, nano-dollars. */
  readonly monthNanos: number;
  /** Spend of the last 24 hours, nano-dollars. The first, partial hour counts proportionally. */
  readonly recentNanos: number;
  /** Start of the first hour with spend within the last 24 hours. */
  readonly firstHour: Date | null;
}

export function sumAgentSpend(
  sql: Sql | Tx,
  agentIds: readonly string[],
  month: string,
  nowMs: number,
): Promise<SpendSums[]> {
  const since = new Date(nowMs - DAY_MS);
  return sql<SpendSums[]>`
    select a.id as "agentId", coalesce(m.spent_nanos, 0) as "monthNanos", coalesce(r.nanos, 0)::float8 as "recentNanos",
           r.first as "firstHour"
      from unnest(${[...agentIds]}::uuid[]) as a(id)
      left join month_spend m on m.agent_id = a.id and m.month = ${month}
      left join lateral (
        select sum(case when hour < ${since}
                        then cost_nanos * (1 - extract(epoch from ${since}::timestamptz - hour) / 3600)
                        else cost_nanos end) as nanos,
               min(hour) filter (where cost_nanos > 0) as first
          from usage_hourly where agent_id = a.id and hour >= date_trunc('hour', ${since}::timestamptz)) r on true`;
}

/** Number of calls of the scope, and {@link SKETCHES_EXPRESSION}. */
export async function loadSketches(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
): Promise<{ readonly requests: number; readonly sketches: string }> {
  const [row] = await sql<{ requests: number; sketches: string }[]>`
    select coalesce(sum(requests), 0)::bigint as requests, coalesce(${sql.unsafe(SKETCHES_EXPRESSION)}, '') as sketches
      from ${rollupsByDimension(sql, scope, range, 'provider')} r`;
  return row!;
}

export interface RejectionReasonSum {
  readonly reason: string;
  readonly count: number;
}

/** Rejected calls by reason, the most frequent first. */
export function sumRejectionsByReason(
  sql: Sql | Tx,
  scope: UsageScope,
  range: TimeRange,
): Promise<RejectionReasonSum[]> {
  return sql<RejectionReasonSum[]>`
    select reason, sum(count)::bigint as count from rejections_hourly
     where ${scopeCondition(sql, { ...scope, projectId: null })} ${projectCondition(sql, scope)}
       and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
     group by reason order by sum(count) desc, reason`;
}

/** Rejections are stored without a project, so they count as long as their agent exists. */
export function projectCondition(sql: Sql | Tx, { projectId }: UsageScope) {
  return projectId === null ? sql`` : sql`and agent_id in (select id from agents where project_id = ${projectId})`;
}

/** Whether the organization has or had the project, the agent and the key that the scope names. */
export async function scopeExists(sql: Sql | Tx, scope: UsageScope): Promise<boolean> {
  const { orgId, projectId, agentIds, keyId = null } = scope;
  const [agentId = null] = agentIds ?? [];
  const [row] = await sql<{ known: boolean }[]>`
    select (${keyId}::uuid is null or exists (select from key_names where id = ${keyId} and org_id = ${orgId}))
       and (${projectId}::uuid is null
            or exists (select from projects where id = ${projectId} and org_id = ${orgId})
            or exists (select from usage_daily_by where org_id = ${orgId} and project_id = ${projectId})
            or exists (select from usage_hourly where org_id = ${orgId} and project_id = ${projectId}))
       and (${agentId}::uuid is null
            or exists (select from agents where id = ${agentId} and org_id = ${orgId})
            or exists (select from usage_daily where agent_id = ${agentId} and org_id = ${orgId})
            or exists (select from usage_hourly where agent_id = ${agentId} and org_id = ${orgId})) as known`;
  return row!.known;
}

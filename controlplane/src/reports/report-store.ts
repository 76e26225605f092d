/** SQL of the usage reports. Reads rollups only, whatever the period; log rows are `log-store.ts`'s. */
import type { Sql } from '../db/sql.js';
import { DAY_MS, type Interval, type TimeRange } from './period.js';

export interface ReportedAgent {
  readonly id: string;
  readonly name: string;
  readonly budgetCents: number | null;
  readonly createdAt: Date;
}

/** Those of the agents that belong to the organization. */
export function loadAgents(sql: Sql, orgId: string, ids: readonly string[]): Promise<ReportedAgent[]> {
  return sql<ReportedAgent[]>`
    select id, name, budget_cents_monthly as "budgetCents", created_at as "createdAt" from agents
     where org_id = ${orgId} and id = any(${[...ids]}::uuid[])`;
}

/** Sums of one agent and provider. */
export interface ProviderSums {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly requests: number;
  readonly errors: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly costNanos: bigint;
  readonly durationMsSum: number;
  /** All rollups' sketches behind each other: {@link Sketch.decode} reads them as one. */
  readonly sketches: Buffer;
}

/**
 * Rollups of agents over a range of whole hours: whole days from the days' rollups as far as they are made, what is
 * left at both ends from the hours'.
 */
function rollups(sql: Sql, agentIds: readonly string[], { fromMs, toMs }: TimeRange) {
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  const firstDay = new Date(Math.ceil(fromMs / DAY_MS) * DAY_MS);
  const lastDay = new Date(Math.floor(toMs / DAY_MS) * DAY_MS);
  const rolledUntil = sql`least(${lastDay}::timestamptz, (select rolled_until from usage_daily_progress))`;
  const of = sql`agent_id = any(${[...agentIds]}::uuid[])`;
  const sums = sql`requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum, latency_sketch`;
  return sql`(
    select agent_id, provider_slug, day as hour, ${sums} from usage_daily
     where ${of} and day >= ${firstDay} and day < ${rolledUntil}
    union all
    select agent_id, provider_slug, hour, ${sums} from usage_hourly
     where ${of} and hour >= ${from} and hour < least(${firstDay}::timestamptz, ${to}::timestamptz)
    union all
    select agent_id, provider_slug, hour, ${sums} from usage_hourly
     where ${of} and hour >= greatest(${firstDay}::timestamptz, ${rolledUntil}) and hour < ${to})`;
}

export async function sumByProvider(
  sql: Sql,
  agentIds: readonly string[],
  range: TimeRange,
  withSketches: boolean,
): Promise<readonly ProviderSums[]> {
  const sketches = withSketches ? sql`string_agg(latency_sketch, ''::bytea)` : sql`''::bytea`;
  const rows = await sql<(Omit<ProviderSums, 'costNanos'> & { readonly costNanos: string })[]>`
    select agent_id as "agentId", provider_slug as "providerSlug", sum(requests)::bigint as requests,
           sum(errors)::bigint as errors, sum(tokens_in)::bigint as "tokensIn", sum(tokens_out)::bigint as "tokensOut",
           sum(cost_nanos)::text as "costNanos", sum(duration_ms_sum)::bigint as "durationMsSum", ${sketches} as sketches
      from ${rollups(sql, agentIds, range)} r
     group by agent_id, provider_slug order by sum(requests) desc, provider_slug`;
  return rows.map((row) => ({ ...row, costNanos: BigInt(row.costNanos) }));
}

export interface BucketSums {
  readonly bucket: Date;
  readonly requests: number;
  readonly errors: number;
  readonly costNanos: bigint;
  readonly durationMsSum: number;
}

/** Only buckets with calls. */
export async function sumByBucket(
  sql: Sql,
  agentId: string,
  range: TimeRange,
  interval: Interval,
): Promise<readonly BucketSums[]> {
  const hours = sql`(
    select * from usage_hourly
     where agent_id = ${agentId} and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)})`;
  const rows = await sql<(Omit<BucketSums, 'costNanos'> & { readonly costNanos: string })[]>`
    select date_trunc(${interval}, hour) as bucket, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
           sum(cost_nanos)::text as "costNanos", sum(duration_ms_sum)::bigint as "durationMsSum"
      from ${interval === 'hour' ? hours : rollups(sql, [agentId], range)} r
     group by 1`;
  return rows.map((row) => ({ ...row, costNanos: BigInt(row.costNanos) }));
}

export interface RejectionSum {
  readonly agentId: string;
  /** "" where the provider was not known yet. */
  readonly providerSlug: string;
  readonly bucket: Date;
  readonly count: number;
}

export function sumRejections(
  sql: Sql,
  agentIds: readonly string[],
  range: TimeRange,
  interval: Interval,
): Promise<RejectionSum[]> {
  return sql<RejectionSum[]>`
    select agent_id as "agentId", provider_slug as "providerSlug", date_trunc(${interval}, hour) as bucket,
           sum(count)::bigint as count
      from rejections_hourly
     where agent_id = any(${[...agentIds]}::uuid[]) and hour >= ${new Date(range.fromMs)} and hour < ${new Date(range.toMs)}
     group by agent_id, provider_slug, bucket`;
}

export interface SpendSums {
  readonly agentId: string;
  /** Of the calendar month. */
  readonly monthNanos: number;
  /** Of the last 24 hours; of the hour in which they begin, the part that lies in them. */
  readonly recentNanos: number;
}

export function sumSpend(sql: Sql, agentIds: readonly string[], month: string, nowMs: number): Promise<SpendSums[]> {
  const since = new Date(nowMs - 86_400_000);
  return sql<SpendSums[]>`
    select a.id as "agentId", coalesce(m.spent_nanos, 0) as "monthNanos", coalesce(r.nanos, 0)::float8 as "recentNanos"
      from unnest(${[...agentIds]}::uuid[]) as a(id)
      left join month_spend m on m.agent_id = a.id and m.month = ${month}
      left join lateral (
        select sum(case when hour < ${since}
                        then cost_nanos * (1 - extract(epoch from ${since}::timestamptz - hour) / 3600)
                        else cost_nanos end) as nanos
          from usage_hourly where agent_id = a.id and hour >= date_trunc('hour', ${since}::timestamptz)) r on true`;
}

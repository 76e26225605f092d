/**
 * Reports on single agents, all except logs and export (docs/contract.md#usage). Each checks that the agent belongs to
 * the actor's organization, reads rollups and formats the response.
 */
import type { Sql } from '../../db/postgres-client.js';
import { NotFound } from '../../domain/errors.js';
import type { Actor } from '../../http/route-access.js';
import { LatencySketch } from '../../ledger/latency-sketch.js';
import { utcMonthOf } from '../../ledger/usage-aggregation.js';
import {
  averageMs,
  forecastSpend,
  percentage,
  usdFromNanos,
  wholeCentsFromNanos,
} from '../query/money-and-forecast.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import type { UsageScope } from '../query/rollup-selection.js';
import * as store from '../query/rollup-store.js';
import {
  bucketStarts,
  defaultInterval,
  formatBucket,
  type Interval,
  type Period,
  type RequestedRange,
  requestedPeriod,
  resolveDayRange,
  resolveRange,
  type TimeRange,
} from '../query/time-range.js';
import { loadAgentSeries } from './agent-list-series.js';
import type { CompareReply, ProviderBreakdown, ProviderUsage, TimePoint, UsageSummary } from './schema.js';

export class AgentReports {
  constructor(
    readonly sql: Sql,
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
  ) {}

  async usage(actor: Actor, agentId: string, start?: string, end?: string): Promise<ProviderUsage[]> {
    const range = resolveDayRange(start, end, this.now());
    await this.loadAgentOrThrow(actor, agentId);
    const [sums, rejected] = await this.#byProvider(actor, agentId, range, false);
    return addProvidersWithRejectionsOnly(sums, rejected).map((row) => ({
      providerSlug: row.providerSlug,
      totalRequests: row.requests,
      totalTokensIn: row.tokensIn,
      totalTokensOut: row.tokensOut,
      totalCostCents: wholeCentsFromNanos(row.costNanos),
      totalCostUsd: usdFromNanos(row.costNanos),
      avgDurationMs: averageMs(row.durationMsSum, row.requests),
      rejectedRequests: rejected.get(row.providerSlug) ?? 0,
    }));
  }

  async summary(actor: Actor, agentId: string, requested: RequestedRange): Promise<UsageSummary> {
    const agent = await this.loadAgentOrThrow(actor, agentId);
    const summaries = await this.#summaries(actor, [agent], requested);
    return summaries.get(agent.id)!;
  }

  /**
   * Compares agents in the order of the ids. Throws {@link NotFound} if any agent is not of the actor's organization.
   */
  async compare(
    actor: Actor,
    agentIds: readonly string[],
    { series: interval, ...asked }: RequestedRange & { readonly series?: Interval },
  ): Promise<Omit<CompareReply, 'period'>> {
    const agents = new Map(
      (await store.loadReportedAgents(this.sql, actor.orgId, agentIds)).map((agent) => [agent.id, agent]),
    );
    if (agents.size < agentIds.length) throw new NotFound('agent');
    const summaries = await this.#summaries(actor, [...agents.values()], asked);
    const series =
      interval === undefined
        ? null
        : await this.queryLimiter.runInSnapshot(actor.orgId, (tx) =>
            loadAgentSeries(tx, agentScope(actor, agentIds), resolveRange(asked, this.now()), interval),
          );
    return {
      ...(series === null ? {} : { buckets: series.buckets }),
      agents: agentIds.map((id) => ({
        agentId: id,
        agentName: agents.get(id)!.name,
        ...summaries.get(id)!,
        ...(series === null ? {} : { series: series.of(id) }),
      })),
    };
  }

  async timeseries(
    actor: Actor,
    agentId: string,
    asked: RequestedRange & { readonly interval?: Interval },
  ): Promise<{ readonly interval: Interval; readonly timeseries: TimePoint[] }> {
    await this.loadAgentOrThrow(actor, agentId);
    const range = resolveRange(asked, this.now());
    const interval = asked.interval ?? defaultInterval(range);
    const starts = bucketStarts(range, interval);
    const scope = agentScope(actor, [agentId]);
    const [sums, rejections] = await this.queryLimiter.runInSnapshot(actor.orgId, (tx) =>
      Promise.all([store.sumByBucket(tx, scope, range, interval), store.sumRejections(tx, scope, range, interval)]),
    );
    const byBucket = new Map(sums.map((row) => [row.bucket.getTime(), row]));
    const rejected = sumCountsBy(rejections, (row) => row.bucket.getTime());
    const timeseries = starts.map((ms) => {
      const row = byBucket.get(ms);
      return {
        bucket: formatBucket(ms),
        requests: row?.requests ?? 0,
        errors: row?.errors ?? 0,
        avgLatency: averageMs(row?.durationMsSum ?? 0, row?.requests ?? 0),
        costCents: wholeCentsFromNanos(row?.costNanos ?? 0n),
        costUsd: usdFromNanos(row?.costNanos ?? 0n),
        rejectedRequests: rejected.get(ms) ?? 0,
      };
    });
    return { interval, timeseries };
  }

  async providers(actor: Actor, agentId: string, asked: RequestedRange): Promise<ProviderBreakdown[]> {
    await this.loadAgentOrThrow(actor, agentId);
    const range = resolveRange(asked, this.now());
    const [sums, rejected] = await this.#byProvider(actor, agentId, range, true);
    return addProvidersWithRejectionsOnly(sums, rejected).map((row) => ({
      providerSlug: row.providerSlug,
      totalRequests: row.requests,
      errorCount: row.errors,
      avgLatency: averageMs(row.durationMsSum, row.requests),
      p95Latency: LatencySketch.fromBase64(row.sketches).quantile(0.95),
      totalCostCents: wholeCentsFromNanos(row.costNanos),
      totalCostUsd: usdFromNanos(row.costNanos),
      totalTokensIn: row.tokensIn,
      totalTokensOut: row.tokensOut,
      rejectedRequests: rejected.get(row.providerSlug) ?? 0,
    }));
  }

  /** Throws {@link NotFound} also for an agent of another organization. */
  async loadAgentOrThrow(actor: Actor, agentId: string): Promise<store.ReportedAgent> {
    const [agent] = await store.loadReportedAgents(this.sql, actor.orgId, [agentId]);
    if (agent === undefined) throw new NotFound('agent');
    return agent;
  }

  async #summaries(
    actor: Actor,
    agents: readonly store.ReportedAgent[],
    requested: RequestedRange,
  ): Promise<ReadonlyMap<string, UsageSummary>> {
    const nowMs = this.now();
    const range = resolveRange(requested, nowMs);
    const ids = agents.map((agent) => agent.id);
    const [sums, rejections, spend] = await this.queryLimiter.runInSnapshot(actor.orgId, (tx) =>
      Promise.all([
        store.sumByProvider(tx, agentScope(actor, ids), range, true),
        store.sumRejections(tx, agentScope(actor, ids), range, 'day'),
        store.sumAgentSpend(tx, ids, utcMonthOf(nowMs), nowMs),
      ]),
    );
    const rejected = sumCountsBy(rejections, (row) => row.agentId);
    const spendByAgent = new Map(spend.map((row) => [row.agentId, row]));
    return new Map(
      agents.map((agent) => {
        const rows = sums.filter((row) => row.agentId === agent.id);
        const money = spendByAgent.get(agent.id)!;
        const { budgetCents } = agent;
        const { monthNanos, recentNanos, firstHour } = money;
        const firstSpendMs = firstHour?.getTime() ?? null;
        const forecast = forecastSpend({ monthNanos, recentNanos, firstSpendMs, budgetCents, nowMs });
        return [
          agent.id,
          {
            ...summarizeLatencyAndCost(rows, requestedPeriod(requested)),
            budgetCents,
            budgetUsd: budgetCents === null ? null : budgetCents / 100,
            ...forecast,
            rejectedRequests: rejected.get(agent.id) ?? 0,
          },
        ];
      }),
    );
  }

  #byProvider(actor: Actor, agentId: string, range: TimeRange, withSketches: boolean) {
    const scope = agentScope(actor, [agentId]);
    return this.queryLimiter.runInSnapshot(actor.orgId, async (tx) => {
      const [sums, rejections] = await Promise.all([
        store.sumByProvider(tx, scope, range, withSketches),
        store.sumRejections(tx, scope, range, 'day'),
      ]);
      return [sums, sumCountsBy(rejections, (row) => row.providerSlug)] as const;
    });
  }
}

const agentScope = ({ orgId }: Actor, agentIds: readonly string[]): UsageScope => ({
  orgId,
  projectId: null,
  agentIds,
});

function summarizeLatencyAndCost(rows: readonly store.ProviderSums[], period: Period | null) {
  const requests = rows.reduce((sum, row) => sum + row.requests, 0);
  const costNanos = rows.reduce((sum, row) => sum + row.costNanos, 0n);
  const latency = new LatencySketch();
  for (const row of rows) latency.mergeBase64(row.sketches);
  return {
    period,
    totalRequests: requests,
    errorRate: percentage(
      rows.reduce((sum, row) => sum + row.errors, 0),
      requests,
    ),
    p50Latency: latency.quantile(0.5),
    p95Latency: latency.quantile(0.95),
    costCents: wholeCentsFromNanos(costNanos),
    costUsd: usdFromNanos(costNanos),
  };
}

function sumCountsBy<K>(rows: readonly store.RejectionSum[], key: (row: store.RejectionSum) => K): Map<K, number> {
  const totals = new Map<K, number>();
  for (const row of rows) totals.set(key(row), (totals.get(key(row)) ?? 0) + row.count);
  return totals;
}

/** Adds zero rows for providers that have only rejected calls. */
function addProvidersWithRejectionsOnly(sums: readonly store.ProviderSums[], rejected: ReadonlyMap<string, number>) {
  const seen = new Set(sums.map((row) => row.providerSlug));
  const missing = [...rejected.keys()].filter((slug) => slug !== '' && !seen.has(slug)).sort();
  const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0n, durationMsSum: 0 };
  return [...sums, ...missing.map((providerSlug) => ({ providerSlug, ...zero, sketches: '' }))];
}

/**
 * Usage reports of an organization, a project or an agent, including deleted ones: usage is kept after its owner is
 * deleted.
 */
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import { InvalidInput, NotFound } from '../../domain/errors.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import type { Actor } from '../../http/route-access.js';
import { LatencySketch } from '../../ledger/latency-sketch.js';
import { utcMonthOf } from '../../ledger/usage-aggregation.js';
import { addSums, presentSums, ZERO_SUMS } from '../query/add-and-format-usage-sums.js';
import { centsFromNanos, percentage, projectSpend, usdFromNanos } from '../query/money-and-forecast.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { type Dimension, isTagDimension, type UsageScope } from '../query/rollup-selection.js';
import * as store from '../query/rollup-store.js';
import {
  bucketStarts,
  defaultInterval,
  formatBucket,
  previousRange,
  resolveRange,
  type TimeRange,
} from '../query/time-range.js';
import { callCountsByStatus, figuresOfCallCount, figuresOfRejections, figuresOfSums } from './group-figures.js';
import { loadGroupSeries, sortByCountDescending } from './group-series.js';
import { countRejectionsByBucket } from './group-store.js';
import type {
  Breakdown,
  BreakdownQuery,
  GroupBy,
  Refusals,
  ScopeQuery,
  ScopeSeries,
  ScopeSeriesQuery,
  ScopeSummary,
} from './schema.js';
import { loadScopeSpend, type ScopeSpend } from './scope-spend-store.js';

/** Per group; covers a month by the hour. */
const GROUPED_BUCKETS_MAX = 800;

export class ScopeReports {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
  ) {}

  async summary(actor: Actor, query: ScopeQuery): Promise<ScopeSummary> {
    const { scope, range } = this.#resolveQuery(actor, query);
    const nowMs = this.now();
    const [days, sketches, reasons, spend] = await this.#runInScope(scope, (tx) =>
      Promise.all([
        store.sumByBucket(tx, scope, range, 'day'),
        store.loadSketches(tx, scope, range),
        store.sumRejectionsByReason(tx, scope, range),
        loadScopeSpend(tx, scope, utcMonthOf(nowMs), nowMs),
      ]),
    );
    const total = days.reduce(addSums, ZERO_SUMS);
    const latency = LatencySketch.fromBase64(sketches.sketches);
    return {
      ...presentRange(range),
      ...presentSums(total),
      errorRate: percentage(total.errors, total.requests),
      p50Latency: latency.quantile(0.5),
      p95Latency: latency.quantile(0.95),
      rejectedRequests: reasons.reduce((sum, { count }) => sum + count, 0),
      ...presentSpend(spend, nowMs),
    };
  }

  async timeseries(actor: Actor, query: ScopeSeriesQuery): Promise<ScopeSeries> {
    const { groupBy } = query;
    const { scope, range } = this.#resolveQuery(actor, query);
    assertCountedByKey(query, groupBy);
    const isByTag = groupBy !== undefined && isTagDimension(groupBy);
    const interval = query.interval ?? (isByTag ? 'day' : defaultInterval(range));
    if (isByTag && interval !== 'day')
      throw new InvalidInput('groupBy=tag:… needs interval=day: tags are summed by day');
    const starts =
      groupBy === undefined ? bucketStarts(range, interval) : bucketStarts(range, interval, GROUPED_BUCKETS_MAX);
    const [sums, rejections, groups] = await this.#runInScope(scope, (tx) =>
      Promise.all([
        store.sumByBucket(tx, scope, range, interval),
        scope.keyId === undefined ? countRejectionsByBucket(tx, scope, range, interval) : [],
        groupBy === undefined ? null : loadGroupSeries(tx, scope, range, interval, groupBy),
      ]),
    );
    const byBucket = new Map(sums.map((row) => [row.bucket.getTime(), row]));
    const rejectedByBucket = new Map<number, number>();
    for (const { bucket, count } of rejections) {
      rejectedByBucket.set(bucket.getTime(), (rejectedByBucket.get(bucket.getTime()) ?? 0) + count);
    }
    const timeseries = starts.map((ms) => ({
      bucket: formatBucket(ms),
      ...presentSums(byBucket.get(ms) ?? ZERO_SUMS),
      rejectedRequests: rejectedByBucket.get(ms) ?? 0,
    }));
    return { ...presentRange(range), interval, timeseries, ...(groups === null ? {} : { groups }) };
  }

  async breakdown(actor: Actor, query: BreakdownQuery, page: Page): Promise<Breakdown> {
    const { scope, range } = this.#resolveQuery(actor, query);
    const { by } = query;
    assertCountedByKey(query, by);
    const result = await this.#runInScope(scope, (tx) =>
      by === 'status' || by === 'reason'
        ? countRows(tx, scope, range, by, query, page)
        : breakdownRows(tx, scope, range, by, query, page),
    );
    return { ...presentRange(range), by, ...result, ...page };
  }

  /** The scope and range of an export. Throws {@link NotFound} if the project, agent or key never existed. */
  async resolveExport(
    actor: Actor,
    query: ScopeQuery & { readonly keyId?: string },
  ): Promise<{ readonly scope: UsageScope; readonly range: TimeRange }> {
    const resolved = this.#resolveQuery(actor, query);
    await this.#runInScope(resolved.scope, async () => {});
    return resolved;
  }

  async refusals(actor: Actor, query: ScopeQuery): Promise<Refusals> {
    const { scope, range } = this.#resolveQuery(actor, query);
    const refusals = await this.#runInScope(scope, (tx) => store.sumRejectionsByReason(tx, scope, range));
    return { ...presentRange(range), refusals: [...refusals] };
  }

  #runInScope<T>(scope: UsageScope, query: (tx: Tx) => Promise<T>): Promise<T> {
    return runInScope(this.queryLimiter, scope, query);
  }

  #resolveQuery(
    actor: Actor,
    query: ScopeQuery & { readonly keyId?: string },
  ): { readonly scope: UsageScope; readonly range: TimeRange } {
    const { projectId, agentId, keyId } = query;
    return {
      scope: {
        orgId: actor.orgId,
        projectId: projectId ?? actor.token?.projectId ?? null,
        agentIds: agentId === undefined ? null : [agentId],
        ...(keyId === undefined ? {} : { keyId }),
      },
      range: resolveRange(query, this.now()),
    };
  }
}

/** Tags and rejections are summed without their key. */
function assertCountedByKey({ keyId }: { readonly keyId?: string }, dimension: GroupBy | undefined): void {
  if (keyId === undefined || dimension === undefined) return;
  if (dimension === 'reason' || isTagDimension(dimension))
    throw new InvalidInput(`keyId is not possible with ${dimension}: leave keyId out`);
}

function presentSpend({ monthNanos, recentNanos, firstHour, budgetCents, createdAt }: ScopeSpend, nowMs: number) {
  const monthCents = centsFromNanos(monthNanos);
  const ageMs = nowMs - (createdAt?.getTime() ?? nowMs);
  const projection = projectSpend({
    monthNanos,
    recentNanos,
    firstSpendMs: firstHour?.getTime() ?? null,
    budgetCents,
    nowMs,
  });
  const { burnRateCentsPerHour, projectedCents: projectedMonthlyCents, daysUntilBudget } = projection;
  return {
    monthCents,
    budgetCents,
    budgetUsedPercent: budgetCents ? percentage(monthCents, budgetCents) : null,
    // A forecast from less than one day of usage would be misleading.
    forecast: ageMs < DAY_MS ? null : { burnRateCentsPerHour, projectedMonthlyCents, daysUntilBudget },
  };
}

type PartOfBreakdown = Omit<Breakdown, 'from' | 'to' | 'by' | 'limit' | 'offset'>;

const presentPrevious = (requests: number, costNanos: bigint) => ({
  requests,
  costCents: centsFromNanos(costNanos),
  costUsd: usdFromNanos(costNanos),
});

async function breakdownRows(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  dimension: Dimension,
  query: BreakdownQuery,
  page: Page,
): Promise<PartOfBreakdown> {
  const { thenBy = null, compare, sort = 'costUsd', order = 'desc' } = query;
  if (thenBy !== null && isTagDimension(dimension))
    throw new InvalidInput('thenBy is not possible with by=tag:…: tags are summed by themselves');
  if (thenBy === dimension) throw new InvalidInput('thenBy must be another dimension than by');
  const previous = compare === undefined ? null : previousRange(range);
  const found = await store.sumBreakdown(tx, scope, range, { dimension, thenBy, previous, sort, order, ...page });
  const { previousSums } = found;
  const rows = found.rows.map(({ thenValue, thenName, previousRequests, previousCostNanos, ...row }) => ({
    value: row.value,
    name: row.name,
    ...(thenValue === null ? {} : { thenValue, thenName }),
    ...figuresOfSums(row),
    ...(previous === null ? {} : { previous: presentPrevious(previousRequests ?? 0, previousCostNanos ?? 0n) }),
  }));
  const spanBefore = previous === null ? null : presentRange(previous);
  return {
    ...(spanBefore === null ? {} : { previousFrom: spanBefore.from, previousTo: spanBefore.to }),
    totals: {
      ...presentSums(found.sums),
      ...(previousSums === null ? {} : { previous: presentPrevious(previousSums.requests, previousSums.costNanos) }),
    },
    rows,
    total: found.total,
  };
}

/** Groups that have counts only. */
async function countRows(
  tx: Tx,
  scope: UsageScope,
  range: TimeRange,
  by: 'status' | 'reason',
  query: BreakdownQuery,
  page: Page,
): Promise<PartOfBreakdown> {
  const given = (['thenBy', 'compare', 'sort'] as const).find((name) => query[name] !== undefined);
  if (given !== undefined) throw new InvalidInput(`${given} is not possible with by=${by}: leave it out`);
  const rows =
    by === 'reason'
      ? (await store.sumRejectionsByReason(tx, scope, range)).map(
          ({ reason, count }) => [reason, figuresOfRejections(count)] as const,
        )
      : await countCallsByStatus(tx, scope, range);
  const shownRows = rows.slice(page.offset, page.offset + page.limit);
  return { rows: shownRows.map(([value, figures]) => ({ value, name: null, ...figures })), total: rows.length };
}

async function countCallsByStatus(tx: Tx, scope: UsageScope, range: TimeRange) {
  const { requests, sketches } = await store.loadSketches(tx, scope, range);
  const calls = sortByCountDescending(callCountsByStatus(LatencySketch.fromBase64(sketches), requests));
  return calls.map(([status, count]) => [status, figuresOfCallCount(count)] as const);
}

/**
 * Runs a query in one snapshot. Throws {@link NotFound} if the scope's project or agent never existed in the
 * organization.
 */
export function runInScope<T>(
  queryLimiter: QueryConcurrencyLimiter,
  scope: UsageScope,
  query: (tx: Tx) => Promise<T>,
): Promise<T> {
  return queryLimiter.runInSnapshot(scope.orgId, async (tx) => {
    if (!(await store.scopeExists(tx, scope))) throw new NotFound(scopeKind(scope));
    return query(tx);
  });
}

const scopeKind = ({ agentIds, keyId }: UsageScope): string =>
  agentIds !== null ? 'agent' : keyId === undefined ? 'project' : 'API key';

/** The range as ISO 8601 timestamps. */
export const presentRange = ({ fromMs, toMs }: TimeRange) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

/** Usage of an organization, of a project or of one agent, those that are gone included: it outlives what it is about. */
import { DAY_MS } from '@acg/base/units';
import type { Tx } from '../db/sql.js';
import { NotFound } from '../domain/errors.js';
import type { Actor } from '../http/access.js';
import type { Listed, Page } from '../http/pagination.js';
import { monthOf } from '../ledger/rollup.js';
import { Sketch } from '../ledger/sketch.js';
import { centsOf, outlookOf, percentage } from './figures.js';
import { callsByStatus, ofCalls, ofRefusals, ofSums } from './group-figures.js';
import { groupSeries, mostFirst } from './group-series.js';
import { reasonsByBucket } from './group-store.js';
import { askedRange, bucketName, bucketStarts, defaultInterval, type TimeRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import * as store from './report-store.js';
import type { Scope } from './rollup-source.js';
import type {
  Breakdown,
  GroupBy,
  Refusals,
  ScopeQuery,
  ScopeSeries,
  ScopeSeriesQuery,
  ScopeSummary,
} from './schema.js';
import { loadScopeSpend, type ScopeSpend } from './scope-spend-store.js';
import { added, NOTHING, shown } from './sums.js';

/** Of each group; a month by the hour. */
const GROUPED_MAX = 800;

export class ScopeReports {
  constructor(
    readonly gate: QueryGate,
    readonly now: () => number = Date.now,
  ) {}

  async summary(actor: Actor, query: ScopeQuery): Promise<ScopeSummary> {
    const { scope, range } = this.#asked(actor, query);
    const nowMs = this.now();
    const [days, sketches, reasons, spend] = await this.#ask(scope, (tx) =>
      Promise.all([
        store.sumByBucket(tx, scope, range, 'day'),
        store.sketchesOf(tx, scope, range),
        store.sumReasons(tx, scope, range),
        loadScopeSpend(tx, scope, monthOf(nowMs), nowMs),
      ]),
    );
    const total = days.reduce(added, NOTHING);
    const latency = Sketch.fromBase64(sketches.sketches);
    return {
      ...spanOf(range),
      ...shown(total),
      errorRate: percentage(total.errors, total.requests),
      p50Latency: latency.quantile(0.5),
      p95Latency: latency.quantile(0.95),
      rejectedRequests: reasons.reduce((sum, { count }) => sum + count, 0),
      ...spending(spend, nowMs),
    };
  }

  async timeseries(actor: Actor, query: ScopeSeriesQuery): Promise<ScopeSeries> {
    const { groupBy } = query;
    const { scope, range } = this.#asked(actor, query);
    const interval = query.interval ?? defaultInterval(range);
    const starts = groupBy === undefined ? bucketStarts(range, interval) : bucketStarts(range, interval, GROUPED_MAX);
    const [sums, refusals, groups] = await this.#ask(scope, (tx) =>
      Promise.all([
        store.sumByBucket(tx, scope, range, interval),
        reasonsByBucket(tx, scope, range, interval),
        groupBy === undefined ? null : groupSeries(tx, scope, range, interval, groupBy),
      ]),
    );
    const byBucket = new Map(sums.map((row) => [row.bucket.getTime(), row]));
    const refused = new Map<number, number>();
    for (const { bucket, count } of refusals) {
      refused.set(bucket.getTime(), (refused.get(bucket.getTime()) ?? 0) + count);
    }
    const timeseries = starts.map((ms) => ({
      bucket: bucketName(ms),
      ...shown(byBucket.get(ms) ?? NOTHING),
      rejectedRequests: refused.get(ms) ?? 0,
    }));
    return { ...spanOf(range), interval, timeseries, ...(groups === null ? {} : { groups }) };
  }

  async breakdown(actor: Actor, by: GroupBy, query: ScopeQuery, page: Page): Promise<Breakdown> {
    const { scope, range } = this.#asked(actor, query);
    const { rows, total } = await this.#ask(scope, (tx) => breakdownRows(tx, scope, range, by, page));
    return { ...spanOf(range), by, rows: [...rows], total, ...page };
  }

  /** What an export is of, once it is known that there is, or was, such a thing. */
  async exported(actor: Actor, query: ScopeQuery): Promise<{ readonly scope: Scope; readonly range: TimeRange }> {
    const asked = this.#asked(actor, query);
    await this.#ask(asked.scope, async () => {});
    return asked;
  }

  async refusals(actor: Actor, query: ScopeQuery): Promise<Refusals> {
    const { scope, range } = this.#asked(actor, query);
    const refusals = await this.#ask(scope, (tx) => store.sumReasons(tx, scope, range));
    return { ...spanOf(range), refusals: [...refusals] };
  }

  #ask<T>(scope: Scope, question: (tx: Tx) => Promise<T>): Promise<T> {
    return askInScope(this.gate, scope, question);
  }

  #asked(actor: Actor, query: ScopeQuery): { readonly scope: Scope; readonly range: TimeRange } {
    const { projectId, agentId } = query;
    return {
      scope: {
        orgId: actor.orgId,
        projectId: projectId ?? actor.token?.projectId ?? null,
        agentIds: agentId === undefined ? null : [agentId],
      },
      range: askedRange(query, this.now()),
    };
  }
}

function spending({ monthNanos, recentNanos, firstHour, budgetCents, createdAt }: ScopeSpend, nowMs: number) {
  const monthCents = centsOf(monthNanos);
  const ageMs = nowMs - (createdAt?.getTime() ?? nowMs);
  const outlook = outlookOf({
    monthNanos,
    recentNanos,
    firstSpendMs: firstHour?.getTime() ?? null,
    budgetCents,
    nowMs,
  });
  const { burnRateCentsPerHour, projectedCents: projectedMonthlyCents, daysUntilBudget } = outlook;
  return {
    monthCents,
    budgetCents,
    budgetUsedPercent: budgetCents ? percentage(monthCents, budgetCents) : null,
    // Of the first day nothing is said about the rest of the month.
    forecast: ageMs < DAY_MS ? null : { burnRateCentsPerHour, projectedMonthlyCents, daysUntilBudget },
  };
}

async function breakdownRows(tx: Tx, scope: Scope, range: TimeRange, by: GroupBy, page: Page): Promise<Listed<Row>> {
  if (by !== 'status' && by !== 'reason') {
    const { rows, total } = await store.sumBy(tx, scope, range, by, page);
    return { rows: rows.map((row) => ({ value: row.value, name: row.name, ...ofSums(row) })), total };
  }
  const rows =
    by === 'reason'
      ? (await store.sumReasons(tx, scope, range)).map(({ reason, count }) => [reason, ofRefusals(count)] as const)
      : await callsOfStatuses(tx, scope, range);
  const shownRows = rows.slice(page.offset, page.offset + page.limit);
  return { rows: shownRows.map(([value, figures]) => ({ value, name: null, ...figures })), total: rows.length };
}

type Row = Breakdown['rows'][number];

async function callsOfStatuses(tx: Tx, scope: Scope, range: TimeRange) {
  const { requests, sketches } = await store.sketchesOf(tx, scope, range);
  const calls = mostFirst(callsByStatus(Sketch.fromBase64(sketches), requests));
  return calls.map(([status, count]) => [status, ofCalls(count)] as const);
}

/** Asks about a scope that the organization has or had. Throws {@link NotFound}. */
export function askInScope<T>(gate: QueryGate, scope: Scope, question: (tx: Tx) => Promise<T>): Promise<T> {
  return gate.ask(scope.orgId, async (tx) => {
    if (!(await store.isKnown(tx, scope))) throw new NotFound(scope.agentIds === null ? 'project' : 'agent');
    return question(tx);
  });
}

/** As answers say it. */
export const spanOf = ({ fromMs, toMs }: TimeRange) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

/** Usage of an organization, of a project or of one agent, those that are gone included: it outlives what it is about. */
import { DAY_MS } from '@acg/base/units';
import type { Tx } from '../db/sql.js';
import { NotFound } from '../domain/errors.js';
import type { Actor } from '../http/access.js';
import type { Page } from '../http/pagination.js';
import { Sketch } from '../ledger/sketch.js';
import { percentage } from './figures.js';
import { askedRange, bucketName, bucketStarts, type Interval, type TimeRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import * as store from './report-store.js';
import type { Dimension, Scope } from './rollup-source.js';
import type { Breakdown, Refusals, ScopeQuery, ScopeSeries, ScopeSummary } from './schema.js';
import { added, NOTHING, shown } from './sums.js';

/** Up to so long a series is by the hour, unless another interval is asked for. */
const HOURLY_MS_MAX = 7 * DAY_MS;

export class ScopeReports {
  constructor(
    readonly gate: QueryGate,
    readonly now: () => number = Date.now,
  ) {}

  async summary(actor: Actor, query: ScopeQuery): Promise<ScopeSummary> {
    const { scope, range } = this.#asked(actor, query);
    const [days, sketches, reasons] = await this.#ask(scope, (tx) =>
      Promise.all([
        store.sumByBucket(tx, scope, range, 'day'),
        store.sketchesOf(tx, scope, range),
        store.sumReasons(tx, scope, range),
      ]),
    );
    const total = days.reduce(added, NOTHING);
    const latency = Sketch.decode(sketches);
    return {
      ...spanOf(range),
      ...shown(total),
      errorRate: percentage(total.errors, total.requests),
      p50Latency: latency.quantile(0.5),
      p95Latency: latency.quantile(0.95),
      rejectedRequests: reasons.reduce((sum, { count }) => sum + count, 0),
    };
  }

  async timeseries(actor: Actor, query: ScopeQuery & { interval?: Interval }): Promise<ScopeSeries> {
    const { scope, range } = this.#asked(actor, query);
    const interval = query.interval ?? (range.toMs - range.fromMs <= HOURLY_MS_MAX ? 'hour' : 'day');
    const sums = await this.#ask(scope, (tx) => store.sumByBucket(tx, scope, range, interval));
    const byBucket = new Map(sums.map((row) => [row.bucket.getTime(), row]));
    const timeseries = bucketStarts(range, interval).map((ms) => ({
      bucket: bucketName(ms),
      ...shown(byBucket.get(ms) ?? NOTHING),
    }));
    return { ...spanOf(range), interval, timeseries };
  }

  async breakdown(actor: Actor, by: Dimension, query: ScopeQuery, page: Page): Promise<Breakdown> {
    const { scope, range } = this.#asked(actor, query);
    const { rows, total } = await this.#ask(scope, (tx) => store.sumBy(tx, scope, range, by, page));
    return {
      ...spanOf(range),
      by,
      rows: rows.map((row) => ({ value: row.value, name: row.name, ...shown(row) })),
      total,
      ...page,
    };
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

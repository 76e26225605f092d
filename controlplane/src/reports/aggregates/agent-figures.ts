/** Report of the agents of an organization or project, each with its usage and spend. */

import type { Page } from '../../http/limit-offset-pagination.js';
import type { Actor } from '../../http/route-access.js';
import { LatencySketch } from '../../ledger/latency-sketch.js';
import { utcMonthOf } from '../../ledger/usage-aggregation.js';
import { effectiveLimits, pickLimitsShownInLists } from '../../limits/agent-limit-fields.js';
import { presentSums, ZERO_SUMS } from '../query/add-and-format-usage-sums.js';
import { centsFromNanos, percentage } from '../query/money-and-forecast.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import * as store from '../query/rollup-store.js';
import { resolveRange } from '../query/time-range.js';
import type { AgentFigures, AgentFiguresQuery, AgentFiguresReply } from './agent-figures-schema.js';
import { type AgentListQuery, type ListedAgent, listAgentsByFigure } from './agent-figures-store.js';
import { loadAgentSeries } from './agent-list-series.js';
import { presentRange, runInScope } from './scope-reports.js';

/** Sort fields with ascending default order. All others start with the newest, most expensive or busiest agent. */
const ASCENDING_BY_DEFAULT = new Set(['name']);

export class AgentFiguresReport {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
  ) {}

  async list(actor: Actor, query: AgentFiguresQuery, page: Page): Promise<AgentFiguresReply> {
    const {
      sort = 'createdAt',
      order = ASCENDING_BY_DEFAULT.has(sort) ? 'asc' : 'desc',
      search = '',
      status = null,
    } = query;
    const range = resolveRange(query, this.now());
    const scope = { orgId: actor.orgId, projectId: query.projectId ?? null, agentIds: null };
    const listQuery: AgentListQuery = { scope, range, month: utcMonthOf(this.now()), search, status, sort, order };
    return runInScope(this.queryLimiter, scope, async (tx) => {
      const { rows, total } = await listAgentsByFigure(tx, listQuery, page);
      const pageScope = { ...scope, agentIds: rows.map(({ id }) => id) };
      const [sums, rejections, series] = await Promise.all([
        store.sumByAgent(tx, pageScope, range),
        store.sumRejectionsByAgent(tx, pageScope, range),
        query.series === undefined ? null : loadAgentSeries(tx, pageScope, range, query.series),
      ]);
      const agents = rows.map((row) => ({
        ...presentAgentFigures(row, sums.get(row.id), rejections.get(row.id)),
        ...(series === null ? {} : { series: series.of(row.id) }),
      }));
      return {
        ...presentRange(range),
        ...(series === null ? {} : { buckets: series.buckets }),
        agents,
        total,
        ...page,
      };
    });
  }
}

function presentAgentFigures(
  { monthNanos, lastCallAt, createdAt, ...agent }: ListedAgent,
  sums: store.AgentSums = { ...ZERO_SUMS, sketches: '' },
  rejectedRequests = 0,
): AgentFigures {
  const monthCents = centsFromNanos(BigInt(monthNanos));
  const limits = pickLimitsShownInLists(effectiveLimits(agent));
  const { budgetCentsMonthly } = limits;
  return {
    id: agent.id,
    name: agent.name,
    slug: agent.slug,
    status: agent.status,
    projectId: agent.projectId,
    projectName: agent.projectName,
    ownerUserId: agent.ownerUserId,
    ...limits,
    usageThresholds: [...agent.usageThresholds],
    createdAt: createdAt.toISOString(),
    ...presentSums(sums),
    errorRate: percentage(sums.errors, sums.requests),
    rejectedRequests,
    p95Latency: LatencySketch.fromBase64(sums.sketches).quantile(0.95),
    monthCents,
    budgetUsedPercent: budgetCentsMonthly ? percentage(monthCents, budgetCentsMonthly) : null,
    lastCallAt: lastCallAt?.toISOString() ?? null,
  };
}

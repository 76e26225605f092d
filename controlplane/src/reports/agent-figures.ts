/** Agents of an organization or one of its projects, each with what it did and spent. */
import type { Actor } from '../http/access.js';
import type { Page } from '../http/pagination.js';
import { monthOf } from '../ledger/rollup.js';
import { Sketch } from '../ledger/sketch.js';
import { effectiveLimits, pickListed } from '../limits/limit-fields.js';
import type { AgentFigures, AgentFiguresQuery, AgentFiguresReply } from './agent-figures-schema.js';
import { type AgentsAsked, type ListedAgent, listAgents } from './agent-figures-store.js';
import { seriesOfAgents } from './agent-series.js';
import { centsOf, percentage } from './figures.js';
import { askedRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import * as store from './report-store.js';
import { askInScope, spanOf } from './scope-reports.js';
import { NOTHING, shown } from './sums.js';

/** Sorted by these, the first is where the alphabet begins; by all others, the newest, dearest or busiest. */
const ASCENDING = new Set(['name']);

export class AgentFiguresReport {
  constructor(
    readonly gate: QueryGate,
    readonly now: () => number = Date.now,
  ) {}

  async list(actor: Actor, query: AgentFiguresQuery, page: Page): Promise<AgentFiguresReply> {
    const { sort = 'createdAt', order = ASCENDING.has(sort) ? 'asc' : 'desc', search = '', status = null } = query;
    const range = askedRange(query, this.now());
    const scope = { orgId: actor.orgId, projectId: query.projectId ?? null, agentIds: null };
    const asked: AgentsAsked = { scope, range, month: monthOf(this.now()), search, status, sort, order };
    return askInScope(this.gate, scope, async (tx) => {
      const { rows, total } = await listAgents(tx, asked, page);
      const ofPage = { ...scope, agentIds: rows.map(({ id }) => id) };
      const [sums, refused, series] = await Promise.all([
        store.sumByAgent(tx, ofPage, range),
        store.sumRejectionsByAgent(tx, ofPage, range),
        query.series === undefined ? null : seriesOfAgents(tx, ofPage, range, query.series),
      ]);
      const agents = rows.map((row) => ({
        ...figuresOf(row, sums.get(row.id), refused.get(row.id)),
        ...(series === null ? {} : { series: series.of(row.id) }),
      }));
      return { ...spanOf(range), ...(series === null ? {} : { buckets: series.buckets }), agents, total, ...page };
    });
  }
}

function figuresOf(
  { monthNanos, lastCallAt, createdAt, ...agent }: ListedAgent,
  sums: store.AgentSums = { ...NOTHING, sketches: '' },
  rejectedRequests = 0,
): AgentFigures {
  const monthCents = centsOf(BigInt(monthNanos));
  const limits = pickListed(effectiveLimits(agent));
  const { budgetCentsMonthly } = limits;
  return {
    id: agent.id,
    name: agent.name,
    slug: agent.slug,
    status: agent.status,
    projectId: agent.projectId,
    projectName: agent.projectName,
    ...limits,
    usageThresholds: [...agent.usageThresholds],
    createdAt: createdAt.toISOString(),
    ...shown(sums),
    errorRate: percentage(sums.errors, sums.requests),
    rejectedRequests,
    p95Latency: Sketch.fromBase64(sums.sketches).quantile(0.95),
    monthCents,
    budgetUsedPercent: budgetCentsMonthly ? percentage(monthCents, budgetCentsMonthly) : null,
    lastCallAt: lastCallAt?.toISOString() ?? null,
  };
}

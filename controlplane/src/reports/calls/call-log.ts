/** The calls of an organization, a project or an agent: filtered pages and single calls (docs/contract.md#usage). */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import { InvalidInput, NotFound } from '../../domain/errors.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import type { Actor } from '../../http/route-access.js';
import { runInScope } from '../aggregates/scope-reports.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { clampToLatest, parseTimeRange } from '../query/time-range.js';
import { OFFSET_MAX, replaceNul } from './agent-logs.js';
import type { Call, CallsQuery, CallsReply } from './call-schema.js';
import { type CallFilter, findCallPosition, loadCallsAt } from './call-store.js';
import { SEARCH_LIMITS, type SearchLimits, searchCalls, TOTAL_MAX } from './search-calls-in-bounded-chunks.js';

const SCAN_STATEMENT_TIMEOUT_MS = 5_000;

export class CallLog {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
    readonly searchLimits: SearchLimits = SEARCH_LIMITS,
  ) {}

  async list(actor: Actor, query: CallsQuery, page: Page): Promise<CallsReply> {
    if (page.offset > OFFSET_MAX)
      throw new InvalidInput(`offset must be at most ${OFFSET_MAX}. Set endTime to read older calls.`);
    const range = parseTimeRange(query.startTime, query.endTime);
    const filter = parseCallFilter(actor, query);
    const { orgId, projectId, agentId } = filter;
    const scope = { orgId, projectId, agentIds: agentId === null ? null : [agentId] };
    return runInScope(this.queryLimiter, scope, async (tx) => {
      await configureScan(tx, filter);
      const { positions, matchCount, isComplete, searchedFrom } = await searchCalls(
        tx,
        filter,
        range,
        page,
        this.now(),
        this.searchLimits,
      );
      return {
        logs: await loadCallsAt(tx, orgId, positions),
        total: Math.min(matchCount, TOTAL_MAX),
        totalCapped: !isComplete || matchCount > TOTAL_MAX,
        searchedFrom: searchedFrom?.toISOString() ?? null,
        ...page,
      };
    });
  }

  async get({ orgId, token }: Actor, id: string): Promise<Call> {
    return this.queryLimiter.runInSnapshot(orgId, async (tx) => {
      const position = await findCallPosition(tx, orgId, id, startMsOfId(id));
      const [call] = position === null ? [] : await loadCallsAt(tx, orgId, [position]);
      const tokenProjectId = token?.projectId ?? null;
      if (call === undefined || (tokenProjectId !== null && call.projectId !== tokenProjectId))
        throw new NotFound('call');
      return call;
    });
  }
}

/** Bounds each statement of a search, and chooses how it is planned. */
export async function configureScan(tx: Tx, { search }: CallFilter): Promise<void> {
  // The right plan of a search depends on how rare the term is, so a search is planned each time. Other queries
  // reuse a generic plan.
  const planCacheMode = search === null ? 'auto' : 'force_custom_plan';
  await tx`select set_config('statement_timeout', ${String(SCAN_STATEMENT_TIMEOUT_MS)}, true),
    set_config('plan_cache_mode', ${planCacheMode}, true)`;
}

/** Unix ms from a call id. Data planes create the id (UUIDv7) when the call starts. */
const startMsOfId = (id: string): number => clampToLatest(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

export function parseCallFilter({ orgId, token }: Actor, query: Omit<CallsQuery, 'limit' | 'offset'>): CallFilter {
  const { agentId = null, keyId = null, provider = null, model = null, minCost, search = '' } = query;
  const statuses = query.status?.split(',') ?? [];
  return {
    orgId,
    agentId,
    projectId: query.projectId ?? token?.projectId ?? null,
    keyId,
    provider: provider === null ? null : replaceNul(provider),
    model: model === null ? null : replaceNul(model),
    statuses: statuses.filter((status) => !status.endsWith('xx')).map(Number),
    statusClasses: statuses.filter((status) => status.endsWith('xx')).map((status) => Number(status[0])),
    minCostNanos: minCost === undefined ? null : Math.round(minCost * NANOS_PER_CENT),
    search: search === '' ? null : replaceNul(search),
    tag: query.tag ?? null,
    runId: query.runId ?? null,
    wouldReject: query.wouldReject ?? false,
  };
}

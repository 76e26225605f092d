/** The calls of an organization, one of its projects or agents: in filtered pages, and one by one (docs/contract.md#usage). */
import { NANOS_PER_CENT } from '@acg/base/units';
import { InvalidInput, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/access.js';
import type { Page } from '../http/pagination.js';
import type { Call, CallsQuery, CallsReply } from './call-schema.js';
import { SEARCH_BOUNDS, type SearchBounds, searchCalls, TOTAL_MAX } from './call-search.js';
import { type CallFilter, findCall, loadCalls } from './call-store.js';
import { OFFSET_MAX, storable } from './logs.js';
import { atMost, timeRange } from './period.js';
import type { QueryGate } from './query-gate.js';
import { askInScope } from './scope-reports.js';

const PIECE_TIMEOUT_MS = 5_000;

export class Calls {
  constructor(
    readonly gate: QueryGate,
    readonly now: () => number = Date.now,
    readonly bounds: SearchBounds = SEARCH_BOUNDS,
  ) {}

  async list(actor: Actor, query: CallsQuery, page: Page): Promise<CallsReply> {
    if (page.offset > OFFSET_MAX) throw new InvalidInput(`offset must be at most ${OFFSET_MAX}: give an endTime`);
    const range = timeRange(query.startTime, query.endTime);
    const filter = filterOf(actor, query);
    const { orgId, projectId, agentId } = filter;
    const scope = { orgId, projectId, agentIds: agentId === null ? null : [agentId] };
    return askInScope(this.gate, scope, async (tx) => {
      // Which plan is right for a search depends on how rare it is: never one plan for all. Others save the planning.
      const plans = filter.search === null ? 'auto' : 'force_custom_plan';
      await tx`select set_config('statement_timeout', ${String(PIECE_TIMEOUT_MS)}, true),
        set_config('plan_cache_mode', ${plans}, true)`;
      const { places, counted, complete, searchedFrom } = await searchCalls(
        tx,
        filter,
        range,
        page,
        this.now(),
        this.bounds,
      );
      return {
        logs: await loadCalls(tx, orgId, places),
        total: Math.min(counted, TOTAL_MAX),
        totalCapped: !complete || counted > TOTAL_MAX,
        searchedFrom: searchedFrom?.toISOString() ?? null,
        ...page,
      };
    });
  }

  async get({ orgId, token }: Actor, id: string): Promise<Call> {
    return this.gate.ask(orgId, async (tx) => {
      const place = await findCall(tx, orgId, id, startOf(id));
      const [call] = place === null ? [] : await loadCalls(tx, orgId, [place]);
      const ofProject = token?.projectId ?? null;
      if (call === undefined || (ofProject !== null && call.projectId !== ofProject)) throw new NotFound('call');
      return call;
    });
  }
}

/** Data planes give a call its id when it begins, and an id carries its time. */
const startOf = (id: string): number => atMost(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

function filterOf({ orgId, token }: Actor, query: CallsQuery): CallFilter {
  const { agentId = null, keyId = null, provider = null, model = null, minCost, search = '' } = query;
  const statuses = query.status?.split(',') ?? [];
  return {
    orgId,
    agentId,
    projectId: query.projectId ?? token?.projectId ?? null,
    keyId,
    provider: provider === null ? null : storable(provider),
    model: model === null ? null : storable(model),
    statuses: statuses.filter((status) => !status.endsWith('xx')).map(Number),
    statusClasses: statuses.filter((status) => status.endsWith('xx')).map((status) => Number(status[0])),
    minCostNanos: minCost === undefined ? null : Math.round(minCost * NANOS_PER_CENT),
    search: search === '' ? null : storable(search),
  };
}

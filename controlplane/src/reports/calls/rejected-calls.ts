/** The newest rejected calls of an organization, a project or an agent (docs/contract.md#usage). */
import { InvalidInput } from '../../domain/errors.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import type { Actor } from '../../http/route-access.js';
import { runInScope } from '../aggregates/scope-reports.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { parseTimeRange } from '../query/time-range.js';
import { OFFSET_MAX, replaceNul } from './agent-logs.js';
import type { RejectedCallsQuery, RejectedCallsReply } from './rejected-call-schema.js';
import { countRejectedCalls, selectRejectedCalls } from './rejected-call-store.js';

export class RejectedCalls {
  constructor(readonly queryLimiter: QueryConcurrencyLimiter) {}

  async list({ orgId, token }: Actor, query: RejectedCallsQuery, page: Page): Promise<RejectedCallsReply> {
    if (page.offset > OFFSET_MAX)
      throw new InvalidInput(`offset must be at most ${OFFSET_MAX}. Set endTime to read older calls.`);
    const { agentId = null, keyId = null, reason } = query;
    const filter = {
      orgId,
      agentId,
      keyId,
      projectId: query.projectId ?? token?.projectId ?? null,
      reason: reason === undefined ? null : replaceNul(reason),
      range: parseTimeRange(query.startTime, query.endTime),
    };
    const scope = { orgId, projectId: filter.projectId, agentIds: agentId === null ? null : [agentId] };
    return runInScope(this.queryLimiter, scope, async (tx) => ({
      calls: await selectRejectedCalls(tx, filter, page),
      total: await countRejectedCalls(tx, filter),
      ...page,
    }));
  }
}

/** Log records of one agent in filtered pages (docs/contract.md#usage). */
import { InvalidInput } from '../../domain/errors.js';
import type { Page } from '../../http/limit-offset-pagination.js';
import type { LogsQuery } from '../aggregates/schema.js';
import type { LogRecord } from '../log-record/log-schema.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { resolveDayRange } from '../query/time-range.js';
import { type AgentLogFilter, selectAgentLogPage } from './agent-log-store.js';

const TOTAL_MAX = 10_000;
/** Limit, because a page reads all rows before it. */
export const OFFSET_MAX = 100_000;
const QUERY_TIMEOUT_MS = 5_000;

interface LogPage {
  readonly logs: LogRecord[];
  /** Counted up to 10,000. */
  readonly total: number;
  readonly totalCapped: boolean;
}

export class AgentLogs {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
  ) {}

  /** The caller must have checked that the agent belongs to the actor's organization. */
  async list(orgId: string, agentId: string, query: LogsQuery, page: Page): Promise<LogPage> {
    if (page.offset > OFFSET_MAX) {
      throw new InvalidInput(`offset must be at most ${OFFSET_MAX}. Narrow the range with start and end.`);
    }
    const filter = parseFilter(orgId, agentId, query, this.now());
    const { logs, counted } = await this.queryLimiter.runInSnapshot(orgId, async (tx) => {
      // The right plan of a search depends on how rare the term is, so a search is planned each time. Other queries
      // reuse a generic plan.
      const planCacheMode = filter.search === null ? 'auto' : 'force_custom_plan';
      await tx`select set_config('statement_timeout', ${String(QUERY_TIMEOUT_MS)}, true),
        set_config('plan_cache_mode', ${planCacheMode}, true)`;
      return selectAgentLogPage(tx, filter, page, TOTAL_MAX + 1);
    });
    return { logs, total: Math.min(counted, TOTAL_MAX), totalCapped: counted > TOTAL_MAX };
  }
}

function parseFilter(orgId: string, agentId: string, query: LogsQuery, nowMs: number): AgentLogFilter {
  const { provider = null, statusMin = null, statusMax = null, search = '' } = query;
  if (statusMin !== null && statusMax !== null && statusMin > statusMax) {
    throw new InvalidInput('statusMin must not be greater than statusMax');
  }
  const storableSearch = search === '' ? null : replaceNul(search);
  return {
    orgId,
    agentId,
    range: resolveDayRange(query.start, query.end, nowMs),
    provider,
    statusMin,
    statusMax,
    search: storableSearch,
  };
}

/** Replaces NUL, which Postgres does not accept and no stored text contains. */
export const replaceNul = (text: string): string => text.replaceAll('\0', '\ufffd');

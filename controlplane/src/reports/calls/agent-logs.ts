/** Log records of an agent in filtered pages (docs/contract.md#usage). */
import { InvalidInput } from '../../domain/errors.js';
import type { Page } from '../../http/pagination.js';
import type { LogsQuery } from '../aggregates/schema.js';
import type { LogRecord } from '../log-record/log-schema.js';
import type { QueryConcurrencyLimiter } from '../query/query-concurrency-limiter.js';
import { resolveDayRange } from '../query/time-range.js';
import { type AgentLogFilter, selectAgentLogPage } from './agent-log-store.js';

const TOTAL_MAX = 10_000;
/** A page reads all rows before it. */
export const OFFSET_MAX = 100_000;
const QUERY_TIMEOUT_MS = 5_000;

interface LogPage {
  readonly logs: LogRecord[];
  /** Counted up to 10 000. */
  readonly total: number;
  readonly totalCapped: boolean;
}

export class AgentLogs {
  constructor(
    readonly gate: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
  ) {}

  /** The caller has checked that the agent is the actor's. */
  async list(orgId: string, agentId: string, query: LogsQuery, page: Page): Promise<LogPage> {
    if (page.offset > OFFSET_MAX) {
      throw new InvalidInput(`offset must be at most ${OFFSET_MAX}: narrow start and end`);
    }
    const filter = parseFilter(orgId, agentId, query, this.now());
    const { logs, counted } = await this.gate.runInSnapshot(orgId, async (tx) => {
      // Which plan is right depends on how rare the search is: never one plan for all. Others save the planning.
      const plans = filter.search === null ? 'auto' : 'force_custom_plan';
      await tx`select set_config('statement_timeout', ${String(QUERY_TIMEOUT_MS)}, true),
        set_config('plan_cache_mode', ${plans}, true)`;
      return selectAgentLogPage(tx, filter, page, TOTAL_MAX + 1);
    });
    return { logs, total: Math.min(counted, TOTAL_MAX), totalCapped: counted > TOTAL_MAX };
  }
}

function parseFilter(orgId: string, agentId: string, query: LogsQuery, nowMs: number): AgentLogFilter {
  const { provider = null, statusMin = null, statusMax = null, search = '' } = query;
  if (statusMin !== null && statusMax !== null && statusMin > statusMax) {
    throw new InvalidInput('statusMin must not be above statusMax');
  }
  const wanted = search === '' ? null : replaceNul(search);
  return {
    orgId,
    agentId,
    range: resolveDayRange(query.start, query.end, nowMs),
    provider,
    statusMin,
    statusMax,
    search: wanted,
  };
}

/** No stored text holds a NUL, and Postgres takes none. */
export const replaceNul = (text: string): string => text.replaceAll('\0', '\ufffd');

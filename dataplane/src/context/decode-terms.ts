/** Limits and month spend off the wire. A limit that is missing there has its default, never none. */
import { NANOS_PER_CENT } from '@acg/base/units';
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import type { AgentTerms } from '../counters/agent-terms.js';
import { parseMonth } from '../counters/calendar-month.js';
import { LIMIT_TABLE, type LimitRow, UNLIMITED } from '../counters/limit-table.js';

/** The fields of control planes that do not send `limits` yet; gone with the next release. */
const OLD_FIELDS: Readonly<Record<string, (message: IAgentContext) => number | null | undefined>> = {
  'rpm agent_provider': ({ rpmLimit }) => rpmLimit,
  'rpd agent_provider': ({ rpdLimit }) => rpdLimit,
  'budget agent': ({ budgetCents }) => budgetCents,
};

export function decodeTerms(message: IAgentContext, agentId: string): AgentTerms {
  return Object.freeze({
    agentId,
    limits: Object.freeze(LIMIT_TABLE.map((row) => limitOf(message, row))),
    month: parseMonth(message.spendMonth ?? ''),
    spentNanos: message.spendNanos ?? 0,
  });
}

function limitOf(message: IAgentContext, row: LimitRow): number {
  const sent = (message.limits ?? []).find((limit) => isOf(row, limit));
  const value =
    usable(row, sent ? (sent.value ?? 0) : OLD_FIELDS[`${row.type} ${row.scope}`]?.(message)) ?? row.default;
  if (value === null) return UNLIMITED;
  return row.unit === 'cents' ? value * NANOS_PER_CENT : value;
}

/** All four parts must agree: a limit of another window or unit than this data plane counts is not this limit. */
const isOf = (row: LimitRow, limit: ILimit): boolean =>
  limit.type === row.type && limit.scope === row.scope && limit.window === row.window && limit.unit === row.unit;

/** Only a sum of money may be limited to nothing; elsewhere 0 is a field that was not set. */
const usable = (row: LimitRow, value: number | null | undefined): number | null =>
  typeof value === 'number' && (value > 0 || (row.unit === 'cents' && value === 0)) ? value : null;

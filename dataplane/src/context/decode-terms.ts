/** Limits and month spend off the wire. A limit that is missing there has its default, never none. */
import { NANOS_PER_CENT } from '@acg/base/units';
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import { type AgentTerms, agentTerms, DEFAULT_HOLD_OUTPUT_TOKENS } from '../counters/agent-terms.js';
import { parseMonth } from '../counters/calendar-month.js';
import { BUDGET_ROW, LIMIT_TABLE, type LimitRow, MONEY_ROWS, UNLIMITED } from '../counters/limit-table.js';
import { scopeTag } from '../counters/scope-tag.js';

/** The fields of control planes that do not send `limits` yet; gone with the next release. */
const OLD_FIELDS: Readonly<Record<string, (message: IAgentContext) => number | null | undefined>> = {
  'rpm agent_provider': ({ rpmLimit }) => rpmLimit,
  'rpd agent_provider': ({ rpdLimit }) => rpdLimit,
  'budget agent': ({ budgetCents }) => budgetCents,
};

export function decodeTerms(message: IAgentContext, agentId: string): AgentTerms {
  const limits = Object.freeze(LIMIT_TABLE.map((row) => limitOf(message, row)));
  const budgeted = MONEY_ROWS.filter((row) => row === BUDGET_ROW || limits[row] !== UNLIMITED);
  return agentTerms({
    agentId,
    limits,
    month: parseMonth(message.spendMonth ?? ''),
    spends: budgeted.map((row) => spendOf(message, agentId, row)),
    unbudgeted: MONEY_ROWS.filter((row) => !budgeted.includes(row)).flatMap((row) => tagOf(message, row) ?? []),
    hardBudget: message.hardBudget ?? false,
    holdMaxOutputTokens: message.holdMaxOutputTokens || DEFAULT_HOLD_OUTPUT_TOKENS,
    refuseUnchecked: message.refuseUnchecked ?? false,
  });
}

function spendOf(message: IAgentContext, agentId: string, row: number) {
  const { scope } = LIMIT_TABLE[row]!;
  if (scope === 'agent') {
    return { row, tag: agentId, ledgerNanos: message.spendNanos ?? 0, ledgerOwnNanos: message.ledgerNanos ?? 0 };
  }
  const sent = (message.scopes ?? []).find((one) => one.scope === scope);
  const tag = tagOf(message, row) ?? scopeTag(scope, '');
  return { row, tag, ledgerNanos: sent?.spentNanos ?? 0, ledgerOwnNanos: sent?.ledgerNanos ?? 0 };
}

/** Of a project or an organization; null: the context does not name it. */
function tagOf(message: IAgentContext, row: number): string | null {
  const { scope } = LIMIT_TABLE[row]!;
  const id = scope === 'project' ? message.projectId : message.orgId;
  return id ? scopeTag(scope, id) : null;
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

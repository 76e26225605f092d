/**
 * Decodes limits and the month's spend from the wire. A missing limit has its default; it is never unlimited by
 * omission.
 */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '../limits/agent-limits.js';
import { parseMonth } from '../limits/calendar-month.js';
import { BUDGET_ROW, BUDGET_ROWS, LIMIT_TABLE, type LimitRow, scopeHashTag, UNLIMITED } from '../limits/limit-table.js';

/** Fields of control planes that do not send `limits` yet; to be removed with the next release. */
const LEGACY_FIELDS: Readonly<Record<string, (message: IAgentContext) => number | null | undefined>> = {
  'rpm agent_provider': ({ rpmLimit }) => rpmLimit,
  'rpd agent_provider': ({ rpdLimit }) => rpdLimit,
  'budget agent': ({ budgetCents }) => budgetCents,
};

export function decodeLimits(message: IAgentContext, agentId: string): AgentLimits {
  const limits = Object.freeze(LIMIT_TABLE.map((row) => decodeLimit(message, row)));
  const budgeted = BUDGET_ROWS.filter((row) => row === BUDGET_ROW || limits[row] !== UNLIMITED);
  return createAgentLimits({
    agentId,
    byRow: limits,
    month: parseMonth(message.spendMonth ?? ''),
    scopes: budgeted.map((row) => decodeSpend(message, agentId, row)),
    unbudgetedTags: BUDGET_ROWS.filter((row) => !budgeted.includes(row)).flatMap(
      (row) => decodeScopeTag(message, row) ?? [],
    ),
    hardBudget: message.hardBudget ?? false,
    defaultMaxOutputTokens: message.holdMaxOutputTokens || DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: message.refuseUnchecked ?? false,
  });
}

function decodeSpend(message: IAgentContext, agentId: string, row: number) {
  const { scope } = LIMIT_TABLE[row]!;
  if (scope === 'agent') {
    return { row, tag: agentId, ledgerNanos: message.spendNanos ?? 0, ledgerOnlyNanos: message.ledgerNanos ?? 0 };
  }
  const sent = (message.scopes ?? []).find((one) => one.scope === scope);
  const tag = decodeScopeTag(message, row) ?? scopeHashTag(scope, '');
  return { row, tag, ledgerNanos: sent?.spentNanos ?? 0, ledgerOnlyNanos: sent?.ledgerNanos ?? 0 };
}

/** Hash tag of the project or organization; null: the context does not name it. */
function decodeScopeTag(message: IAgentContext, row: number): string | null {
  const { scope } = LIMIT_TABLE[row]!;
  const id = scope === 'project' ? message.projectId : message.orgId;
  return id ? scopeHashTag(scope, id) : null;
}

function decodeLimit(message: IAgentContext, row: LimitRow): number {
  const sent = (message.limits ?? []).find((limit) => matchesRow(row, limit));
  const value =
    validValueOrNull(row, sent ? (sent.value ?? 0) : LEGACY_FIELDS[`${row.type} ${row.scope}`]?.(message)) ??
    row.default;
  if (value === null) return UNLIMITED;
  return row.unit === 'cents' ? value * NANOS_PER_CENT : value;
}

/** All four fields must agree: a limit of another window or unit than this data plane counts is another limit. */
const matchesRow = (row: LimitRow, limit: ILimit): boolean =>
  limit.type === row.type && limit.scope === row.scope && limit.window === row.window && limit.unit === row.unit;

/** Only a budget may be 0; for other limits 0 means that the field was not set. */
const validValueOrNull = (row: LimitRow, value: number | null | undefined): number | null =>
  typeof value === 'number' && (value > 0 || (row.unit === 'cents' && value === 0)) ? value : null;

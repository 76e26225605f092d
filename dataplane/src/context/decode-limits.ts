/**
 * Decodes limits and the month's spend from the wire. A missing limit has its default; it is never unlimited by
 * omission.
 */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '../limits/agent-limits.js';
import { parseMonth } from '../limits/calendar-window.js';
import { BUDGET_ROWS, LIMIT_TABLE, type LimitRow, scopeTag, UNLIMITED } from '../limits/limit-table.js';

/** Fields of control planes that do not send `limits` yet; to be removed with the next release. */
const LEGACY_FIELDS: Readonly<Record<string, (message: IAgentContext) => number | null | undefined>> = {
  'rpm agent_provider': ({ rpmLimit }) => rpmLimit,
  'rpd agent_provider': ({ rpdLimit }) => rpdLimit,
  'budget agent': ({ budgetCents }) => budgetCents,
};

export function decodeLimits(message: IAgentContext, agentId: string): AgentLimits {
  const limits = Object.freeze(LIMIT_TABLE.map((row) => decodeLimit(message, row)));
  return createAgentLimits({
    orgId: message.orgId ?? '',
    agentId,
    byRow: limits,
    ledgerWindow: parseMonth(message.spendMonth ?? ''),
    scopes: BUDGET_ROWS.flatMap((row) => decodeScope(message, agentId, row, limits[row] !== UNLIMITED) ?? []),
    hardBudget: message.hardBudget ?? false,
    defaultMaxOutputTokens: message.holdMaxOutputTokens || DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: message.refuseUnchecked ?? false,
  });
}

/** Null: the context names no such project or organization, and it has no budget. */
function decodeScope(message: IAgentContext, agentId: string, row: number, isBudgeted: boolean) {
  const { scope } = LIMIT_TABLE[row]!;
  if (scope === 'agent') {
    const tag = scopeTag(scope, agentId);
    return { row, tag, ledgerNanos: message.spendNanos ?? 0, ledgerOnlyNanos: message.ledgerNanos ?? 0 };
  }
  const id = scope === 'project' ? message.projectId : message.orgId;
  if (!id && !isBudgeted) return null;
  const sent = (message.scopes ?? []).find((one) => one.scope === scope);
  const tag = scopeTag(scope, id ?? '');
  return { row, tag, ledgerNanos: sent?.spentNanos ?? 0, ledgerOnlyNanos: sent?.ledgerNanos ?? 0 };
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

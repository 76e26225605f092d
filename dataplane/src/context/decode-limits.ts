/**
 * Decodes limits, budget rows and their spend from the wire. A missing limit has its default; it is never unlimited by
 * omission.
 */
import { BUDGET_ROW_MODES, BUDGET_WINDOWS } from '@acg/base/budget-rows';
import { type Cell, NO_CELL } from '@acg/base/cells';
import { DAY_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { IAgentContext, IBudget, ILimit } from '@acg/proto/messages';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '../limits/agent-limits.js';
import { BudgetRow, type LedgerSpend } from '../limits/budget-row.js';
import {
  createRunWindow,
  parseCalendarWindow,
  parseMonth,
  RUN_KEPT_AFTER_END_SEC,
  RUN_WINDOW_NAME,
} from '../limits/calendar-window.js';
import { AGENT_PROVIDER_ROWS, BUDGET_ROWS, LIMIT_TABLE, type LimitRow, UNLIMITED } from '../limits/limit-table.js';
import { createCellBudgets } from './cell-budgets.js';

/** Fields of control planes that do not send `limits` yet; to be removed with the next release. */
const LEGACY_FIELDS: Readonly<Record<string, (message: IAgentContext) => number | null | undefined>> = {
  'rpm agent_provider': ({ rpmLimit }) => rpmLimit,
  'rpd agent_provider': ({ rpdLimit }) => rpdLimit,
  'budget agent': ({ budgetCents }) => budgetCents,
};

const SCOPES = ['agent', 'project', 'org', 'run'] as const;
/** For a run without an end: the longest time that a run may take, and a day. */
const RUN_KEPT_SEC = (31 * DAY_MS) / 1000;

export function decodeLimits(message: IAgentContext, agentId: string, cell: Cell = NO_CELL): AgentLimits {
  const limits = Object.freeze(LIMIT_TABLE.map((row) => decodeLimit(message, row)));
  const audited = message.auditedLimits ?? [];
  const budgets = [
    ...BUDGET_ROWS.flatMap((row) => decodePlainBudget(message, agentId, row, limits[row]!, audited) ?? []),
    ...(message.budgets ?? []).flatMap((budget) => decodeBudget(budget) ?? []),
  ];
  return createAgentLimits({
    orgId: message.orgId ?? '',
    agentId,
    byRow: limits,
    auditedRows: AGENT_PROVIDER_ROWS.filter((row) => audited.includes(LIMIT_TABLE[row]!.type)),
    // A call that both reject names the budget of all cells, which comes first.
    budgets: [...budgets, ...createCellBudgets(budgets, message.cellSpend ?? [], cell)],
    defaultMaxOutputTokens: message.holdMaxOutputTokens || DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: message.refuseUnchecked ?? false,
  });
}

/** Null: the context names no such project or organization, and it has no budget. */
function decodePlainBudget(
  message: IAgentContext,
  agentId: string,
  tableRow: number,
  limitNanos: number,
  audited: readonly string[],
): BudgetRow | null {
  const { scope } = LIMIT_TABLE[tableRow]! as LimitRow & { readonly scope: 'agent' | 'project' | 'org' };
  const scopeId = { agent: agentId, project: message.projectId, org: message.orgId }[scope];
  if (!scopeId && limitNanos === UNLIMITED) return null;
  const sent =
    scope === 'agent'
      ? { spentNanos: message.spendNanos, ledgerNanos: message.ledgerNanos }
      : (message.scopes ?? []).find((one) => one.scope === scope);
  const window = parseMonth(message.spendMonth ?? '');
  const isAudited = audited.includes(scope === 'agent' ? 'budget' : `${scope}_budget`);
  return new BudgetRow({
    id: '',
    scope,
    scopeId: scopeId ?? '',
    tableRow,
    window: 'month',
    limitNanos,
    mode: isAudited ? 'audit' : message.hardBudget ? 'hard' : 'soft',
    models: [],
    tag: '',
    ledger: window === null ? [] : [{ window, nanos: sent?.spentNanos ?? 0, ledgerOnlyNanos: sent?.ledgerNanos ?? 0 }],
    closedNanos: 0,
    keptUntilSec: 0,
  });
}

/** Null: the control plane is of a later release, and this data plane does not know the row's kind. */
function decodeBudget(message: IBudget): BudgetRow | null {
  const { id, scopeId } = message;
  const scope = SCOPES.find((one) => one === message.scope);
  const budgetWindow = BUDGET_WINDOWS.find((one) => one === message.window);
  const mode = BUDGET_ROW_MODES.find((one) => one === message.mode);
  if (!id || !scopeId || scope === undefined || budgetWindow === undefined || mode === undefined) return null;
  const keptUntilSec = message.endsAtMs
    ? Math.ceil(message.endsAtMs / 1000) + RUN_KEPT_AFTER_END_SEC
    : Math.ceil(Date.now() / 1000) + RUN_KEPT_SEC;
  return new BudgetRow({
    id,
    scope,
    scopeId,
    tableRow: -1,
    window: budgetWindow,
    limitNanos: (message.cents ?? 0) * NANOS_PER_CENT,
    mode,
    models: message.models ?? [],
    tag: message.tag ?? '',
    ledger: (message.spend ?? []).flatMap(({ window, spentNanos, ledgerNanos }): LedgerSpend[] => {
      const parsed = window === RUN_WINDOW_NAME ? createRunWindow(keptUntilSec) : parseCalendarWindow(window ?? '');
      return parsed === null ? [] : [{ window: parsed, nanos: spentNanos ?? 0, ledgerOnlyNanos: ledgerNanos ?? 0 }];
    }),
    closedNanos: message.closedNanos ?? 0,
    keptUntilSec,
  });
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

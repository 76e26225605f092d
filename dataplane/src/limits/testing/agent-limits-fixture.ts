/** Agent limits for tests: limits by name, defaults for everything else. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '@acg/dataplane/limits/agent-limits';
import { BudgetRow, type BudgetRowInput } from '@acg/dataplane/limits/budget-row';
import { parseMonth } from '@acg/dataplane/limits/calendar-window';
import {
  findLimitRow,
  LIMIT_TABLE,
  type LimitScope,
  type LimitType,
  UNLIMITED,
} from '@acg/dataplane/limits/limit-table';

type Rates = { readonly [field in RateLimit['field']]?: number };

export interface TestLimitsOptions extends Rates {
  readonly orgId?: string;
  readonly agentId?: string;
  readonly budgetNanos?: number | null;
  readonly budgetCents?: number | null;
  readonly projectBudgetNanos?: number;
  readonly orgBudgetNanos?: number;
  /** Counts spend of the project and the organization without a budget, as the context decoder does. */
  readonly countsScopes?: boolean;
  readonly hardBudget?: boolean;
  readonly defaultMaxOutputTokens?: number;
  readonly rejectsUnchecked?: boolean;
  readonly spendFloorNanos?: number;
  readonly spendLedgerOnlyNanos?: number;
  /** `YYYY-MM` */
  readonly spendFloorMonth?: string;
  /** Rows besides the plain monthly ones. */
  readonly budgets?: readonly BudgetRow[];
  /** Names of limits in audit mode: rpm, rpd, tpm; `budget`, `project_budget`, `org_budget`: the plain monthly ones. */
  readonly audited?: readonly string[];
}

export const createTestBudget = (input: Partial<BudgetRowInput> & Pick<BudgetRowInput, 'id'>): BudgetRow =>
  new BudgetRow({
    scope: 'agent',
    scopeId: 'agent-1',
    tableRow: -1,
    window: 'day',
    limitNanos: UNLIMITED,
    mode: 'soft',
    models: [],
    tag: '',
    ledger: [],
    closedNanos: 0,
    keptUntilSec: 0,
    ...input,
  });

/** The project and the organization of every test agent. */
const PROJECT_ID = 'project-1';
const ORG_ID = 'org-1';

export function createTestLimits(options: TestLimitsOptions = {}): AgentLimits {
  const byRow = LIMIT_TABLE.map((row) => row.default ?? UNLIMITED);
  const setLimit = (type: LimitType, scope: LimitScope, value: number | null | undefined): void => {
    if (value !== null && value !== undefined) byRow[findLimitRow(type, scope)] = value;
  };
  const cents = options.budgetCents ?? null;
  for (const { type, scope, field } of RATE_LIMITS) setLimit(type, scope, options[field]);
  setLimit('budget', 'agent', options.budgetNanos ?? (cents === null ? null : cents * NANOS_PER_CENT));
  setLimit('budget', 'project', options.projectBudgetNanos);
  setLimit('budget', 'org', options.orgBudgetNanos);
  const agentId = options.agentId ?? '00000000-0000-7000-8000-000000000001';
  const month = parseMonth(options.spendFloorMonth ?? '');
  const createPlainBudget = (scope: 'agent' | 'project' | 'org', scopeId: string, nanos = 0, ledgerOnlyNanos = 0) => {
    const tableRow = findLimitRow('budget', scope);
    const isAudited = options.audited?.includes(scope === 'agent' ? 'budget' : `${scope}_budget`) ?? false;
    return createTestBudget({
      id: '',
      scope,
      scopeId,
      tableRow,
      window: 'month',
      limitNanos: byRow[tableRow]!,
      mode: isAudited ? 'audit' : options.hardBudget ? 'hard' : 'soft',
      ledger: month === null ? [] : [{ window: month, nanos, ledgerOnlyNanos }],
    });
  };
  const countsProject = options.countsScopes || options.projectBudgetNanos !== undefined;
  const countsOrg = options.countsScopes || options.orgBudgetNanos !== undefined;
  return createAgentLimits({
    orgId: options.orgId ?? 'org-1',
    agentId,
    byRow,
    auditedRows: LIMIT_TABLE.flatMap((row, at) =>
      row.scope === 'agent_provider' && options.audited?.includes(row.type) ? [at] : [],
    ),
    budgets: [
      createPlainBudget('agent', agentId, options.spendFloorNanos, options.spendLedgerOnlyNanos),
      ...(countsProject ? [createPlainBudget('project', PROJECT_ID)] : []),
      ...(countsOrg ? [createPlainBudget('org', ORG_ID)] : []),
      ...(options.budgets ?? []),
    ],
    defaultMaxOutputTokens: options.defaultMaxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: options.rejectsUnchecked ?? false,
  });
}

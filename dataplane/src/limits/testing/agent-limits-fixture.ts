/** Agent limits for tests: limits by name, defaults for everything else. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '@acg/dataplane/limits/agent-limits';
import { parseMonth } from '@acg/dataplane/limits/calendar-window';
import {
  findLimitRow,
  LIMIT_TABLE,
  type LimitScope,
  type LimitType,
  scopeTag,
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
}

/** The project and the organization of every test agent. */
const PROJECT_TAG = scopeTag('project', 'project-1');
const ORG_TAG = scopeTag('org', 'org-1');

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
  const agent = {
    row: findLimitRow('budget', 'agent'),
    tag: scopeTag('agent', agentId),
    ledgerNanos: options.spendFloorNanos ?? 0,
    ledgerOnlyNanos: options.spendLedgerOnlyNanos ?? 0,
  };
  const createScopeSpend = (scope: LimitScope, tag: string) => ({
    row: findLimitRow('budget', scope),
    tag,
    ledgerNanos: 0,
    ledgerOnlyNanos: 0,
  });
  return createAgentLimits({
    orgId: options.orgId ?? 'org-1',
    agentId,
    byRow,
    ledgerWindow: parseMonth(options.spendFloorMonth ?? ''),
    scopes: [
      agent,
      ...(options.countsScopes || options.projectBudgetNanos !== undefined
        ? [createScopeSpend('project', PROJECT_TAG)]
        : []),
      ...(options.countsScopes || options.orgBudgetNanos !== undefined ? [createScopeSpend('org', ORG_TAG)] : []),
    ],
    hardBudget: options.hardBudget ?? false,
    defaultMaxOutputTokens: options.defaultMaxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: options.rejectsUnchecked ?? false,
  });
}

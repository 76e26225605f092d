/** Terms of an agent for tests: limits by their names, everything else as it is without them. */
import { RATE_LIMITS, type RateLimit } from '@acg/base/limits';
import { NANOS_PER_CENT } from '@acg/base/units';
import { type AgentLimits, createAgentLimits, DEFAULT_MAX_OUTPUT_TOKENS } from '../agent-limits.js';
import { parseMonth } from '../calendar-month.js';
import { findLimitRow, LIMIT_TABLE, type LimitScope, type LimitType, UNLIMITED } from '../limit-table.js';

type Rates = { readonly [field in RateLimit['field']]?: number };

export interface TestLimitsOptions extends Rates {
  readonly agentId?: string;
  readonly budgetNanos?: number | null;
  readonly budgetCents?: number | null;
  readonly projectBudgetNanos?: number;
  readonly orgBudgetNanos?: number;
  /** Spend of the project and the organization is counted without a budget, too, as the decoder has it. */
  readonly countsScopes?: boolean;
  readonly hardBudget?: boolean;
  readonly defaultMaxOutputTokens?: number;
  readonly rejectsUnchecked?: boolean;
  readonly spendFloorNanos?: number;
  readonly spendLedgerOwnNanos?: number;
  /** `YYYY-MM` */
  readonly spendFloorMonth?: string;
}

/** Tags of the project and the organization of every agent of tests. */
const PROJECT_TAG = 'p:project-1';
const ORG_TAG = 'o:org-1';

export function createTestLimits(given: TestLimitsOptions = {}): AgentLimits {
  const limits = LIMIT_TABLE.map((row) => row.default ?? UNLIMITED);
  const set = (type: LimitType, scope: LimitScope, value: number | null | undefined): void => {
    if (value !== null && value !== undefined) limits[findLimitRow(type, scope)] = value;
  };
  const cents = given.budgetCents ?? null;
  for (const { type, scope, field } of RATE_LIMITS) set(type, scope, given[field]);
  set('budget', 'agent', given.budgetNanos ?? (cents === null ? null : cents * NANOS_PER_CENT));
  set('budget', 'project', given.projectBudgetNanos);
  set('budget', 'org', given.orgBudgetNanos);
  const agentId = given.agentId ?? '00000000-0000-7000-8000-000000000001';
  const agent = {
    row: findLimitRow('budget', 'agent'),
    tag: agentId,
    ledgerNanos: given.spendFloorNanos ?? 0,
    ledgerOwnNanos: given.spendLedgerOwnNanos ?? 0,
  };
  const other = (scope: LimitScope, tag: string) => ({
    row: findLimitRow('budget', scope),
    tag,
    ledgerNanos: 0,
    ledgerOwnNanos: 0,
  });
  return createAgentLimits({
    agentId,
    byRow: limits,
    month: parseMonth(given.spendFloorMonth ?? '1970-01'),
    scopes: [
      agent,
      ...(given.projectBudgetNanos === undefined ? [] : [other('project', PROJECT_TAG)]),
      ...(given.orgBudgetNanos === undefined ? [] : [other('org', ORG_TAG)]),
    ],
    unbudgetedTags: given.countsScopes
      ? [
          ...(given.projectBudgetNanos === undefined ? [PROJECT_TAG] : []),
          ...(given.orgBudgetNanos === undefined ? [ORG_TAG] : []),
        ]
      : [],
    hardBudget: given.hardBudget ?? false,
    defaultMaxOutputTokens: given.defaultMaxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    rejectsUnchecked: given.rejectsUnchecked ?? false,
  });
}

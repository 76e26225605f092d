import { type Static, type TInteger, type TUnsafe, Type } from 'typebox';
import { AuditLimitsField } from '../budgets/audit-limits.js';
import { BudgetRows, BudgetRowsInput } from '../budgets/schema.js';
import { EXAMPLE_IDS } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';
import { SearchQuery, SortQuery } from '../http/search-and-sort-query-schema.js';
import {
  type DefaultedLimitName,
  type LimitName,
  mapLimits,
  pickLimitsShownInLists,
} from '../limits/agent-limit-fields.js';
import { EnforcementFields, OnStoreLossInput } from './budget-mode-and-store-loss-fields.js';
import { AgentPolicyField } from './call-and-model-policy-schema.js';

const AGENT_STATUSES = ['active', 'paused', 'revoked'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];
const Status = Type.Unsafe<AgentStatus>({ type: 'string', enum: AGENT_STATUSES });

/** An integer within its bounds, or null for the default. */
const limitInputs = mapLimits(({ minimum, maximum, description }) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum, maximum, description })),
);
const limitFields = mapLimits(({ default: fallback }) =>
  fallback === null ? Type.Unsafe<number | null>({ type: ['integer', 'null'] }) : Type.Integer(),
) as { [name in LimitName]: name extends DefaultedLimitName ? TInteger : TUnsafe<number | null> };
const Description = Type.String({ maxLength: 2_000, pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$' });
const UsageThresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  maxItems: 10,
  uniqueItems: true,
  description: 'Percentages of the budget at which the event usage.threshold is sent, at most once a month each.',
});

const enforcementInputs = {
  budgetMode: Type.Optional(EnforcementFields.budgetMode),
  holdMaxOutputTokens: Type.Optional(EnforcementFields.holdMaxOutputTokens),
  onStoreLoss: Type.Optional(OnStoreLossInput),
  budgets: Type.Optional(BudgetRowsInput),
  auditLimits: Type.Optional(AuditLimitsField),
};

const summaryFields = {
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Status,
  ...pickLimitsShownInLists(limitFields),
};

const OwnerUserId = Type.Optional(
  Type.Unsafe<string>({
    type: 'string',
    format: 'uuid',
    description: 'The member whose personal agent this is; absent: an agent of the organization.',
  }),
);

/** An agent in lists. */
const AgentSummary = Type.Object({ ...summaryFields, ownerUserId: OwnerUserId, createdAt: Timestamp });
/** An agent in the response to its creation. */
const AgentCreated = Type.Object({ ...summaryFields, projectId: Uuid });
export const Agent = Type.Object({
  ...summaryFields,
  ...limitFields,
  projectId: Uuid,
  ownerUserId: OwnerUserId,
  description: Type.String(),
  usageThresholds: Type.Array(Type.Integer()),
  policy: AgentPolicyField,
  ...EnforcementFields,
  budgets: BudgetRows,
  auditLimits: AuditLimitsField,
  createdAt: Timestamp,
});
export type Agent = Static<typeof Agent>;

export const AgentInput = Body({
  projectId: Uuid,
  name: Name,
  description: Type.Optional(Description),
  ...limitInputs,
  ...enforcementInputs,
  usageThresholds: Type.Optional(UsageThresholds),
  policy: Type.Optional(AgentPolicyField),
});
export type AgentInput = Static<typeof AgentInput>;

export const AgentPatch = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    ...limitInputs,
    ...enforcementInputs,
    usageThresholds: Type.Optional(UsageThresholds),
    policy: Type.Optional(AgentPolicyField),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type AgentPatch = Static<typeof AgentPatch>;

export const AgentStatusInput = Body({ status: Status });
export const AgentQuery = Type.Object({
  ...PageQuery,
  projectId: Uuid,
  ...SearchQuery('the name or the slug'),
  status: Type.Optional(Status),
  ...SortQuery(['createdAt', 'name']),
});
export type AgentQuery = Static<typeof AgentQuery>;
export const AgentReply = Type.Object({ agent: Agent });
export const AgentCreatedReply = Type.Object({ agent: AgentCreated });
export const AgentList = Type.Object({ agents: Type.Array(AgentSummary), ...PageReply });

/** For the API document. */
export const EXAMPLES = {
  'Agent.id': EXAMPLE_IDS.agent,
  'agent.id': EXAMPLE_IDS.agent,
  'agents.id': EXAMPLE_IDS.agent,
  ownerUserId: EXAMPLE_IDS.user,
  description: 'Answers tickets of the first level.',
  holdMaxOutputTokens: 4_096,
  policy: { openai: { calls: ['POST /v1/chat/completions'], models: { allow: ['gpt-5-mini'] } } },
  'AgentStatusInput.status': 'paused',
};

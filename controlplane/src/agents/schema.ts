import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { Body, Name, Timestamp, Uuid } from '../http/schema.js';

export const AGENT_STATUSES = ['active', 'paused', 'revoked'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];
const Status = Type.Unsafe<AgentStatus>({ type: 'string', enum: AGENT_STATUSES });

/** An integer within bounds, or null: no limit of its own. */
const Limit = (minimum: number, maximum: number, description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum, maximum, description });

const RpmLimit = Limit(1, 1_000_000, 'Requests in any 60 seconds, per provider; null: the default, 60.');
const RpdLimit = Limit(1, 1_000_000_000, 'Requests per 24 hours, per provider; null: the default, 10000.');
const BudgetCentsMonthly = Limit(0, 1e12, 'US cents per calendar month over all providers; null: no budget.');
const Description = Type.String({ maxLength: 2_000, pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$' });
const UsageThresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  maxItems: 10,
  uniqueItems: true,
  description: 'Percentages of the budget at which usage.threshold is sent, once a month each.',
});

const shown = {
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: Status,
  budgetCentsMonthly: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  rpmLimit: Type.Integer(),
  rpdLimit: Type.Integer(),
};

/** As lists show it (SPEC §4). */
export const AgentSummary = Type.Object({ ...shown, createdAt: Timestamp });
/** As the answer of its creation shows it (SPEC §4). */
export const AgentCreated = Type.Object({ ...shown, projectId: Uuid });
export const Agent = Type.Object({
  ...shown,
  projectId: Uuid,
  description: Type.String(),
  usageThresholds: Type.Array(Type.Integer()),
  createdAt: Timestamp,
});
export type Agent = Static<typeof Agent>;

export const AgentInput = Body({
  projectId: Uuid,
  name: Name,
  description: Type.Optional(Description),
  rpmLimit: Type.Optional(RpmLimit),
  rpdLimit: Type.Optional(RpdLimit),
  budgetCentsMonthly: Type.Optional(BudgetCentsMonthly),
});
export type AgentInput = Static<typeof AgentInput>;

export const AgentPatch = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    rpmLimit: Type.Optional(RpmLimit),
    rpdLimit: Type.Optional(RpdLimit),
    budgetCentsMonthly: Type.Optional(BudgetCentsMonthly),
    usageThresholds: Type.Optional(UsageThresholds),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type AgentPatch = Static<typeof AgentPatch>;

export const AgentStatusInput = Body({ status: Status });
export const AgentQuery = Type.Object({ ...PageQuery, projectId: Uuid });
export const AgentReply = Type.Object({ agent: Agent });
export const AgentCreatedReply = Type.Object({ agent: AgentCreated });
export const AgentList = Type.Object({ agents: Type.Array(AgentSummary), ...PageReply });

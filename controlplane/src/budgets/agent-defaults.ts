/** Limits and budgets of new agents that state none of their own: of their project, else of the organization. */
import { type Static, Type } from 'typebox';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import { Body } from '../http/schema.js';
import { type LimitName, mapLimits } from '../limits/agent-limit-fields.js';
import { AuditLimitsField } from './audit-limits.js';
import { mergeBudgetFields } from './merge-budget-fields.js';
import { BudgetRowsInput } from './schema.js';

const fields = Body({
  ...(mapLimits(({ minimum, maximum, description }) =>
    Type.Optional(Type.Integer({ minimum, maximum, description })),
  ) as { [name in LimitName]: ReturnType<typeof Type.Optional<ReturnType<typeof Type.Integer>>> }),
  budgetMode: Type.Optional(Type.Unsafe<'soft' | 'hard'>({ type: 'string', enum: ['soft', 'hard'] })),
  budgets: Type.Optional(BudgetRowsInput),
  auditLimits: Type.Optional(AuditLimitsField),
});
export type AgentDefaults = Static<typeof fields>;

export const AgentDefaultsField = Type.Unsafe<AgentDefaults | null>({
  anyOf: [fields, { type: 'null' }],
  description:
    'Limits and budgets that a new agent gets where POST /v1/agents states none; of its project, else of the organization. Null: none.',
});

const BUDGET_FIELDS = ['budgetCentsMonthly', 'budgetMode', 'budgets'] as const;

/** Throws `InvalidInput` for rows that no agent could have. */
export function validateAgentDefaults(defaults: AgentDefaults | null | undefined): void {
  if (defaults != null) mergeBudgetFields(defaults, { cents: null, mode: 'soft' });
}

/**
 * Fills in what the input leaves out: each limit by itself, the budget fields together, because they contradict each other
 * otherwise. Null is stated, not left out: the limit's own default.
 */
export function withAgentDefaults<T extends AgentDefaults | { readonly [field in keyof AgentDefaults]?: unknown }>(
  input: T,
  sources: readonly (AgentDefaults | null)[],
): T {
  const filled: Record<string, unknown> = { ...input };
  const statesBudget = BUDGET_FIELDS.some((field) => filled[field] !== undefined);
  const ofBudget = sources.find(
    (source) => source !== null && BUDGET_FIELDS.some((field) => source[field] !== undefined),
  );
  if (!statesBudget && ofBudget != null)
    for (const field of BUDGET_FIELDS) if (ofBudget[field] !== undefined) filled[field] = withoutIds(ofBudget[field]);
  for (const source of sources) {
    for (const [field, value] of Object.entries(source ?? {}))
      if (!(BUDGET_FIELDS as readonly string[]).includes(field) && filled[field] === undefined) filled[field] = value;
  }
  return filled as T;
}

const withoutIds = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(({ id: _, ...row }: { id?: string }) => row) : value;

/** The defaults of a project, then those of its organization. */
export async function loadAgentDefaults(
  sql: Sql | Tx,
  orgId: string,
  projectId: string,
): Promise<readonly (AgentDefaults | null)[]> {
  const [row] = await sql<{ project: AgentDefaults | null; org: AgentDefaults | null }[]>`
    select p.agent_defaults as project, o.agent_defaults as org
      from projects p join organizations o on o.id = p.org_id where p.id = ${projectId} and p.org_id = ${orgId}`;
  return row === undefined ? [] : [row.project, row.org];
}

export const agentDefaultsValue = (sql: Tx, defaults: AgentDefaults | null) =>
  defaults === null ? null : sql.json(defaults as JSONValue);

import type { AuditLimit } from '../budgets/audit-limits.js';
import { containsPattern } from '../db/like-pattern.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type ConfiguredLimits, type LimitName, limitColumns, limitValues } from '../limits/agent-limit-fields.js';
import type { Enforcement } from './budget-mode-and-store-loss-fields.js';
import type { AgentPolicy } from './call-and-model-policy-schema.js';
import type { AgentStatus } from './schema.js';

export interface AgentRow extends ConfiguredLimits, Enforcement {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  /** The member whose personal agent this is; null: an agent of the organization. */
  readonly ownerUserId: string | null;
  readonly description: string;
  readonly status: AgentStatus;
  readonly usageThresholds: readonly number[];
  /** Null: all calls are allowed. */
  readonly policy: AgentPolicy | null;
  /** Rate limits that are counted and never reject. */
  readonly auditLimits: readonly AuditLimit[];
  /** Whether the agent, its project or its organization has a hard budget row. */
  readonly hasHardRow: boolean;
  readonly createdAt: Date;
}

export type AgentSettings = Pick<
  AgentRow,
  'name' | 'description' | 'status' | LimitName | keyof Enforcement | 'usageThresholds' | 'policy' | 'auditLimits'
>;

const columns = (sql: Sql | Tx) => sql`
  id, project_id as "projectId", owner_user_id as "ownerUserId", name, slug, description, status, ${limitColumns(sql)},
  budget_mode as "budgetMode", hold_max_output_tokens as "holdMaxOutputTokens", on_store_loss as "onStoreLoss",
  usage_thresholds as "usageThresholds", policy, audit_limits as "auditLimits", created_at as "createdAt",
  exists (select from budgets b where b.mode = 'hard' and b.org_id = agents.org_id
            and b.scope_id in (agents.id, agents.project_id, agents.org_id)) as "hasHardRow"`;

interface AgentFilter extends Sorting<'createdAt' | 'name'> {
  readonly projectId: string;
  readonly search?: string;
  readonly status?: AgentStatus;
}

const ORDER = { createdAt: { by: 'created_at' }, name: { by: 'lower(name)', text: true } } as const;

export async function listAgents(
  sql: Sql,
  orgId: string,
  { projectId, search = '', status, ...sorting }: AgentFilter,
  page: Page,
): Promise<ListResult<AgentRow>> {
  const like = containsPattern(search);
  const where = sql`org_id = ${orgId} and project_id = ${projectId}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${search === '' ? sql`` : sql`and (name ilike ${like} or slug ilike ${like})`}`;
  const rows = await sql<AgentRow[]>`
    select ${columns(sql)} from agents where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from agents where ${where}`;
  return { rows, total: count!.total };
}

export async function loadAgent(sql: Sql | Tx, orgId: string, id: string): Promise<AgentRow | null> {
  const [row] = await sql<AgentRow[]>`select ${columns(sql)} from agents where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/**
 * Locks the row, so that writers of one agent run one after the other and nothing is added to an agent that is being
 * deleted.
 */
export async function lockAgent(tx: Tx, orgId: string, id: string): Promise<AgentRow | null> {
  const [row] = await tx<AgentRow[]>`
    select ${columns(tx)} from agents where org_id = ${orgId} and id = ${id} for update`;
  return row ?? null;
}

export async function projectExists(sql: Sql, orgId: string, projectId: string): Promise<boolean> {
  const rows = await sql`select 1 from projects where org_id = ${orgId} and id = ${projectId}`;
  return rows.length > 0;
}

/**
 * Serializes writers of agents of one project, so that slugs do not collide. Returns false when there is no such
 * project.
 */
export async function lockProject(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  const rows = await tx`select 1 from projects where org_id = ${orgId} and id = ${projectId} for no key update`;
  return rows.length > 0;
}

/** Lists the slugs in the project that are `base` or begin with `base-`. */
export async function listTakenSlugs(tx: Tx, projectId: string, base: string): Promise<ReadonlySet<string>> {
  const rows = await tx<{ slug: string }[]>`
    select slug from agents where project_id = ${projectId} and (slug = ${base} or starts_with(slug, ${`${base}-`}))`;
  return new Set(rows.map((row) => row.slug));
}

const SAME_SLUG_AGENTS_MAX = 200;

/**
 * Lists other agents of the organization with the same slug; each is in another project. Null: more than {@link
 * SAME_SLUG_AGENTS_MAX}, too many to invalidate one by one on every data plane while all other changes wait.
 */
export async function listAgentsWithSameSlug(
  tx: Tx,
  orgId: string,
  agent: AgentRow,
): Promise<readonly string[] | null> {
  const rows = await tx<{ id: string }[]>`
    select id from agents where org_id = ${orgId} and slug = ${agent.slug} and id <> ${agent.id}
     limit ${SAME_SLUG_AGENTS_MAX + 1}`;
  return rows.length > SAME_SLUG_AGENTS_MAX ? null : rows.map((row) => row.id);
}

export interface NewAgent extends Omit<AgentSettings, 'status'> {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly ownerUserId: string | null;
  readonly slug: string;
}

export async function insertAgent(tx: Tx, agent: NewAgent): Promise<AgentRow> {
  const [row] = await tx<AgentRow[]>`
    insert into agents ${tx({
      id: agent.id,
      org_id: agent.orgId,
      project_id: agent.projectId,
      owner_user_id: agent.ownerUserId,
      name: agent.name,
      slug: agent.slug,
      description: agent.description,
      usage_thresholds: [...agent.usageThresholds],
      audit_limits: [...agent.auditLimits],
      ...limitValues(agent),
      ...enforcementValues(agent),
      policy: policyValue(tx, agent.policy),
    })}
    returning ${columns(tx)}`;
  return row!;
}

export async function updateAgent(tx: Tx, orgId: string, id: string, settings: AgentSettings): Promise<AgentRow> {
  const [row] = await tx<AgentRow[]>`
    update agents set ${tx({
      name: settings.name,
      description: settings.description,
      status: settings.status,
      usage_thresholds: [...settings.usageThresholds],
      audit_limits: [...settings.auditLimits],
      ...limitValues(settings),
      ...enforcementValues(settings),
      policy: policyValue(tx, settings.policy),
    })}
     where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

/** An admin changed the status. Clears `personal_ended_at`, so the owner cannot restore the agent. */
export async function clearPersonalEndedAt(tx: Tx, id: string): Promise<void> {
  await tx`update agents set personal_ended_at = null where id = ${id} and personal_ended_at is not null`;
}

const enforcementValues = ({ budgetMode, holdMaxOutputTokens, onStoreLoss }: Enforcement) => ({
  budget_mode: budgetMode,
  hold_max_output_tokens: holdMaxOutputTokens,
  on_store_loss: onStoreLoss,
});

const policyValue = (tx: Tx, policy: AgentPolicy | null) => (policy === null ? null : tx.json(policy as JSONValue));

/** Deletes the agent with its keys and accounts. The ledger keeps its id. */
export async function deleteAgent(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`delete from agents where org_id = ${orgId} and id = ${id}`;
}

import { type AgentDefaults, agentDefaultsValue } from '../budgets/agent-defaults.js';
import { containsPattern } from '../db/like-pattern.js';
import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

export interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** US cents; null: no budget. */
  readonly budgetCentsMonthly: number | null;
  readonly agentDefaults: AgentDefaults | null;
  /** Null: members may not have an agent of their own. Deleted credentials are left out. */
  readonly personalAgents: { readonly credentialIds: readonly string[] } | null;
  readonly createdAt: Date;
}

const columns = (sql: Sql | Tx) => sql`
  id, name, slug, budget_cents_monthly as "budgetCentsMonthly", agent_defaults as "agentDefaults", created_at as "createdAt",
  case when personal_agent_credentials is not null then jsonb_build_object('credentialIds', coalesce((
    select jsonb_agg(c.id order by c.id) from credentials c where c.id = any(personal_agent_credentials)), '[]')) end
    as "personalAgents"`;

interface ProjectFilter extends Sorting<'createdAt' | 'name'> {
  readonly search?: string;
}

const ORDER = { createdAt: { by: 'created_at' }, name: { by: 'lower(name)', text: true } } as const;

/** `onlyId` limits the list to one project; null lists all. */
export async function listProjects(
  sql: Sql,
  orgId: string,
  onlyId: string | null,
  { search = '', ...sorting }: ProjectFilter,
  page: Page,
): Promise<ListResult<ProjectRow>> {
  const like = containsPattern(search);
  const where = sql`org_id = ${orgId} ${onlyId === null ? sql`` : sql`and id = ${onlyId}`}
    ${search === '' ? sql`` : sql`and (name ilike ${like} or slug ilike ${like})`}`;
  const rows = await sql<ProjectRow[]>`
    select ${columns(sql)} from projects
     where ${where} ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from projects where ${where}`;
  return { rows, total: count!.total };
}

export async function loadProject(sql: Sql | Tx, orgId: string, id: string): Promise<ProjectRow | null> {
  const [row] = await sql<ProjectRow[]>`
    select ${columns(sql)} from projects where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

export async function insertProject(
  tx: Tx,
  project: { id: string; orgId: string; name: string; slug: string },
): Promise<ProjectRow> {
  const [row] = await tx<ProjectRow[]>`
    insert into projects (id, org_id, name, slug)
    values (${project.id}, ${project.orgId}, ${project.name}, ${project.slug})
    returning ${columns(tx)}`;
  return row!;
}

export async function updateProject(
  tx: Tx,
  orgId: string,
  id: string,
  {
    name,
    budgetCentsMonthly,
    agentDefaults,
    personalAgents,
  }: Pick<ProjectRow, 'name' | 'budgetCentsMonthly' | 'agentDefaults' | 'personalAgents'>,
): Promise<ProjectRow | null> {
  const [row] = await tx<ProjectRow[]>`
    update projects set name = ${name}, budget_cents_monthly = ${budgetCentsMonthly},
           agent_defaults = ${agentDefaultsValue(tx, agentDefaults)},
           personal_agent_credentials = ${personalAgents === null ? null : [...personalAgents.credentialIds]}::uuid[]
     where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Serializes changes of one project. */
export async function lockProject(tx: Tx, orgId: string, id: string): Promise<ProjectRow | null> {
  const [row] = await tx<ProjectRow[]>`
    select ${columns(tx)} from projects where org_id = ${orgId} and id = ${id} for no key update`;
  return row ?? null;
}

/** Locks the project against deletion until the transaction ends; false when the organization has no such project. */
export async function lockProjectAgainstDeletion(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  return (await tx`select 1 from projects where org_id = ${orgId} and id = ${projectId} for key share`).length > 0;
}

/** Counts the agents of the project and locks the project row against new ones. Null: no such project. */
export async function lockAndCountAgents(tx: Tx, orgId: string, id: string): Promise<number | null> {
  const [project] = await tx`select 1 from projects where org_id = ${orgId} and id = ${id} for update`;
  if (project === undefined) return null;
  const [count] = await tx<{ total: number }[]>`select count(*) as total from agents where project_id = ${id}`;
  return count!.total;
}

export async function deleteProject(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`delete from projects where org_id = ${orgId} and id = ${id}`;
}

/** Lists the slugs in the organization that are `base` or begin with `base-`. */
export async function listTakenSlugs(tx: Tx, orgId: string, base: string): Promise<ReadonlySet<string>> {
  const rows = await tx<{ slug: string }[]>`
    select slug from projects where org_id = ${orgId} and (slug = ${base} or starts_with(slug, ${`${base}-`}))`;
  return new Set(rows.map((row) => row.slug));
}

/**
 * Providers of those shared credentials that agents of the project may use; one entry a credential. `ofProjectOnly`:
 * without those of the whole organization.
 */
export async function listProvidersOfCredentials(
  tx: Tx,
  orgId: string,
  projectId: string,
  { ids, ofProjectOnly }: { readonly ids: readonly string[]; readonly ofProjectOnly: boolean },
): Promise<readonly string[]> {
  const rows = await tx<{ provider: string }[]>`
    select provider_slug as provider from credentials
     where org_id = ${orgId} and id = any(${[...ids]}::uuid[])
       and (project_id = ${projectId} ${ofProjectOnly ? tx`` : tx`or project_id is null`})
       for key share`;
  return rows.map(({ provider }) => provider);
}

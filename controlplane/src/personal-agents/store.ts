import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

export interface PersonalAgentRow {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly status: 'active' | 'paused' | 'revoked';
}

export interface AllowingProjectRow {
  readonly projectId: string;
  readonly projectName: string;
  readonly projectSlug: string;
  readonly agent: PersonalAgentRow | null;
}

/** Projects of the organization that allow personal agents, each with the agent of that user. */
export async function listAllowingProjects(
  sql: Sql,
  orgId: string,
  userId: string,
  { limit, offset }: Page,
): Promise<ListResult<AllowingProjectRow>> {
  const rows = await sql<AllowingProjectRow[]>`
    select p.id as "projectId", p.name as "projectName", p.slug as "projectSlug",
           case when a.id is not null then
             jsonb_build_object('id', a.id, 'name', a.name, 'slug', a.slug, 'status', a.status) end as agent
      from projects p left join agents a on a.project_id = p.id and a.owner_user_id = ${userId}
     where p.org_id = ${orgId} and p.personal_agent_credentials is not null
     order by p.created_at, p.id limit ${limit} offset ${offset}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from projects where org_id = ${orgId} and personal_agent_credentials is not null`;
  return { rows, total: count!.total };
}

export interface OwnedAgentRow extends PersonalAgentRow {
  /** It ended with the membership or with the setting, and may come back. */
  readonly ended: boolean;
}

export async function lockPersonalAgent(tx: Tx, projectId: string, userId: string): Promise<OwnedAgentRow | null> {
  const [row] = await tx<OwnedAgentRow[]>`
    select id, name, slug, status, personal_ended_at is not null as ended from agents
     where project_id = ${projectId} and owner_user_id = ${userId} for update`;
  return row ?? null;
}

export async function restorePersonalAgent(tx: Tx, id: string): Promise<void> {
  await tx`update agents set status = 'active', personal_ended_at = null where id = ${id}`;
}

export interface MissingAccountRow {
  readonly credentialId: string;
  readonly providerSlug: string;
}

/** Shared credentials of the setting whose provider the agent has no account with. */
export async function listMissingAccounts(
  tx: Tx,
  projectId: string,
  agentId: string,
): Promise<readonly MissingAccountRow[]> {
  return tx<MissingAccountRow[]>`
    select c.id as "credentialId", c.provider_slug as "providerSlug"
      from projects p join credentials c on c.id = any(p.personal_agent_credentials) and c.org_id = p.org_id
     where p.id = ${projectId}
       and not exists (select 1 from provider_accounts x where x.agent_id = ${agentId} and x.provider_slug = c.provider_slug)
     order by c.id`;
}

export async function countActiveKeys(tx: Tx, agentId: string): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from api_keys
     where agent_id = ${agentId} and revoked_at is null and (expires_at is null or expires_at > now())`;
  return row!.total;
}

/** Name of the user's account. */
export async function loadUserName(tx: Tx, userId: string): Promise<string | null> {
  const [row] = await tx<{ name: string | null }[]>`select name from users where id = ${userId}`;
  return row?.name ?? null;
}

/** Whether the key belongs to a personal agent of the user. */
export async function ownsKey(sql: Sql, orgId: string, userId: string, keyId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from api_keys k join agents a on a.id = k.agent_id
     where k.id = ${keyId} and k.org_id = ${orgId} and a.owner_user_id = ${userId}`;
  return rows.length === 1;
}

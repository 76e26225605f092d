import type { Sql, Tx } from '../db/sql.js';
import type { Listed, Page } from '../http/pagination.js';
import type { KeyScope } from './schema.js';

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly scope: KeyScope;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
}

export interface NewApiKey {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly tokenHash: Buffer;
  readonly scope: KeyScope;
  readonly agentId: string | null;
  readonly projectId: string | null;
  readonly expiresAt: Date | null;
}

/** Only keys of these; null = whichever. */
export interface ApiKeyFilter {
  readonly agentId: string | null;
  readonly projectId: string | null;
}

const columns = (sql: Sql | Tx) => sql`
  id, name, key_prefix as "keyPrefix", scope, last_used_at as "lastUsedAt", expires_at as "expiresAt",
  created_at as "createdAt"`;

export async function listLiveKeys(
  sql: Sql,
  orgId: string,
  filter: ApiKeyFilter,
  page: Page,
): Promise<Listed<ApiKeyRow>> {
  const where = sql`
    org_id = ${orgId} and revoked_at is null
    and (${filter.agentId}::uuid is null or agent_id = ${filter.agentId})
    and (${filter.projectId}::uuid is null or project_id = ${filter.projectId})`;
  const rows = await sql<ApiKeyRow[]>`
    select ${columns(sql)} from api_keys where ${where}
     order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from api_keys where ${where}`;
  return { rows, total: count!.total };
}

export async function insertKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  const [row] = await tx<ApiKeyRow[]>`
    insert into api_keys (id, org_id, project_id, agent_id, name, key_prefix, token_hash, scope, expires_at)
    values (${key.id}, ${key.orgId}, ${key.projectId}, ${key.agentId}, ${key.name}, ${key.keyPrefix}, ${key.tokenHash},
            ${key.scope}, ${key.expiresAt})
    returning ${columns(tx)}`;
  return row!;
}

/** Null: no such key, or it was revoked before. */
export async function revokeKey(tx: Tx, orgId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    update api_keys set revoked_at = now() where org_id = ${orgId} and id = ${id} and revoked_at is null
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Locks the project against deletion; false when there is none. */
export async function holdProject(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  const rows = await tx`select 1 from projects where org_id = ${orgId} and id = ${projectId} for key share`;
  return rows.length > 0;
}

/** For filters: ids of another organization are 404. */
export async function ownsProject(sql: Sql, orgId: string, projectId: string): Promise<boolean> {
  return (await sql`select 1 from projects where org_id = ${orgId} and id = ${projectId}`).length > 0;
}

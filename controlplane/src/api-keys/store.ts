import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { endRunsOf } from '../runs/ending/end-runs-of.js';
import type { KeyScope, KeyStatus } from './schema.js';

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly scope: KeyScope;
  readonly status: KeyStatus;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly projectId: string | null;
  /** Id of the key that replaces this one, which then always has an `expiresAt`. */
  readonly replacedBy: string | null;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  /** Null, except in {@link loadKeyEvenRevoked} and in lists of revoked keys. */
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
  /** The user, or the creator of the management token, that created it; null: unknown. */
  readonly createdBy: string | null;
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
  readonly createdBy: string;
}

/** Null fields do not filter. */
export interface ApiKeyFilter {
  readonly agentId: string | null;
  readonly projectId: string | null;
  /** Null: every key that is not revoked. */
  readonly status: KeyStatus | null;
  /** Part of the name, the prefix or the agent's name, case-insensitive. */
  readonly search: string | null;
  readonly neverUsed: boolean | null;
  /** Created before this time and not used since. */
  readonly unusedSince: Date | null;
}

const statusColumn = (sql: Sql | Tx) => sql`
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end`;
const agentNameColumn = (sql: Sql | Tx) => sql`(select a.name from agents a where a.id = api_keys.agent_id)`;
const columns = (sql: Sql | Tx) => sql`
  id, name, key_prefix as "keyPrefix", scope, ${statusColumn(sql)} as status, agent_id as "agentId",
  ${agentNameColumn(sql)} as "agentName", project_id as "projectId", replaced_by as "replacedBy",
  last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt", created_at as "createdAt",
  created_by as "createdBy"`;

const ORDER = {
  createdAt: { by: 'created_at' },
  name: { by: 'lower(name)', text: true },
  lastUsedAt: { by: 'last_used_at', nullable: true },
  expiresAt: { by: 'expires_at', nullable: true },
} as const;
export type ApiKeySorting = Sorting<keyof typeof ORDER>;

/** Revoked keys only with the status `revoked`. */
export async function listKeys(
  sql: Sql,
  orgId: string,
  filter: ApiKeyFilter,
  sorting: ApiKeySorting,
  page: Page,
): Promise<ListResult<ApiKeyRow>> {
  const where = sql`
    org_id = ${orgId} and ${filter.status === 'revoked' ? sql`revoked_at is not null` : sql`revoked_at is null`}
    and (${filter.agentId}::uuid is null or agent_id = ${filter.agentId})
    and (${filter.projectId}::uuid is null or project_id = ${filter.projectId})
    ${filter.neverUsed === null ? sql`` : sql`and (last_used_at is null) = ${filter.neverUsed}`}
    ${filter.unusedSince === null ? sql`` : sql`and coalesce(last_used_at, created_at) < ${filter.unusedSince}`}
    ${filter.status === null ? sql`` : sql`and ${statusColumn(sql)} = ${filter.status}`}
    ${filter.search === null ? sql`` : sql`and strpos(lower(concat_ws(' ', name, key_prefix, ${agentNameColumn(sql)})), lower(${filter.search})) > 0`}`;
  const rows = await sql<ApiKeyRow[]>`
    select ${columns(sql)} from api_keys where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from api_keys where ${where}`;
  return { rows, total: count!.total };
}

/**
 * Waits for a running deletion of the organization and throws {@link Conflict} when it committed first, so that no key
 * outlives its organization.
 */
export async function insertKey(tx: Tx, key: NewApiKey): Promise<ApiKeyRow> {
  const [row] = await tx<ApiKeyRow[]>`
    insert into api_keys (id, org_id, project_id, agent_id, name, key_prefix, token_hash, scope, expires_at,
                          created_by)
    select ${key.id}, ${key.orgId}, ${key.projectId}, ${key.agentId}, ${key.name}, ${key.keyPrefix}, ${key.tokenHash},
           ${key.scope}, ${key.expiresAt}, ${key.createdBy}
      from organizations where id = ${key.orgId} and purge_at is null for key share
    returning ${columns(tx)}`;
  if (row === undefined) throw new Conflict('the organization is being deleted: restore it before you create a key');
  return row;
}

export async function loadKey(sql: Sql, orgId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`
    select ${columns(sql)} from api_keys where org_id = ${orgId} and id = ${id} and revoked_at is null`;
  return row ?? null;
}

export async function loadKeyEvenRevoked(sql: Sql, orgId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`
    select ${columns(sql)} from api_keys where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** Locks the row until the transaction ends. Null: no such key, or it was revoked. */
export async function lockKey(tx: Tx, orgId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    select ${columns(tx)} from api_keys where org_id = ${orgId} and id = ${id} and revoked_at is null for update`;
  return row ?? null;
}

export async function updateKey(
  tx: Tx,
  id: string,
  { name, expiresAt, replacedBy }: Pick<ApiKeyRow, 'name' | 'expiresAt' | 'replacedBy'>,
): Promise<ApiKeyRow> {
  const [row] = await tx<ApiKeyRow[]>`
    update api_keys set name = ${name}, expires_at = ${expiresAt}, replaced_by = ${replacedBy},
           expiry_moved = expiry_moved or expires_at is distinct from ${expiresAt}::timestamptz
     where id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

const EXPIRED_KEYS_PER_RUN = 1_000;

/**
 * Claims keys whose changed expiry has passed; each is returned once. Sessions that were opened before the change do
 * not know the new expiry and must be closed. A replaced key is also revoked.
 */
export async function claimExpiredRescheduledKeys(tx: Tx): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    update api_keys set expiry_moved = false, revoked_at = case when replaced_by is not null then now() end
     where id in (select id from api_keys where expiry_moved and expires_at <= now() and revoked_at is null
                   order by expires_at limit ${EXPIRED_KEYS_PER_RUN} for update skip locked)
    returning id`;
  const ids = rows.map((row) => row.id);
  await endRunsOf(tx, 'key_id', ids);
  return ids;
}

/** Null: no such key, or it was already revoked. */
export async function revokeKey(tx: Tx, orgId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    update api_keys set revoked_at = now(), expiry_moved = false where org_id = ${orgId} and id = ${id} and revoked_at is null
    returning ${columns(tx)}`;
  if (row !== undefined) await endRunsOf(tx, 'key_id', [id]);
  return row ?? null;
}

/** For filters: an id of another organization gives 404. */
export async function projectExists(sql: Sql, orgId: string, projectId: string): Promise<boolean> {
  return (await sql`select 1 from projects where org_id = ${orgId} and id = ${projectId}`).length > 0;
}

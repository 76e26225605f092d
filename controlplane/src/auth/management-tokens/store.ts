import { orderBy, ROLE_RANK, type Sorting } from '../../db/order-by.js';
import type { Sql, Tx } from '../../db/postgres-client.js';
import { Conflict } from '../../domain/errors.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { Role } from '../../http/route-access.js';

export interface ManagementTokenRow {
  readonly id: string;
  readonly name: string;
  readonly tokenPrefix: string;
  readonly role: Exclude<Role, 'owner'>;
  readonly projectId: string | null;
  readonly createdBy: string;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
}

export interface NewManagementToken {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly name: string;
  readonly role: Exclude<Role, 'owner'>;
  readonly tokenPrefix: string;
  readonly tokenHash: Buffer;
  readonly createdBy: string;
  readonly expiresAt: Date | null;
}

/** `last_used_at` is updated at most once per interval. */
const MARK_USED_INTERVAL_S = 60;

const managementTokenColumns = (sql: Sql | Tx) => sql`
  id, name, token_prefix as "tokenPrefix", role, project_id as "projectId", created_by as "createdBy",
  last_used_at as "lastUsedAt", expires_at as "expiresAt", created_at as "createdAt"`;

const ORDER = {
  createdAt: { by: 'created_at' },
  name: { by: 'lower(name)', text: true },
  role: { by: ROLE_RANK },
  lastUsedAt: { by: 'last_used_at', nullable: true },
  expiresAt: { by: 'expires_at', nullable: true },
} as const;
export type ManagementTokenSorting = Sorting<keyof typeof ORDER>;

export async function listManagementTokens(
  sql: Sql,
  orgId: string,
  sorting: ManagementTokenSorting,
  page: Page,
): Promise<ListResult<ManagementTokenRow>> {
  const rows = await sql<ManagementTokenRow[]>`
    select ${managementTokenColumns(sql)} from management_tokens where org_id = ${orgId}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from management_tokens where org_id = ${orgId}`;
  return { rows, total: count!.total };
}

export async function loadManagementToken(sql: Sql, orgId: string, id: string): Promise<ManagementTokenRow | null> {
  const [row] = await sql<ManagementTokenRow[]>`
    select ${managementTokenColumns(sql)} from management_tokens where id = ${id} and org_id = ${orgId}`;
  return row ?? null;
}

/**
 * Waits for a running deletion of the organization and throws {@link Conflict} when it committed first, so that no
 * token outlives its organization.
 */
export async function insertManagementToken(tx: Tx, token: NewManagementToken): Promise<ManagementTokenRow> {
  const { id, orgId, projectId, name, role, tokenPrefix, tokenHash, createdBy, expiresAt } = token;
  const [row] = await tx<ManagementTokenRow[]>`
    insert into management_tokens (id, org_id, project_id, name, role, token_prefix, token_hash, created_by, expires_at)
    select ${id}, ${orgId}, ${projectId}, ${name}, ${role}, ${tokenPrefix}, ${tokenHash}, ${createdBy}, ${expiresAt}
      from organizations where id = ${orgId} and purge_at is null for key share
    returning ${managementTokenColumns(tx)}`;
  if (row === undefined)
    throw new Conflict('the organization is being deleted: restore it before you create a management token');
  return row;
}

/** Serializes writers of the organization's tokens with an advisory lock, and counts its tokens. */
export async function lockAndCountManagementTokens(tx: Tx, orgId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtext(${`management-tokens:${orgId}`}))`;
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from management_tokens where org_id = ${orgId}`;
  return row!.total;
}

export async function deleteManagementToken(tx: Tx, orgId: string, id: string): Promise<ManagementTokenRow | null> {
  const [row] = await tx<ManagementTokenRow[]>`
    delete from management_tokens where org_id = ${orgId} and id = ${id} returning ${managementTokenColumns(tx)}`;
  return row ?? null;
}

/** Deletes the user's tokens in all organizations. */
export async function deleteTokensCreatedBy(tx: Tx, userId: string): Promise<void> {
  await tx`delete from management_tokens where created_by = ${userId}`;
}

/** The fields of a token that authentication and authorization read. */
export interface LiveManagementToken {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly role: Role;
  readonly creatorId: string;
  readonly creatorRole: Role;
  /** True when `last_used_at` is due for an update. */
  readonly shouldMarkUsed: boolean;
}

/** Null: unknown, expired, its creator is no longer a member, or its organization is being deleted. */
export async function findLiveManagementToken(sql: Sql, tokenHash: Buffer): Promise<LiveManagementToken | null> {
  const [row] = await sql<LiveManagementToken[]>`
    select t.id, t.name, t.org_id as "orgId", t.project_id as "projectId", t.role, t.created_by as "creatorId",
           m.role as "creatorRole",
           coalesce(t.last_used_at < now() - make_interval(secs => ${MARK_USED_INTERVAL_S}), true) as "shouldMarkUsed"
      from management_tokens t join memberships m on m.org_id = t.org_id and m.user_id = t.created_by
      join organizations o on o.id = t.org_id and o.purge_at is null
     where t.token_hash = ${tokenHash} and (t.expires_at is null or t.expires_at > now())`;
  return row ?? null;
}

export async function markManagementTokenUsed(sql: Sql, id: string): Promise<void> {
  await sql`
    update management_tokens set last_used_at = now()
     where id = ${id} and (last_used_at is null or last_used_at < now() - make_interval(secs => ${MARK_USED_INTERVAL_S}))`;
}

import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';

export interface ScimTokenRow {
  readonly id: string;
  readonly name: string;
  readonly tokenPrefix: string;
  /** Null: that user was deleted. */
  readonly createdBy: string | null;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

/** `last_used_at` is updated at most once per interval. */
const MARK_USED_INTERVAL_S = 60;
export const TOKENS_PER_ORG_MAX = 5;

const columns = (sql: Sql | Tx) => sql`
  id, name, token_prefix as "tokenPrefix", created_by as "createdBy", last_used_at as "lastUsedAt",
  created_at as "createdAt"`;

export async function listTokens(sql: Sql, orgId: string): Promise<ScimTokenRow[]> {
  return sql<ScimTokenRow[]>`
    select ${columns(sql)} from scim_tokens where org_id = ${orgId} order by created_at, id limit ${TOKENS_PER_ORG_MAX}`;
}

export interface NewScimToken {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly tokenPrefix: string;
  readonly tokenHash: Buffer;
  readonly createdBy: string;
}

/** Locks the organization. Throws {@link Conflict} when it is being deleted or has the most tokens. */
export async function insertToken(tx: Tx, token: NewScimToken): Promise<ScimTokenRow> {
  const { id, orgId, name, tokenPrefix, tokenHash, createdBy } = token;
  const live = await tx`select 1 from organizations where id = ${orgId} and purge_at is null for no key update`;
  if (live.length === 0) throw new Conflict('the organization is being deleted: restore it before you create a token');
  const [row] = await tx<ScimTokenRow[]>`
    insert into scim_tokens (id, org_id, name, token_prefix, token_hash, created_by)
    select ${id}, ${orgId}, ${name}, ${tokenPrefix}, ${tokenHash}, ${createdBy}
     where (select count(*) from scim_tokens where org_id = ${orgId}) < ${TOKENS_PER_ORG_MAX}
    returning ${columns(tx)}`;
  if (row === undefined)
    throw new Conflict(`the organization already has ${TOKENS_PER_ORG_MAX} SCIM tokens: delete one first`);
  return row;
}

export async function deleteToken(tx: Tx, orgId: string, id: string): Promise<ScimTokenRow | null> {
  const [row] = await tx<ScimTokenRow[]>`
    delete from scim_tokens where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

export interface LiveScimToken {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  readonly shouldMarkUsed: boolean;
}

/** Null: unknown or deleted, or its organization is being deleted. */
export async function findLiveToken(sql: Sql, hash: Buffer): Promise<LiveScimToken | null> {
  const [row] = await sql<LiveScimToken[]>`
    select t.id, t.name, t.org_id as "orgId",
           coalesce(t.last_used_at < now() - make_interval(secs => ${MARK_USED_INTERVAL_S}), true) as "shouldMarkUsed"
      from scim_tokens t join organizations o on o.id = t.org_id and o.purge_at is null
     where t.token_hash = ${hash}`;
  return row ?? null;
}

export async function markTokenUsed(sql: Sql, id: string): Promise<void> {
  await sql`
    update scim_tokens set last_used_at = now()
     where id = ${id} and (last_used_at is null or last_used_at < now() - make_interval(secs => ${MARK_USED_INTERVAL_S}))`;
}

/** Returns false when the token was deleted. Otherwise a deletion waits until the transaction ends. */
export async function lockToken(tx: Tx, id: string): Promise<boolean> {
  return (await tx`select 1 from scim_tokens where id = ${id} for key share`).length === 1;
}

/** Of the organization: people of the directory, those that are active, those that are members, and groups. */
export async function countProvisioned(
  sql: Sql,
  orgId: string,
): Promise<{ users: number; activeUsers: number; members: number; groups: number }> {
  const [row] = await sql<{ users: number; activeUsers: number; members: number; groups: number }[]>`
    select count(*)::int as users, count(*) filter (where active)::int as "activeUsers",
           count(*) filter (where exists (
             select from memberships m where m.org_id = u.org_id and m.user_id = u.user_id))::int as members,
           (select count(*)::int from scim_groups where org_id = ${orgId}) as groups
      from scim_users u where u.org_id = ${orgId}`;
  return row!;
}

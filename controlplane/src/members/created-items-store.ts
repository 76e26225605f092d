import type { Sql, Tx } from '../db/postgres-client.js';

export interface CreatedItemRow {
  readonly kind: 'api_key' | 'webhook' | 'management_token';
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly createdAt: Date;
}

const LISTED_MAX = 200;

/** What people see of an endpoint's URL: the path of a chat's incoming webhook is its secret (webhooks/displayUrl). */
const displayUrlColumn = (sql: Sql | Tx) => sql`
  case kind when 'webhook' then url else substring(url from '^[^/]+//[^/]+') || '/…' end`;

/** What gives access or sends data and was created by that user, newest first; without keys of personal agents. */
const createdItems = (sql: Sql | Tx, orgId: string, userId: string) => sql`(
  select 'api_key' as kind, k.id, k.name, k.key_prefix || '… ' || coalesce(a.name, k.scope) as detail, k.created_at
    from api_keys k left join agents a on a.id = k.agent_id
   where k.org_id = ${orgId} and k.created_by = ${userId} and k.revoked_at is null
     and a.owner_user_id is distinct from ${userId}
  union all
  select 'webhook', id, ${displayUrlColumn(sql)}, array_to_string(events, ', '), created_at from webhook_endpoints
   where org_id = ${orgId} and created_by = ${userId}
  union all
  select 'management_token', id, name, token_prefix || '… ' || role, created_at from management_tokens
   where org_id = ${orgId} and created_by = ${userId}) as items`;

/** At most 200 rows, and the number of all. */
export async function listCreatedItems(
  sql: Sql,
  orgId: string,
  userId: string,
): Promise<{ rows: readonly CreatedItemRow[]; total: number }> {
  const rows = await sql<CreatedItemRow[]>`
    select kind, id, name, detail, created_at as "createdAt" from ${createdItems(sql, orgId, userId)}
     order by created_at desc, id limit ${LISTED_MAX}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from ${createdItems(sql, orgId, userId)}`;
  return { rows, total: count!.total };
}

export interface RevokedItem {
  readonly id: string;
  readonly name: string;
}

/** Revokes the gateway tokens and deletes the webhooks that the user created. */
export async function revokeCreatedItems(
  tx: Tx,
  orgId: string,
  userId: string,
): Promise<{ keys: readonly RevokedItem[]; webhooks: readonly RevokedItem[] }> {
  const keys = await tx<RevokedItem[]>`
    update api_keys set revoked_at = now(), expiry_moved = false
     where org_id = ${orgId} and created_by = ${userId} and revoked_at is null returning id, name`;
  const webhooks = await tx<RevokedItem[]>`
    delete from webhook_endpoints where org_id = ${orgId} and created_by = ${userId} returning id, ${displayUrlColumn(tx)} as name`;
  return { keys, webhooks };
}

import type { Sql, Tx } from '../db/postgres-client.js';
import { SHOWN_ENDPOINT_URL } from '../db/shown-endpoint-url.js';
import { endRunsOf } from '../runs/ending/end-runs-of.js';

export interface CreatedItemRow {
  readonly kind: 'api_key' | 'webhook' | 'management_token' | 'run' | 'scim_token' | 'trust_rule';
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly createdAt: Date;
}

const LISTED_MAX = 200;

/** What gives access or sends data and was created by that user, newest first; without keys and runs of personal agents. */
const createdItems = (sql: Sql | Tx, orgId: string, userId: string) => sql`(
  select 'api_key' as kind, k.id, k.name, k.key_prefix || '… ' || coalesce(a.name, k.scope) as detail, k.created_at
    from api_keys k left join agents a on a.id = k.agent_id
   where k.org_id = ${orgId} and k.created_by = ${userId} and k.revoked_at is null
     and a.owner_user_id is distinct from ${userId}
  union all
  select 'webhook', id, ${sql.unsafe(SHOWN_ENDPOINT_URL)}, array_to_string(events, ', '), created_at from webhook_endpoints
   where org_id = ${orgId} and created_by = ${userId}
  union all
  select 'management_token', id, name, token_prefix || '… ' || role, created_at from management_tokens
   where org_id = ${orgId} and created_by = ${userId}
  union all
  select 'run', r.id, r.label, r.key_prefix || '… ' || a.name, r.created_at
    from runs r join agents a on a.id = r.agent_id
   where r.org_id = ${orgId} and r.created_by = ${userId} and r.ended_at is null and r.expires_at > now()
     and a.owner_user_id is distinct from ${userId}
  union all
  select 'scim_token', id, name, token_prefix || '…', created_at from scim_tokens
   where org_id = ${orgId} and created_by = ${userId}
  union all
  select 'trust_rule', id, name, issuer, created_at from trust_rules
   where org_id = ${orgId} and created_by = ${userId} and deleted_at is null) as items`;

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

export interface RevokedItems {
  readonly keys: readonly RevokedItem[];
  readonly webhooks: readonly RevokedItem[];
  readonly scimTokens: readonly RevokedItem[];
  readonly trustRules: readonly RevokedItem[];
}

/**
 * Revokes the gateway tokens and deletes the webhooks, SCIM tokens and trust rules that the user created. The caller
 * publishes the invalidations of gateway tokens and trust rules, and ends the runs that the user started
 * ({@link listRunningRuns}).
 */
export async function revokeCreatedItems(tx: Tx, orgId: string, userId: string): Promise<RevokedItems> {
  const keys = await tx<RevokedItem[]>`
    update api_keys set revoked_at = now(), expiry_moved = false
     where org_id = ${orgId} and created_by = ${userId} and revoked_at is null returning id, name`;
  await endRunsOf(
    tx,
    'key_id',
    keys.map(({ id }) => id),
  );
  const webhooks = await tx<RevokedItem[]>`
    delete from webhook_endpoints where org_id = ${orgId} and created_by = ${userId} returning id, ${tx.unsafe(SHOWN_ENDPOINT_URL)} as name`;
  const scimTokens = await tx<RevokedItem[]>`
    delete from scim_tokens where org_id = ${orgId} and created_by = ${userId} returning id, name`;
  return { keys, webhooks, scimTokens, trustRules: await deleteTrustRules(tx, orgId, userId) };
}

/** As a deletion of each rule does (trust-rules/store.ts), which this folder may not import. */
async function deleteTrustRules(tx: Tx, orgId: string, userId: string): Promise<readonly RevokedItem[]> {
  const rules = await tx<RevokedItem[]>`
    update trust_rules set deleted_at = now(), jwks = null, revision = revision + 1
     where org_id = ${orgId} and created_by = ${userId} and deleted_at is null returning id, name`;
  const ids = rules.map(({ id }) => id);
  await tx`delete from trust_rule_used_tokens where rule_id = any(${ids}::uuid[])`;
  await tx`delete from trust_rule_keys where rule_id = any(${ids}::uuid[])`;
  await endRunsOf(tx, 'trust_rule_id', ids);
  return rules;
}

/** Ids of the running runs that the user started. */
export async function listRunningRuns(tx: Tx, orgId: string, userId: string): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from runs
     where org_id = ${orgId} and created_by = ${userId} and ended_at is null and expires_at > now() order by id`;
  return rows.map(({ id }) => id);
}

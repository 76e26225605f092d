import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { endRunsOf } from '../runs/ending/end-runs-of.js';
import type { JwkSet } from '../sso/jwk-set.js';
import type { ClaimCondition } from './claim-conditions.js';

export interface TrustRuleRow {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  readonly conditions: readonly ClaimCondition[];
  readonly keyLifetimeSeconds: number;
  readonly jtiOnce: boolean;
  readonly keysUploaded: boolean;
  readonly keysReadAt: Date | null;
  readonly keysFailure: string | null;
  readonly revision: number;
  readonly lastUsedAt: Date | null;
  readonly rejectedAt: Date | null;
  readonly rejection: string | null;
  readonly createdAt: Date;
}

/** The keys of a rule, which lists leave out. */
export interface RuleWithKeys extends TrustRuleRow {
  readonly jwks: JwkSet | null;
  readonly keysAttemptedAt: Date | null;
}

type ChangedRule = Pick<TrustRuleRow, 'name' | 'conditions' | 'keyLifetimeSeconds' | 'jtiOnce'>;
export interface NewTrustRule extends ChangedRule {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly agentId: string;
  readonly issuer: string;
  readonly audience: string;
  readonly keysUploaded: boolean;
  readonly jwks: JwkSet;
  readonly createdBy: string;
}

/** Null fields do not filter. */
export interface TrustRuleFilter extends Sorting<keyof typeof ORDER> {
  readonly agentId: string | null;
  readonly projectId: string | null;
}

const columns = (sql: Sql | Tx) => sql`
  id, org_id as "orgId", project_id as "projectId", agent_id as "agentId",
  (select a.name from agents a where a.id = trust_rules.agent_id) as "agentName", name, issuer, audience, conditions,
  key_lifetime_s as "keyLifetimeSeconds", jti_once as "jtiOnce", keys_uploaded as "keysUploaded",
  keys_read_at as "keysReadAt", keys_failure as "keysFailure", revision, last_used_at as "lastUsedAt",
  rejected_at as "rejectedAt", rejection, created_at as "createdAt"`;
const keyColumns = (sql: Sql | Tx) => sql`${columns(sql)}, jwks, keys_attempted_at as "keysAttemptedAt"`;

const ORDER = {
  createdAt: { by: 'created_at' },
  name: { by: 'lower(name)', text: true },
  agentName: { by: '(select lower(a.name) from agents a where a.id = agent_id)', text: true },
  lastUsedAt: { by: 'last_used_at', nullable: true },
} as const;

export async function listRules(
  sql: Sql,
  orgId: string,
  { agentId, projectId, ...sorting }: TrustRuleFilter,
  page: Page,
): Promise<ListResult<TrustRuleRow>> {
  const where = sql`org_id = ${orgId} and deleted_at is null
    and (${agentId}::uuid is null or agent_id = ${agentId})
    and (${projectId}::uuid is null or project_id = ${projectId})`;
  const rows = await sql<TrustRuleRow[]>`
    select ${columns(sql)} from trust_rules where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from trust_rules where ${where}`;
  return { rows, total: count!.total };
}

export async function loadRule(sql: Sql, orgId: string, id: string): Promise<TrustRuleRow | null> {
  const [row] = await sql<TrustRuleRow[]>`
    select ${columns(sql)} from trust_rules where org_id = ${orgId} and id = ${id} and deleted_at is null`;
  return row ?? null;
}

/** For an exchange, whose caller names no organization. */
export async function loadRuleWithKeys(sql: Sql, id: string): Promise<RuleWithKeys | null> {
  const [row] = await sql<RuleWithKeys[]>`
    select ${keyColumns(sql)} from trust_rules where id = ${id} and deleted_at is null`;
  return row ?? null;
}

/** Locks the row against exchanges and changes until the transaction ends. */
export async function lockRule(tx: Tx, orgId: string, id: string): Promise<TrustRuleRow | null> {
  const [row] = await tx<TrustRuleRow[]>`
    select ${columns(tx)} from trust_rules where org_id = ${orgId} and id = ${id} and deleted_at is null for update`;
  return row ?? null;
}

/** Throws {@link Conflict} at the limit of the organization, and when the organization is being deleted. */
export async function insertRule(tx: Tx, rule: NewTrustRule, rulesMax: number): Promise<TrustRuleRow> {
  const { orgId, jwks } = rule;
  const [org] = await tx<{ rules: number }[]>`
    select (select count(*) from trust_rules where org_id = ${orgId} and deleted_at is null) as rules
      from organizations where id = ${orgId} and purge_at is null for no key update`;
  if (org === undefined)
    throw new Conflict('the organization is being deleted: restore it before you create a trust rule');
  if (org.rules >= rulesMax)
    throw new Conflict(`an organization has at most ${rulesMax} trust rules: delete one first`);
  const [row] = await tx<TrustRuleRow[]>`
    insert into trust_rules (id, org_id, project_id, agent_id, name, issuer, audience, conditions, key_lifetime_s,
                             jti_once, keys_uploaded, jwks, keys_read_at, keys_attempted_at, created_by)
    values (${rule.id}, ${orgId}, ${rule.projectId}, ${rule.agentId}, ${rule.name}, ${rule.issuer}, ${rule.audience},
            ${tx.json(rule.conditions as never)}, ${rule.keyLifetimeSeconds}, ${rule.jtiOnce}, ${rule.keysUploaded},
            ${tx.json(jwks as never)}, now(), now(), ${rule.createdBy})
    returning ${columns(tx)}`;
  return row!;
}

export async function updateRule(
  tx: Tx,
  id: string,
  { name, conditions, keyLifetimeSeconds, jtiOnce }: ChangedRule,
  jwks: JwkSet | null,
): Promise<TrustRuleRow> {
  const [row] = await tx<TrustRuleRow[]>`
    update trust_rules set name = ${name}, conditions = ${tx.json(conditions as never)},
           key_lifetime_s = ${keyLifetimeSeconds}, jti_once = ${jtiOnce}, revision = revision + 1
           ${jwks === null ? tx`` : tx`, jwks = ${tx.json(jwks as never)}, keys_read_at = now(), keys_failure = null`}
     where id = ${id} returning ${columns(tx)}`;
  return row!;
}

export async function deleteRule(tx: Tx, id: string): Promise<void> {
  await tx`update trust_rules set deleted_at = now(), jwks = null, revision = revision + 1 where id = ${id}`;
  await tx`delete from trust_rule_used_tokens where rule_id = ${id}`;
}

/** Also ends the runs that were started with them. */
export async function deleteKeysOfRule(tx: Tx, id: string): Promise<void> {
  await tx`delete from trust_rule_keys where rule_id = ${id}`;
  await endRunsOf(tx, 'trust_rule_id', [id]);
}

/**
 * Inserts a key of the rule. Waits for a running change of the rule or deletion of the organization. Returns false when
 * either was committed first.
 */
export async function insertRuleKey(
  tx: Tx,
  { id, revision, keyLifetimeSeconds }: TrustRuleRow,
  tokenHash: Buffer,
): Promise<boolean> {
  const rows = await tx`
    insert into trust_rule_keys (token_hash, rule_id, expires_at)
    select ${tokenHash}, r.id, now() + make_interval(secs => ${keyLifetimeSeconds})
      from trust_rules r join organizations o on o.id = r.org_id
     where r.id = ${id} and r.revision = ${revision} and r.deleted_at is null and o.purge_at is null
       for key share
    returning 1`;
  return rows.length > 0;
}

/** Begins the lifetime of a valid key of the rule again. Returns false when there is none with that hash. */
export async function renewRuleKey(
  tx: Tx,
  { id, revision, keyLifetimeSeconds }: TrustRuleRow,
  tokenHash: Buffer,
): Promise<boolean> {
  const rows = await tx`
    update trust_rule_keys k set expires_at = now() + make_interval(secs => ${keyLifetimeSeconds})
      from (select r.id from trust_rules r join organizations o on o.id = r.org_id
             where r.id = ${id} and r.revision = ${revision} and r.deleted_at is null and o.purge_at is null
               for key share) r
     where k.rule_id = r.id and k.token_hash = ${tokenHash} and k.expires_at > now()
    returning 1`;
  return rows.length > 0;
}

/** False: a token with that `jti` was exchanged by the rule before. */
export async function markTokenUsed(tx: Tx, ruleId: string, jtiHash: Buffer, keptUntil: Date): Promise<boolean> {
  const rows = await tx`
    insert into trust_rule_used_tokens (rule_id, jti_hash, expires_at) values (${ruleId}, ${jtiHash}, ${keptUntil})
    on conflict do nothing returning 1`;
  return rows.length > 0;
}

const NOTE_INTERVAL_S = 5;

export async function noteUse(tx: Tx, id: string): Promise<void> {
  await tx`
    update trust_rules set last_used_at = now()
     where id = ${id} and (last_used_at is null or last_used_at < now() - make_interval(secs => ${NOTE_INTERVAL_S}))`;
}

export async function noteRejection(sql: Sql, id: string, rejection: string): Promise<void> {
  await sql`
    update trust_rules set rejected_at = now(), rejection = ${rejection}
     where id = ${id} and (rejected_at is null or rejected_at < now() - make_interval(secs => ${NOTE_INTERVAL_S}))`;
}

/** True for at most one caller in `intervalS` seconds, over all control planes. */
export async function claimKeyRequest(sql: Sql, id: string, intervalS: number): Promise<boolean> {
  const rows = await sql`
    update trust_rules set keys_attempted_at = now()
     where id = ${id} and not keys_uploaded and deleted_at is null
       and (keys_attempted_at is null or keys_attempted_at <= now() - make_interval(secs => ${intervalS}))
    returning 1`;
  return rows.length > 0;
}

/** Not counted as a change of the rule. */
export async function storeReadKeys(sql: Sql, id: string, outcome: JwkSet | string): Promise<void> {
  if (typeof outcome === 'string') await sql`update trust_rules set keys_failure = ${outcome} where id = ${id}`;
  else
    await sql`
      update trust_rules set jwks = ${sql.json(outcome as never)}, keys_read_at = now(), keys_failure = null
       where id = ${id} and not keys_uploaded and deleted_at is null`;
}

const PRUNE_ROWS_MAX = 10_000;

/** Deletes expired keys, and ids of tokens that have expired since. */
export async function pruneRuleKeys(sql: Sql): Promise<void> {
  await sql`
    delete from trust_rule_keys where token_hash in (
      select token_hash from trust_rule_keys where expires_at < now() order by expires_at
       limit ${PRUNE_ROWS_MAX} for update skip locked)`;
  await sql`
    delete from trust_rule_used_tokens where (rule_id, jti_hash) in (
      select rule_id, jti_hash from trust_rule_used_tokens where expires_at < now() order by expires_at
       limit ${PRUNE_ROWS_MAX} for update skip locked)`;
}

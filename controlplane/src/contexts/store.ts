/** One statement reads all that serves a gateway token: one snapshot, so rows and revision belong together. */

import type { AgentPolicy } from '../agents/policy.js';
import type { Sql } from '../db/sql.js';
import { LIMIT_FIELDS, type OwnLimits } from '../limits/limit-fields.js';
import type { AuthType } from '../providers/custom/provider.js';

interface ResolvedRows {
  /** Invalidations up to this one are visible in the rows. */
  readonly revision: number;
  readonly key: KeyRow | null;
  /** Agents that the reference names within the key's scope; two are enough to know that it is ambiguous. */
  readonly agents: readonly AgentRow[];
}

export interface KeyRow {
  readonly id: string;
  readonly orgId: string;
  readonly scope: 'agent' | 'project' | 'org';
  readonly expiresAtMs: number | null;
}

export interface AgentRow extends OwnLimits {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
  readonly spendMonth: string;
  /** Text: a sum may be above 2^53. */
  readonly spendNanos: string;
  /** The part of it that only the ledger counts. */
  readonly ledgerNanos: number;
  /** Null: everything. */
  readonly policy: AgentPolicy | null;
  readonly accounts: readonly AccountRow[];
  /** Live custom providers of the organization. */
  readonly customSlugs: readonly string[];
}

export interface AccountRow {
  readonly id: string;
  readonly providerSlug: string;
  readonly status: 'active' | 'needs_credentials';
  readonly keyId: string;
  /** Base64, as the two bytea come out of JSON. */
  readonly nonce: string;
  readonly ciphertext: string;
  readonly allowSensitivePaths: boolean;
  readonly custom: CustomRow | null;
}

interface CustomRow {
  readonly slug: string;
  readonly baseUrl: string;
  readonly authType: AuthType;
  readonly authName: string | null;
  readonly authPrefix: string | null;
  readonly usageFormat: 'openai' | 'anthropic' | null;
  readonly sensitivePaths: readonly string[];
}

/** `'field', agent.column, …` */
const limitPairs = (sql: Sql) => sql.unsafe(LIMIT_FIELDS.map((row) => `'${row.field}', agent.${row.column}`).join());

/** `agentRef`: id or slug; `''` = the token's own agent. `agentRefId` is it again where it has the form of an id. */
export async function loadByTokenHash(
  sql: Sql,
  tokenHash: Uint8Array,
  agentRef: string,
  agentRefId: string | null,
): Promise<ResolvedRows> {
  const [row] = await sql<ResolvedRows[]>`
    with key as (
      select id, org_id, project_id, agent_id, scope, expires_at from api_keys
       where token_hash = ${Buffer.from(tokenHash)} and revoked_at is null and (expires_at is null or expires_at > now())
    ), agent as (
      select a.* from key join agents a on a.org_id = key.org_id
       where (key.scope = 'agent' and a.id = key.agent_id)
          or (key.scope = 'org' and (a.id = ${agentRefId}::uuid or a.slug = ${agentRef}))
          or (key.scope = 'project' and a.project_id = key.project_id
              and (a.id = ${agentRefId}::uuid or a.slug = ${agentRef}))
       order by (a.id = ${agentRefId}::uuid) desc nulls last
       limit 2
    ), spend_month as (select to_char(now() at time zone 'UTC', 'YYYY-MM') as month)
    select
      (select coalesce(max(revision), 0) from invalidations) as revision,
      (select jsonb_build_object('id', id, 'orgId', org_id, 'scope', scope,
          'expiresAtMs', floor(extract(epoch from expires_at) * 1000)) from key) as key,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'id', agent.id, 'projectId', agent.project_id, 'name', agent.name, 'slug', agent.slug,
          'status', agent.status, 'policy', agent.policy, ${limitPairs(sql)},
          'spendMonth', (select month from spend_month),
          'spendNanos', coalesce((select spent_nanos from month_spend s, spend_month
                          where s.agent_id = agent.id and s.month = spend_month.month), 0)::text,
          'ledgerNanos', coalesce((select ledger_nanos from month_spend s, spend_month
                          where s.agent_id = agent.id and s.month = spend_month.month), 0),
          'accounts', (select coalesce(jsonb_agg(jsonb_build_object(
              'id', p.id, 'providerSlug', p.provider_slug, 'status', p.status, 'keyId', p.key_id,
              'allowSensitivePaths', p.allow_sensitive_paths,
              'nonce', encode(p.nonce, 'base64'), 'ciphertext', encode(p.ciphertext, 'base64'),
              'custom', case when c.id is null then null else jsonb_build_object(
                'slug', c.slug, 'baseUrl', c.base_url, 'authType', c.auth_type, 'authName', c.auth_name,
                'authPrefix', c.auth_prefix, 'usageFormat', c.usage_format,
                'sensitivePaths', c.sensitive_paths) end) order by p.provider_slug), '[]')
             from provider_accounts p
             left join custom_providers c on c.id = p.custom_provider_id and c.deleted_at is null
            where p.agent_id = agent.id and p.org_id = agent.org_id),
          'customSlugs', (select coalesce(jsonb_agg(slug order by slug), '[]') from custom_providers c
            where c.org_id = agent.org_id and c.deleted_at is null))), '[]')
         from agent) as agents`;
  return row!;
}

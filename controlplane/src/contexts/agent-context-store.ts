/**
 * Reads everything for a batch of gateway tokens in one statement, so that rows and revision come from one snapshot.
 * Each step uses an index that begins with the hash, the agent or the organization, so a large tenant costs only
 * itself. The size of each token's rows is summed up before they are read; tokens beyond {@link BATCH_BYTES_MAX}
 * are left out.
 */

import type { BudgetRowMode, BudgetWindow } from '@acg/base/budget-rows';
import type { AgentPolicy } from '../agents/call-and-model-policy-schema.js';
import { arrayLiteral } from '../db/array-literal.js';
import { planOnce } from '../db/plan-once.js';
import type { Sql } from '../db/postgres-client.js';
import { type ConfiguredLimits, LIMIT_FIELDS, type ScopeBudgets } from '../limits/agent-limit-fields.js';
import type { CustomProvider } from '../providers/custom/custom-provider.js';

export interface TokenQuery {
  /** 32 bytes. */
  readonly tokenHash: Uint8Array;
  /** The value of x-gateway-agent, an id or slug; `''` for the token's own agent. */
  readonly agentRef: string;
  /** Account whose minted credential is needed now. */
  readonly mintAccountId?: string;
  /** Its generation that the provider has rejected; 0 = none. */
  readonly rejectedGeneration?: number;
}

export interface ParsedTokenQuery extends TokenQuery {
  /** The agent reference, lower-case, if it has the form of an id. */
  readonly agentRefId: string | null;
}

export interface ContextRows {
  /** Invalidations up to this revision are visible in the rows. */
  readonly revision: number;
  readonly key: KeyRow | null;
  /** Agents that match the reference within the key's scope; at most two, enough to detect ambiguity. */
  readonly agents: readonly AgentRow[];
}

/** A run of the token, or an ancestor of it. */
interface RunLinkRow {
  readonly id: string;
  readonly budgetCents: number;
  readonly policy: AgentPolicy | null;
  readonly spentNanos: number;
  readonly ledgerNanos: number;
  /** Unix ms. */
  readonly expiresAtMs: number;
}

export interface KeyRow {
  /** Of a run's token: the key that started the run, or the run's own id. */
  readonly id: string;
  /** The run of the token first, its top run last; empty: the token is a key. */
  readonly runs: readonly RunLinkRow[];
  readonly orgId: string;
  readonly scope: 'agent' | 'project' | 'org';
  readonly expiresAtMs: number | null;
}

/** The ledger's month spend of a project or an organization. */
interface ScopeSpendRow {
  readonly scope: 'project' | 'org';
  readonly id: string;
  readonly spentNanos: number;
  readonly ledgerNanos: number;
}

/** A row with the ledger's spend in the current instances of its window. */
export interface ContextBudgetRow {
  readonly id: string;
  readonly scope: 'agent' | 'project' | 'org';
  readonly scopeId: string;
  readonly window: BudgetWindow;
  readonly cents: number;
  readonly mode: BudgetRowMode;
  readonly models: readonly string[];
  readonly tag: string;
  readonly spend: readonly { readonly window: string; readonly spentNanos: number; readonly ledgerNanos: number }[];
  /** Window total: spend of the months before those in `spend`. */
  readonly closedNanos: number;
}

/** What data planes with a cell have spent of a hard budget, by the ledger. */
interface CellSpendRow {
  readonly id: string;
  /** `''`: all windows of a row of all time that are not current. */
  readonly window: string;
  readonly cellNanos: number;
  readonly allCellsNanos: number;
}

export interface AgentRow extends ConfiguredLimits, ScopeBudgets {
  readonly scopes: readonly ScopeSpendRow[];
  /** Of the agent, its project and its organization. */
  readonly budgets: readonly ContextBudgetRow[];
  /** Of the hard budgets and the runs of the token; empty where the data plane has no cell. */
  readonly cellSpend: readonly CellSpendRow[];
  /** Rate limits that are counted and never reject. */
  readonly auditLimits: readonly string[];
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
  readonly spendMonth: string;
  /** As text: a sum may exceed 2^53. */
  readonly spendNanos: string;
  /** The part of it that is counted only by the ledger, not by the data planes' counters, in nano-dollars. */
  readonly ledgerNanos: number;
  readonly budgetMode: 'soft' | 'hard';
  readonly holdMaxOutputTokens: number;
  readonly onStoreLoss: 'allow' | 'refuse' | null;
  /** Null: all calls are allowed. */
  readonly policy: AgentPolicy | null;
  readonly accounts: readonly AccountRow[];
  /** Custom providers of the organization that are not deleted. */
  readonly customSlugs: readonly string[];
}

export interface MintedRow {
  readonly id: string;
  readonly generation: number;
  /** A data plane has received this generation. */
  readonly used: boolean;
  /** This and the next two: null before the first exchange. Base64. */
  readonly keyId: string | null;
  readonly nonce: string | null;
  readonly ciphertext: string | null;
  /** Null: never expires. */
  readonly remainingMs: number | null;
  /** Until the next exchange may begin; null: at any time. -1: a person must act first. */
  readonly retryMs: number | null;
}

export interface AccountRow {
  readonly id: string;
  readonly providerSlug: string;
  readonly status: 'active' | 'needs_credentials';
  /** Null when the account has its own credentials. */
  readonly credentialId: string | null;
  /** Grows with each rotation; null: never rotated. */
  readonly credentialVersion: number | null;
  /** Calls in flight with a smaller version must end; null: none. */
  readonly compromisedBefore: number | null;
  readonly keyId: string;
  /** Base64, because the two bytea columns are returned in JSON. */
  readonly nonce: string;
  readonly ciphertext: string;
  readonly allowSensitivePaths: boolean;
  readonly allowOpaque: boolean;
  /** What the gateway has minted; null: nothing. */
  readonly minted: MintedRow | null;
  /** Null for a built-in provider. */
  readonly customProviderId: string | null;
  /** Null also when the custom provider is deleted. */
  readonly custom: CustomProvider | null;
}

/** `'field', agent.column, …` */
const limitJsonPairs = (sql: Sql) =>
  sql.unsafe(LIMIT_FIELDS.map((row) => `'${row.field}', agent.${row.column}`).join());

/** What {@link AgentRow.cellSpend} holds, of `agent` and the runs of `key`. */
const cellSpendJson = (sql: Sql, cell: string) => sql`(
  select coalesce(jsonb_agg(jsonb_build_object('id', spent.id, 'window', spent.period,
      'cellNanos', spent.cell_nanos, 'allCellsNanos', spent.all_nanos)), '[]')
    from (
      select of.id, case when s.period = any(of.periods) then s.period else '' end as period,
             coalesce(sum(s.spent_nanos) filter (where s.cell = ${cell}), 0)::bigint as cell_nanos,
             sum(s.spent_nanos)::bigint as all_nanos
        from (
          select scope.id, budget_periods('month', now()) as periods, false as is_total
            from (values (agent.id), (agent.project_id), (agent.org_id)) as scope (id)
          union all
          select b.id, budget_periods(b.time_window, now()), b.time_window = 'total' from budgets b
           where b.org_id = agent.org_id and b.scope_id in (agent.id, agent.project_id, agent.org_id) and b.mode = 'hard'
          union all
          select c.id, array['total'], false
            from runs r join runs c on c.id = r.id or c.id = any(r.ancestors) where r.id = key.run_id) as of
        join cell_spend s on s.budget_id = of.id and s.org_id = agent.org_id
                         and (of.is_total or s.period = any(of.periods))
       group by 1, 2) spent)`;

/** A budget row in a batch, without its models: ids, amounts and the spend of its windows. */
const BUDGET_ROW_BYTES = 300;

/**
 * Limit for the stored credentials, addresses, patterns, budget rows and run policies of one batch, in bytes; its last
 * token may exceed it. An ordinary token has a few hundred bytes. A token of a tenant that uses every limit fully has
 * two million, which take a fifth of a second.
 */
const BATCH_BYTES_MAX = 2_097_152;

/**
 * Returns one row for each of the first queries, in order, and always one for the first query. The caller must repeat
 * the others. `enforcesBudgets`: the data plane enforces budget rows, so it may serve runs. `cell`: that of the data
 * plane; `''` = none.
 */
export async function loadContextRows(
  sql: Sql,
  queries: readonly ParsedTokenQuery[],
  enforcesBudgets: boolean,
  cell = '',
): Promise<ContextRows[]> {
  const hashes = arrayLiteral(queries, ({ tokenHash }) => Buffer.from(tokenHash).toString('hex'));
  const refs = arrayLiteral(queries, ({ agentRef }) => agentRef);
  const refIds = arrayLiteral(queries, ({ agentRefId }) => agentRefId);
  return sql<ContextRows[]>`
    with asked as (
      select position, decode(hash, 'hex') as token_hash, ref, ref_id, ${enforcesBudgets}::boolean as enforces_budgets
        from unnest(${hashes}::text::text[], ${refs}::text::text[], ${refIds}::text::uuid[])
             with ordinality as q(hash, ref, ref_id, position)
    ), spend_month as (select to_char(now() at time zone 'UTC', 'YYYY-MM') as month
    ), chosen as materialized (
      select asked.position, key.id, key.org_id, key.scope, key.expires_at, key.run_id, named.agents
        from asked
        left join lateral (
          select k.id, k.org_id, k.scope, k.agent_id, k.project_id, k.expires_at, null::uuid as run_id
            from api_keys k
           where k.token_hash = asked.token_hash and k.revoked_at is null
             and (k.expires_at is null or k.expires_at > now())
          union all
          -- A data plane of the release before does not enforce budgets of runs, so it gets no context of one. A run of
          -- neither a key nor a rule has the id of its top run, so reports by key have no entry for each sub-run.
          select coalesce(k.id, t.id, r.root_id), r.org_id, 'agent', r.agent_id, null, least(r.expires_at, k.expires_at), r.id
            from runs r left join api_keys k on k.id = r.key_id left join trust_rules t on t.id = r.trust_rule_id
           -- end_reason, not ended_at: a plan made while few runs are open would scan an index of all open runs.
           where asked.enforces_budgets and r.token_hash = asked.token_hash
             and r.end_reason is null and r.expires_at > now()
             and (k.id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))
             and t.deleted_at is null
             and not exists (select from runs p where p.id = any(r.ancestors) and p.ended_at is not null)
          union all
          -- All keys of a trust rule have its id, so one invalidation ends them.
          select t.id, t.org_id, 'agent', t.agent_id, t.project_id, x.expires_at, null
            from trust_rule_keys x join trust_rules t on t.id = x.rule_id
           where x.token_hash = asked.token_hash and x.expires_at > now() and t.deleted_at is null
        ) key
          -- A deletion revokes all keys; a control plane of the release before may insert one afterwards.
          on (select purge_at from organizations where id = key.org_id) is null
        left join lateral (
          select array_agg(a.agent order by a.rank) as agents from (
            select * from (
                select a as agent, 1 as rank from agents a
                 where key.scope = 'agent' and a.id = key.agent_id and a.org_id = key.org_id
                union all
                select a, 1 from agents a
                 where key.scope in ('org', 'project') and a.id = asked.ref_id and a.org_id = key.org_id
                   and (key.scope = 'org' or a.project_id = key.project_id)
                union all
                (select a, 2 from agents a
                  where key.scope = 'org' and a.org_id = key.org_id and a.slug = asked.ref
                    and a.id is distinct from asked.ref_id limit 2)
                union all
                select a, 2 from agents a
                 where key.scope = 'project' and a.project_id = key.project_id and a.slug = asked.ref
                   and a.org_id = key.org_id and a.id is distinct from asked.ref_id) a
             order by rank limit 2) a) named on true
    ), weighed as (
      select position, sum(bytes) over (order by position) - bytes as before from (
        select position, (
            select coalesce(sum(octet_length(coalesce(s.ciphertext, p.ciphertext)) + coalesce(
                octet_length(c.base_url) + octet_length(array_to_string(c.sensitive_paths, ''))
                  + coalesce(octet_length(c.definition::text), 0), 0) + coalesce(m.bytes, 0)), 0)
              from provider_accounts p
              left join credentials s on s.id = p.credential_id
              left join custom_providers c on c.id = p.custom_provider_id
              left join lateral (
                select octet_length(ciphertext) as bytes from minted_credentials where account_id = p.id
                union all
                select octet_length(ciphertext) from minted_credentials
                 where credential_id = p.credential_id and (agent_id is null or agent_id = p.agent_id)
                limit 1) m on true
             where p.agent_id in (select id from unnest(chosen.agents)))
          + (select coalesce(sum(${BUDGET_ROW_BYTES} + octet_length(array_to_string(b.models, ''))), 0)
               from unnest(chosen.agents) a
               join budgets b on b.org_id = a.org_id and b.scope_id in (a.id, a.project_id, a.org_id))
          + (select coalesce(sum(octet_length(c.policy::text)), 0)
               from runs r join runs c on c.id = r.id or c.id = any(r.ancestors)
              where r.id = chosen.run_id) as bytes
          from chosen) w
    )
    select
      (select coalesce(max(revision), 0) from invalidations) as revision,
      case when key.id is not null then jsonb_build_object('id', key.id, 'orgId', key.org_id, 'scope', key.scope,
          'expiresAtMs', floor(extract(epoch from key.expires_at) * 1000),
          'runs', (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'budgetCents', c.budget_cents,
              'policy', c.policy, 'spentNanos', s.spent_nanos, 'ledgerNanos', s.ledger_nanos,
              'expiresAtMs', floor(extract(epoch from c.expires_at) * 1000))
              order by cardinality(c.ancestors) desc), '[]')
             from runs r join runs c on c.id = r.id or c.id = any(r.ancestors)
             cross join lateral budget_period_spend(c.org_id, c.id, 'total') s
            where r.id = key.run_id)) end as key,
      (select coalesce(jsonb_agg(jsonb_build_object(
          'id', agent.id, 'projectId', agent.project_id, 'name', agent.name, 'slug', agent.slug,
          'status', agent.status, 'policy', agent.policy, ${limitJsonPairs(sql)},
          'budgetMode', agent.budget_mode, 'holdMaxOutputTokens', agent.hold_max_output_tokens,
          'onStoreLoss', agent.on_store_loss,
          'spendMonth', (select month from spend_month),
          'spendNanos', coalesce((select spent_nanos from month_spend s, spend_month
                          where s.agent_id = agent.id and s.month = spend_month.month), 0)::text,
          'ledgerNanos', coalesce((select ledger_nanos from month_spend s, spend_month
                          where s.agent_id = agent.id and s.month = spend_month.month), 0),
          'projectBudgetCents', (select budget_cents_monthly from projects where id = agent.project_id),
          'orgBudgetCents', (select budget_cents_monthly from organizations where id = agent.org_id),
          'scopes', (select coalesce(jsonb_agg(jsonb_build_object('scope', of.scope, 'id', of.id,
              'spentNanos', s.spent_nanos, 'ledgerNanos', s.ledger_nanos)), '[]')
             from spend_month
             cross join (values ('project', agent.project_id), ('org', agent.org_id)) as of (scope, id)
             cross join lateral scope_month(of.scope, of.id, spend_month.month) s),
          'auditLimits', agent.audit_limits,
          'budgets', (select coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'scope', b.scope, 'scopeId', b.scope_id,
              'window', b.time_window, 'cents', b.cents, 'mode', b.mode, 'models', b.models, 'tag', b.tag,
              'closedNanos', case when b.time_window = 'total' then coalesce((
                select sum(s.spent_nanos) from budget_spend s where s.budget_id = b.id and s.org_id = b.org_id
                   and s.period < all(budget_periods('total', now()))), 0) else 0 end,
              'spend', (select jsonb_agg(jsonb_build_object('window', period, 'spentNanos', s.spent_nanos,
                    'ledgerNanos', s.ledger_nanos))
                  from unnest(budget_periods(b.time_window, now())) as period
                 cross join lateral budget_period_spend(b.org_id, b.id, period) s)) order by b.scope, b.position, b.id), '[]')
             from budgets b
            where b.org_id = agent.org_id and b.scope_id in (agent.id, agent.project_id, agent.org_id)),
          'cellSpend', ${cell === '' ? sql`'[]'::jsonb` : cellSpendJson(sql, cell)},
          'accounts', (select coalesce(jsonb_agg(jsonb_build_object(
              'id', p.id, 'providerSlug', p.provider_slug, 'status', coalesce(s.status, p.status),
              'credentialId', s.id, 'keyId', coalesce(s.key_id, p.key_id),
              'credentialVersion', floor(extract(epoch from
                case when s.id is null then p.rotated_at else s.rotated_at end) * 1000000)::bigint,
              'compromisedBefore', floor(extract(epoch from
                case when s.id is null then p.compromised_before else s.compromised_before end) * 1000000)::bigint,
              'allowSensitivePaths', p.allow_sensitive_paths, 'allowOpaque', p.allow_opaque,
              'customProviderId', p.custom_provider_id,
              'minted', case when m.id is null then null else jsonb_build_object(
                'id', m.id, 'generation', m.generation, 'used', m.used, 'keyId', m.key_id,
                'nonce', encode(m.nonce, 'base64'), 'ciphertext', encode(m.ciphertext, 'base64'),
                'remainingMs', floor(extract(epoch from m.expires_at - now()) * 1000),
                'retryMs', case m.next_attempt_at when '-infinity' then null when 'infinity' then -1
                  else floor(extract(epoch from m.next_attempt_at - now()) * 1000) end) end,
              'nonce', encode(coalesce(s.nonce, p.nonce), 'base64'),
              'ciphertext', encode(coalesce(s.ciphertext, p.ciphertext), 'base64'),
              'custom', case when c.id is null then null else jsonb_build_object(
                'slug', c.slug, 'baseUrl', c.base_url, 'authType', c.auth_type, 'authName', c.auth_name,
                'authPrefix', c.auth_prefix, 'usageFormat', c.usage_format,
                'sensitivePaths', c.sensitive_paths, 'definition', c.definition) end) order by p.provider_slug), '[]')
             from provider_accounts p
             left join credentials s on s.id = p.credential_id
             left join custom_providers c on c.id = p.custom_provider_id and c.deleted_at is null
             left join lateral (
               select * from minted_credentials where account_id = p.id
               union all
               select * from minted_credentials
                where credential_id = p.credential_id and (agent_id is null or agent_id = p.agent_id)
               limit 1) m on true
            where p.agent_id = agent.id and p.org_id = agent.org_id),
          'customSlugs', (select coalesce(jsonb_agg(slug order by slug), '[]') from custom_providers c
            where c.org_id = agent.org_id and c.deleted_at is null)) order by agent.ordinality), '[]')
         from unnest(key.agents) with ordinality as agent) as agents,
      concat(${planOnce(sql, 'end of connection')}) as settings
      from chosen key join weighed using (position)
     where weighed.before <= ${BATCH_BYTES_MAX}
     order by position`;
}

/** One organization with very many agents among many with one: skewed as real tenants are. */
import type { Sql } from '@acg/controlplane/db/sql';

interface TenantSeed {
  readonly bigAgents: number;
  readonly smallOrgs: number;
}

/**
 * Organizations `tenant-0` (the big one) to `tenant-N`, each with a project, agents `agent-1`…, an account for each
 * agent, and tokens `agent-N`, `project-N`, `org-N` (the first for the organization's first agent).
 */
export async function seedTenants(sql: Sql, { bigAgents, smallOrgs }: TenantSeed): Promise<void> {
  await sql`
    with o as (
      insert into organizations (id, name, slug)
      select gen_random_uuid(), 'o', 'tenant-' || n from generate_series(0, ${smallOrgs}) n
      returning id, substr(slug, 8)::int as n),
    p as (
      insert into projects (id, org_id, name, slug) select gen_random_uuid(), id, 'p', 'p' from o returning id, org_id),
    a as (
      insert into agents (id, org_id, project_id, name, slug)
      select gen_random_uuid(), p.org_id, p.id, 'a', 'agent-' || i
        from p join o on o.id = p.org_id
        cross join lateral generate_series(1, case when o.n = 0 then ${bigAgents} else 1 end) i
      returning id, org_id, project_id, slug),
    acc as (
      insert into provider_accounts (id, org_id, agent_id, provider_slug, key_id, nonce, ciphertext)
      select gen_random_uuid(), org_id, id, 'openai', 'k', '', '' from a returning 1),
    more as (
      insert into api_keys (id, org_id, name, scope, token_hash, key_prefix)
      select gen_random_uuid(), o.id, 'k', 'org', sha256(('more-' || i)::bytea), 'acg_'
        from o, generate_series(1, ${bigAgents}) i where o.n = 0 returning 1),
    told as (
      insert into audit_entries (id, org_id, actor_email, action, target_type, target_id, ip, changes)
      select gen_random_uuid(), o.id, 'a@example.com', 'agent.create', 'agent', i::text, '', '{}'
        from o, generate_series(1, ${bigAgents}) i where o.n = 0 returning 1),
    happened as (
      insert into events (id, org_id, event, data, fanned_out_at)
      select gen_random_uuid(), org_id, 'agent.created', json_build_object('agentId', id), now() from a returning 1),
    shared as (
      insert into credentials (id, org_id, name, provider_slug, key_id, nonce, ciphertext)
      select gen_random_uuid(), o.id, 'c', 'openai', 'k', '', ''
        from o cross join lateral generate_series(1, case when o.n = 0 then 1000 else 1 end) i returning 1),
    custom as (
      insert into custom_providers (id, org_id, slug, display_name, base_url, auth_type)
      select gen_random_uuid(), o.id, 'slug-' || i, 'c', 'https://api.example.com', 'bearer'
        from o, generate_series(1, 100) i where o.n = 0 returning 1), -- as many as an organization may have
    w as (
      insert into webhook_endpoints (id, org_id, url, events, key_id, nonce, ciphertext)
      select gen_random_uuid(), id, 'https://hooks.example.com', '{agent.created}', 'k', '', '' from o returning 1),
    first as (select a.*, o.n from a join o on o.id = a.org_id where a.slug = 'agent-1')
    insert into api_keys (id, org_id, name, scope, agent_id, project_id, token_hash, key_prefix)
    select gen_random_uuid(), org_id, 'k', scope, case scope when 'agent' then id end,
           case scope when 'project' then project_id end, sha256((scope || '-' || n)::bytea), 'acg_'
      from first, unnest('{agent,project,org}'::text[]) scope`;
  await sql`analyze`;
}

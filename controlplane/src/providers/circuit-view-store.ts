import type { CircuitStateName } from '../breaker/breaker-state-machine.js';
import type { CircuitReason } from '../breaker/circuit-store.js';
import type { Sql } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

interface CustomProviderAddressRow {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  readonly baseUrl: string;
}

/** The organization's custom providers; at most 100. */
export function loadCustomProviderAddresses(sql: Sql, orgId: string): Promise<CustomProviderAddressRow[]> {
  return sql<CustomProviderAddressRow[]>`
    select id, slug, display_name as "displayName", base_url as "baseUrl" from custom_providers
     where org_id = ${orgId} and deleted_at is null`;
}

interface OrgCircuitRow {
  readonly originKey: string;
  readonly providerSlug: string;
  readonly accounts: number;
  readonly state: CircuitStateName;
  readonly reason: CircuitReason | null;
  readonly since: Date | null;
  readonly openUntil: Date | null;
}

interface OrgCircuitQuery {
  readonly orgId: string;
  /** Built-in providers with one origin: `circuits.origin_key`, independent of the accounts' settings. */
  readonly fixed: readonly { readonly slug: string; readonly key: string }[];
  /** The organization's custom providers by id, each with its `circuits.origin_key`. */
  readonly own: readonly { readonly id: string; readonly key: string }[];
  /** Returns only breakers in this state; null for all. */
  readonly state: CircuitStateName | null;
  /** Returns only breakers of this provider; null for all. */
  readonly providerSlug: string | null;
}

/**
 * Lists one row per breaker of the organization at an origin where it has an account, even if unused; open breakers
 * first. Where the fleet's breaker is open, that breaker is listed instead, because it rejects the calls regardless of
 * the organization's own.
 */
export async function listOrgCircuits(
  sql: Sql,
  { orgId, fixed, own, state, providerSlug }: OrgCircuitQuery,
  page: Page,
): Promise<ListResult<OrgCircuitRow>> {
  const circuits = sql`(
    with used as (
      select coalesce(o.key, f.key, p.circuit_key) as key, p.provider_slug, count(*) as accounts
        from provider_accounts p
        left join unnest(${own.map((one) => one.id)}::uuid[], ${own.map((one) => one.key)}::text[]) as o(id, key)
          on o.id = p.custom_provider_id
        left join unnest(${fixed.map((one) => one.slug)}::text[], ${fixed.map((one) => one.key)}::text[]) as f(slug, key)
          on f.slug = p.provider_slug and p.custom_provider_id is null
       where p.org_id = ${orgId} group by 1, 2)
    select used.*, coalesce(c.state, 'CLOSED') as state, case when c.state = 'OPEN' then c.reason end as reason,
           c.open_until, case when c.epoch > 1 then c.changed_at end as since
      from used
      left join circuits f on f.circuit_key = used.key and f.state = 'OPEN'
      left join circuits c on c.circuit_key = coalesce(f.circuit_key, used.key || '|' || ${orgId}::text)
     where used.key is not null and (${providerSlug}::text is null or used.provider_slug = ${providerSlug})
       and (${state}::text is null or coalesce(c.state, 'CLOSED') = ${state})) as own`;
  const rows = await sql<OrgCircuitRow[]>`
    select own.key as "originKey", provider_slug as "providerSlug", accounts, state, reason, since,
           open_until as "openUntil"
      from ${circuits}
     order by array_position(array['OPEN', 'HALF_OPEN', 'CLOSED'], state), provider_slug, own.key
     limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from ${circuits}`;
  return { rows, total: count!.total };
}

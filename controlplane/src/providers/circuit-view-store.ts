import type { CircuitStateName } from '../breaker/breaker-state-machine.js';
import type { CircuitReason } from '../breaker/circuit-store.js';
import type { Sql } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

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
  /** Origins that all accounts of a built-in provider share: `circuits.origin_key`, independent of the accounts. */
  readonly fixed: readonly { readonly slug: string; readonly key: string }[];
  /** Slugs of the built-in providers whose default origin is among them. */
  readonly fixedDefaults: readonly string[];
  /** The same of the organization's custom providers, by id. */
  readonly own: readonly { readonly id: string; readonly key: string }[];
  /** Returns only breakers in one of these states; null for all. */
  readonly states: readonly CircuitStateName[] | null;
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
  { orgId, fixed, fixedDefaults, own, states, providerSlug }: OrgCircuitQuery,
  page: Page,
): Promise<ListResult<OrgCircuitRow>> {
  const circuits = sql`(
    with account as (
      select id, provider_slug, custom_provider_id, circuit_key, named_circuit_keys from provider_accounts
       where org_id = ${orgId}
    ), used as (
      select key, provider_slug, count(distinct id) as accounts from (
        select id, provider_slug, o.key from account
          join unnest(${own.map((one) => one.id)}::uuid[], ${own.map((one) => one.key)}::text[]) as o(provider, key)
            on o.provider = custom_provider_id
        union all
        select id, provider_slug, f.key from account
          join unnest(${fixed.map((one) => one.slug)}::text[], ${fixed.map((one) => one.key)}::text[]) as f(slug, key)
            on f.slug = provider_slug and custom_provider_id is null
        union all
        select id, provider_slug, circuit_key from account
         where custom_provider_id is not null or provider_slug <> all(${[...fixedDefaults]}::text[])
        union all
        select id, provider_slug, unnest(named_circuit_keys) from account) keys
       group by 1, 2)
    select used.*, coalesce(c.state, 'CLOSED') as state, case when c.state = 'OPEN' then c.reason end as reason,
           c.open_until, case when c.epoch > 1 then c.changed_at end as since
      from used
      left join circuits f on f.circuit_key = used.key and f.state = 'OPEN'
      left join circuits c on c.circuit_key = coalesce(f.circuit_key, used.key || '|' || ${orgId}::text)
     where used.key is not null and (${providerSlug}::text is null or used.provider_slug = ${providerSlug})
       and (${states === null} or coalesce(c.state, 'CLOSED') = any(${[...(states ?? [])]}::text[]))) as own`;
  const rows = await sql<OrgCircuitRow[]>`
    select own.key as "originKey", provider_slug as "providerSlug", accounts, state, reason, since,
           open_until as "openUntil"
      from ${circuits}
     order by array_position(array['OPEN', 'HALF_OPEN', 'CLOSED'], state), provider_slug, own.key
     limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from ${circuits}`;
  return { rows, total: count!.total };
}

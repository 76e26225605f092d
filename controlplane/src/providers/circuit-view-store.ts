import type { CircuitStateName } from '../circuit/state-machine.js';
import type { Sql } from '../db/sql.js';
import type { Listed, Page } from '../http/pagination.js';

interface CustomRow {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  readonly baseUrl: string;
}

/** The organization's own providers; there are at most a hundred. */
export function loadCustom(sql: Sql, orgId: string): Promise<CustomRow[]> {
  return sql<CustomRow[]>`
    select id, slug, display_name as "displayName", base_url as "baseUrl" from custom_providers
     where org_id = ${orgId} and deleted_at is null`;
}

interface OwnCircuitRow {
  readonly circuitKey: string;
  readonly providerSlug: string;
  readonly accounts: number;
  readonly state: CircuitStateName;
  readonly reason: 'error_rate' | 'probe_failed' | null;
  readonly since: Date | null;
  readonly openUntil: Date | null;
}

interface OwnCircuits {
  readonly orgId: string;
  /** Built-in providers with one origin, and its circuit, whatever their accounts were made under. */
  readonly fixed: readonly { readonly slug: string; readonly key: string }[];
  /** The organization's own providers, by id. */
  readonly own: readonly { readonly id: string; readonly key: string }[];
  readonly state: CircuitStateName | null;
}

/** One row for each circuit on which the organization has an account, used or not; those in trouble first. */
export async function listOwnCircuits(
  sql: Sql,
  { orgId, fixed, own, state }: OwnCircuits,
  page: Page,
): Promise<Listed<OwnCircuitRow>> {
  const circuits = sql`(
    with used as (
      select coalesce(o.key, f.key, p.circuit_key) as key, p.provider_slug, count(*) as accounts
        from provider_accounts p
        left join unnest(${own.map((one) => one.id)}::uuid[], ${own.map((one) => one.key)}::text[]) as o(id, key)
          on o.id = p.custom_provider_id
        left join unnest(${fixed.map((one) => one.slug)}::text[], ${fixed.map((one) => one.key)}::text[]) as f(slug, key)
          on f.slug = p.provider_slug and p.custom_provider_id is null
       where p.org_id = ${orgId} group by 1, 2)
    select used.*, coalesce(c.state, 'CLOSED') as state, c.reason, c.open_until,
           case when c.epoch > 1 then c.changed_at end as since
      from used left join circuits c on c.circuit_key = used.key
     where used.key is not null and (${state}::text is null or coalesce(c.state, 'CLOSED') = ${state})) as own`;
  const rows = await sql<OwnCircuitRow[]>`
    select own.key as "circuitKey", provider_slug as "providerSlug", accounts, state, reason, since,
           open_until as "openUntil"
      from ${circuits}
     order by array_position(array['OPEN', 'HALF_OPEN', 'CLOSED'], state), provider_slug, own.key
     limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from ${circuits}`;
  return { rows, total: count!.total };
}

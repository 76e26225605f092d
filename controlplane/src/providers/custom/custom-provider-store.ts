import type { JSONValue, Sql, Tx } from '../../db/postgres-client.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import type { CustomProvider } from './custom-provider.js';

export interface CustomProviderRow extends CustomProvider {
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: Date;
}

export type CustomProviderSettings = Omit<CustomProviderRow, 'id' | 'createdAt'>;

/** Custom providers per organization; every context of the organization lists them. */
export const CUSTOM_PROVIDERS_MAX = 100;

const columns = (sql: Sql | Tx) => sql`
  id, slug, display_name as "displayName", base_url as "baseUrl", auth_type as "authType", auth_name as "authName",
  auth_prefix as "authPrefix", usage_format as "usageFormat", sensitive_paths as "sensitivePaths",
  definition, created_at as "createdAt"`;

export async function listProviders(sql: Sql, orgId: string, page: Page): Promise<ListResult<CustomProviderRow>> {
  const rows = await sql<CustomProviderRow[]>`
    select ${columns(sql)} from custom_providers where org_id = ${orgId} and deleted_at is null
     order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  return { rows, total: await countProviders(sql, orgId) };
}

export async function loadProvider(sql: Sql, orgId: string, slug: string): Promise<CustomProviderRow | null> {
  const [row] = await sql<CustomProviderRow[]>`
    select ${columns(sql)} from custom_providers where org_id = ${orgId} and deleted_at is null and slug = ${slug}`;
  return row ?? null;
}

export async function countProviders(sql: Sql | Tx, orgId: string): Promise<number> {
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from custom_providers where org_id = ${orgId} and deleted_at is null`;
  return count!.total;
}

/** Serialises writers of one organization, so that its providers can be counted. */
export async function lockProvidersOfOrg(tx: Tx, orgId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext(${`custom-providers:${orgId}`}))`;
}

export async function countSensitivePaths(tx: Tx, orgId: string): Promise<number> {
  const [count] = await tx<{ total: number }[]>`
    select coalesce(sum(cardinality(sensitive_paths)
             + coalesce(jsonb_array_length(definition -> 'sensitive'), 0)
             + coalesce(jsonb_array_length(definition -> 'opaque'), 0)), 0)::int8 as total from custom_providers
     where org_id = ${orgId} and deleted_at is null`;
  return count!.total;
}

export async function sumDefinitionBytes(tx: Tx, orgId: string): Promise<number> {
  const [sum] = await tx<{ bytes: number }[]>`
    select coalesce(sum(octet_length(definition::text)), 0)::int8 as bytes from custom_providers
     where org_id = ${orgId} and deleted_at is null`;
  return sum!.bytes;
}

/** Locks the row until the transaction ends: `update` for writers, `share` for readers that depend on it. */
export async function lockProvider(
  tx: Tx,
  orgId: string,
  by: { readonly id: string } | { readonly slug: string },
  mode: 'update' | 'share',
): Promise<CustomProviderRow | null> {
  const match = 'id' in by ? tx`id = ${by.id}` : tx`slug = ${by.slug}`;
  const [row] = await tx<CustomProviderRow[]>`
    select ${columns(tx)} from custom_providers where org_id = ${orgId} and deleted_at is null and ${match}
       for ${mode === 'update' ? tx`update` : tx`share`}`;
  return row ?? null;
}

/** Violates `custom_providers_live_slug` when the slug is already used. */
export async function insertProvider(
  tx: Tx,
  orgId: string,
  provider: CustomProviderSettings & { readonly id: string },
): Promise<CustomProviderRow> {
  const [row] = await tx<CustomProviderRow[]>`
    insert into custom_providers
      (id, org_id, slug, display_name, base_url, auth_type, auth_name, auth_prefix, usage_format, sensitive_paths,
       definition)
    values (${provider.id}, ${orgId}, ${provider.slug}, ${provider.displayName}, ${provider.baseUrl},
            ${provider.authType}, ${provider.authName}, ${provider.authPrefix}, ${provider.usageFormat},
            ${[...provider.sensitivePaths]}::text[], ${jsonOrNull(tx, provider.definition)})
    returning ${columns(tx)}`;
  return row!;
}

export async function updateProvider(
  tx: Tx,
  orgId: string,
  id: string,
  settings: CustomProviderSettings,
): Promise<CustomProviderRow> {
  const [row] = await tx<CustomProviderRow[]>`
    update custom_providers set slug = ${settings.slug}, display_name = ${settings.displayName}, base_url = ${settings.baseUrl},
           auth_type = ${settings.authType}, auth_name = ${settings.authName}, auth_prefix = ${settings.authPrefix},
           usage_format = ${settings.usageFormat}, sensitive_paths = ${[...settings.sensitivePaths]}::text[],
           definition = ${jsonOrNull(tx, settings.definition)}
     where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

const jsonOrNull = (tx: Tx, value: object | null) => (value === null ? null : tx.json(value as JSONValue));

/** Changes the slug in accounts, shared credentials and agents' policies. */
export async function renameProviderOfAccounts(
  tx: Tx,
  orgId: string,
  id: string,
  from: string,
  to: string,
): Promise<void> {
  for (const table of ['provider_accounts', 'credentials']) {
    await tx`update ${tx(table)} set provider_slug = ${to} where org_id = ${orgId} and custom_provider_id = ${id}`;
  }
  await tx`
    update agents set policy = policy - ${from} || jsonb_build_object(${to}::text, policy -> ${from})
     where org_id = ${orgId} and policy ? ${from}`;
}

export async function markProviderDeleted(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`update custom_providers set deleted_at = now() where org_id = ${orgId} and id = ${id}`;
}

/**
 * Updates accounts and shared credentials of a provider whose credentials no longer fit, or fit again because none are
 * needed. A trigger ends their rotations (migration 0250).
 */
export async function setAccountStatus(
  tx: Tx,
  orgId: string,
  providerId: string,
  status: 'active' | 'needs_credentials',
): Promise<void> {
  for (const table of ['provider_accounts', 'credentials']) {
    await tx`
      update ${tx(table)} set status = ${status}, refused_at = null
       where org_id = ${orgId} and custom_provider_id = ${providerId}`;
  }
}

export async function deleteAccountsOfProvider(tx: Tx, orgId: string, providerId: string): Promise<void> {
  await tx`delete from provider_accounts where org_id = ${orgId} and custom_provider_id = ${providerId}`;
  await tx`delete from credentials where org_id = ${orgId} and custom_provider_id = ${providerId}`;
}

import type { Sql, Tx } from '../db/sql.js';
import type { Listed, Page } from '../http/pagination.js';
import type { Sealed } from './vault.js';

export interface AccountRow {
  readonly id: string;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly status: 'active' | 'needs_credentials';
  readonly allowSensitivePaths: boolean;
  readonly createdAt: Date;
}

export interface NewAccount {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly providerSlug: string;
  /** Null: built in. */
  readonly customProviderId: string | null;
  readonly sealed: Sealed;
  /** Null: custom. Tells whom the events of a circuit concern. */
  readonly circuitKey: string | null;
  readonly allowSensitivePaths: boolean;
}

const columns = (sql: Sql | Tx) => sql`
  id, agent_id as "agentId", provider_slug as "providerSlug", status,
  allow_sensitive_paths as "allowSensitivePaths", created_at as "createdAt"`;

/** Only accounts of these; null = whichever. */
export interface AccountFilter {
  readonly agentId: string | null;
  readonly projectId: string | null;
}

export async function listAccounts(
  sql: Sql,
  orgId: string,
  { agentId, projectId }: AccountFilter,
  page: Page,
): Promise<Listed<AccountRow>> {
  const where = sql`
    org_id = ${orgId} and (${agentId}::uuid is null or agent_id = ${agentId})
    ${projectId === null ? sql`` : sql`and agent_id in (select id from agents where project_id = ${projectId})`}`;
  const rows = await sql<AccountRow[]>`
    select ${columns(sql)} from provider_accounts where ${where}
     order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from provider_accounts where ${where}`;
  return { rows, total: count!.total };
}

export async function loadAccount(sql: Sql | Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select ${columns(sql)} from provider_accounts where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** Violates `provider_accounts_agent_id_provider_slug_key` when the agent has one already. */
export async function insertAccount(tx: Tx, account: NewAccount): Promise<AccountRow> {
  const { sealed } = account;
  const [row] = await tx<AccountRow[]>`
    insert into provider_accounts (id, org_id, agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext,
                                   circuit_key, allow_sensitive_paths)
    values (${account.id}, ${account.orgId}, ${account.agentId}, ${account.providerSlug}, ${account.customProviderId},
            ${sealed.keyId}, ${sealed.nonce}, ${sealed.ciphertext}, ${account.circuitKey},
            ${account.allowSensitivePaths})
    returning ${columns(tx)}`;
  return row!;
}

export async function replaceCredentials(
  tx: Tx,
  orgId: string,
  id: string,
  sealed: Sealed,
  circuitKey: string | null,
): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    update provider_accounts set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext},
           circuit_key = ${circuitKey}, status = 'active', rotated_at = now()
     where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function lockAccount(tx: Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    select ${columns(tx)} from provider_accounts where org_id = ${orgId} and id = ${id} for update`;
  return row ?? null;
}

export async function allowSensitivePaths(tx: Tx, orgId: string, id: string, allowed: boolean): Promise<AccountRow> {
  const [row] = await tx<AccountRow[]>`
    update provider_accounts set allow_sensitive_paths = ${allowed} where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

export async function deleteAccount(tx: Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    delete from provider_accounts where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

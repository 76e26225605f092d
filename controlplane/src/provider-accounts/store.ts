import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type MintedColumns, mintedRowColumn } from '../minting/present-minted.js';
import type { AccountCircuitKeys, AccountPermissions } from '../providers/build-upstream.js';
import type { MintMethod } from '../providers/catalogue/mint-method-schema.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import { type RotationColumns, rotationRowColumn } from './rotation-store.js';
import type { AccountStatus } from './schema.js';

export interface AccountRow extends MintedColumns, RotationColumns {
  readonly id: string;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly status: AccountStatus;
  /** Null when the account has its own credentials. */
  readonly credentialId: string | null;
  readonly allowSensitivePaths: boolean;
  readonly allowOpaque: boolean;
  /** To the minute. Null: never. */
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
}

export interface NewAccount {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly providerSlug: string;
  /** Null for a built-in provider. */
  readonly customProviderId: string | null;
  /** Null when the account uses the shared credential. */
  readonly sealed: EncryptedSecret | null;
  readonly credentialId: string | null;
  /** The breakers of the account's calls, which decide who gets their events. */
  readonly circuitKeys: AccountCircuitKeys;
  /** How the credential is minted; null: it is stored, or shared. */
  readonly method: Pick<MintMethod, 'name' | 'kind'> | null;
  readonly allowSensitivePaths: boolean;
  readonly allowOpaque: boolean;
}

/** The status of the shared credential, if the account uses one. */
const effectiveStatus = (sql: Sql | Tx) => sql`
  coalesce((select c.status from credentials c where c.id = provider_accounts.credential_id), status)`;

const columns = (sql: Sql | Tx) => sql`
  id, agent_id as "agentId", provider_slug as "providerSlug", credential_id as "credentialId",
  ${effectiveStatus(sql)} as status,
  coalesce((select c.method from credentials c where c.id = provider_accounts.credential_id), method) as method,
  coalesce((select c.mint_kind from credentials c where c.id = provider_accounts.credential_id), mint_kind)
    as "mintKind",
  ${mintedRowColumn(sql, 'provider_accounts')}, ${rotationRowColumn(sql, 'provider_accounts')},
  allow_sensitive_paths as "allowSensitivePaths", allow_opaque as "allowOpaque", last_used_at as "lastUsedAt",
  created_at as "createdAt"`;

const ORDER = {
  createdAt: { by: 'created_at' },
  agentName: { by: '(select lower(a.name) from agents a where a.id = agent_id)', text: true },
  providerSlug: { by: 'provider_slug', text: true },
  lastUsedAt: { by: 'last_used_at', nullable: true },
} as const;

/** Null fields do not filter. */
export interface AccountFilter extends Sorting<keyof typeof ORDER> {
  readonly agentId: string | null;
  readonly projectId: string | null;
  readonly status: AccountRow['status'] | null;
  /** Id of a shared credential. */
  readonly credentialId: string | null;
  readonly providerSlug: string | null;
}

interface ListedAccountRow extends AccountRow {
  readonly agentName: string;
}

export async function listAccounts(
  sql: Sql,
  orgId: string,
  { agentId, projectId, status, credentialId, providerSlug, ...sorting }: AccountFilter,
  page: Page,
): Promise<ListResult<ListedAccountRow>> {
  const where = sql`
    org_id = ${orgId} and (${agentId}::uuid is null or agent_id = ${agentId})
    ${projectId === null ? sql`` : sql`and agent_id in (select id from agents where project_id = ${projectId})`}
    ${status === null ? sql`` : sql`and ${effectiveStatus(sql)} = ${status}`}
    ${credentialId === null ? sql`` : sql`and credential_id = ${credentialId}`}
    ${providerSlug === null ? sql`` : sql`and provider_slug = ${providerSlug}`}`;
  const rows = await sql<ListedAccountRow[]>`
    select ${columns(sql)}, ${agentNameColumn(sql)}
      from provider_accounts where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from provider_accounts where ${where}`;
  return { rows, total: count!.total };
}

const agentNameColumn = (sql: Sql) => sql`(select name from agents where agents.id = agent_id) as "agentName"`;

export async function loadListedAccount(sql: Sql, orgId: string, id: string): Promise<ListedAccountRow | null> {
  const [row] = await sql<ListedAccountRow[]>`
    select ${columns(sql)}, ${agentNameColumn(sql)} from provider_accounts where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

export async function loadAccount(sql: Sql | Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select ${columns(sql)} from provider_accounts where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** Throws a violation of `provider_accounts_agent_id_provider_slug_key` when the agent already has such an account. */
export async function insertAccount(tx: Tx, account: NewAccount): Promise<AccountRow> {
  const { sealed } = account;
  const [row] = await tx<AccountRow[]>`
    insert into provider_accounts (id, org_id, agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext,
                                   credential_id, circuit_key, named_circuit_keys, allow_sensitive_paths,
                                   allow_opaque, method, mint_kind)
    values (${account.id}, ${account.orgId}, ${account.agentId}, ${account.providerSlug}, ${account.customProviderId},
            ${sealed?.keyId ?? null}, ${sealed?.nonce ?? null}, ${sealed?.ciphertext ?? null}, ${account.credentialId},
            ${account.circuitKeys.circuitKey}, ${[...account.circuitKeys.namedCircuitKeys]}::text[],
            ${account.allowSensitivePaths}, ${account.allowOpaque}, ${account.method?.name ?? null},
            ${account.method?.kind ?? null})
    returning ${columns(tx)}`;
  return row!;
}

export async function replaceCredentials(
  tx: Tx,
  orgId: string,
  id: string,
  sealed: EncryptedSecret,
  { circuitKey, namedCircuitKeys }: AccountCircuitKeys,
  method: NewAccount['method'],
): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    update provider_accounts set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext},
           circuit_key = ${circuitKey}, named_circuit_keys = ${[...namedCircuitKeys]}::text[], status = 'active', refused_at = null, rotated_at = now(),
           method = ${method?.name ?? null}, mint_kind = ${method?.kind ?? null}
     where org_id = ${orgId} and id = ${id} and credential_id is null
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function lockAccount(tx: Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    select ${columns(tx)} from provider_accounts where org_id = ${orgId} and id = ${id} for update`;
  return row ?? null;
}

export async function setPermissions(
  tx: Tx,
  orgId: string,
  id: string,
  { allowSensitivePaths, allowOpaque }: AccountPermissions,
): Promise<AccountRow> {
  const [row] = await tx<AccountRow[]>`
    update provider_accounts set allow_sensitive_paths = ${allowSensitivePaths}, allow_opaque = ${allowOpaque}
     where org_id = ${orgId} and id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

/** Encrypted credentials of an account or of a shared credential. */
export interface EncryptedCredential {
  /** Id of the account; null when the shared credential is read on its own. */
  readonly id: string | null;
  readonly credentialId: string | null;
  readonly agentId: string | null;
  readonly providerSlug: string;
  readonly keyId: string;
  /** Base64, as `decryptCredentials` expects. */
  readonly nonce: string;
  readonly ciphertext: string;
  /** False: stored for another host or with other fields than the provider has now. */
  readonly isUsable: boolean;
  /** It is in use: the provider has not rejected it either. */
  readonly isActive: boolean;
}

const encryptedColumns = (sql: Sql | Tx) => sql`
  key_id as "keyId", encode(nonce, 'base64') as nonce, encode(ciphertext, 'base64') as ciphertext,
  (status = 'active' or refused_at is not null) as "isUsable", status = 'active' as "isActive"`;

/** Loads the shared credential, if the account uses one. */
export async function loadEncryptedCredential(
  sql: Sql | Tx,
  orgId: string,
  id: string,
): Promise<EncryptedCredential | null> {
  const [account] = await sql<EncryptedCredential[]>`
    select id, credential_id as "credentialId", agent_id as "agentId", provider_slug as "providerSlug",
           ${encryptedColumns(sql)}
      from provider_accounts where org_id = ${orgId} and id = ${id}`;
  if (account === undefined) return null;
  if (account.credentialId === null) return account;
  const shared = await loadEncryptedSharedCredential(sql, orgId, account.credentialId);
  return shared === null ? null : { ...shared, id: account.id, agentId: account.agentId };
}

export async function loadEncryptedSharedCredential(
  sql: Sql | Tx,
  orgId: string,
  id: string,
): Promise<EncryptedCredential | null> {
  const [row] = await sql<EncryptedCredential[]>`
    select null as id, id as "credentialId", null as "agentId", provider_slug as "providerSlug", ${encryptedColumns(sql)}
      from credentials where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/**
 * Claims credentials of all organizations that were rejected and are due for a retest, oldest test first: credentials
 * of accounts, or shared ones.
 */
export async function claimDueRetests(
  sql: Sql,
  table: 'provider_accounts' | 'credentials',
  { olderThanMs, limit, perOrg }: { olderThanMs: number; limit: number; perOrg: number },
): Promise<readonly { readonly id: string; readonly orgId: string }[]> {
  const isDue = sql`refused_at < now() - ${olderThanMs} * interval '1 millisecond'`;
  return sql<{ id: string; orgId: string }[]>`
    update ${sql(table)} set refused_at = now()
     where id in (select id from ${sql(table)}
                   where ${isDue} and id = any(array(
                     select id from (select id, refused_at, row_number() over (partition by org_id order by refused_at) as nth
                                       from ${sql(table)} where ${isDue}) due
                      where nth <= ${perOrg} order by nth, refused_at limit ${limit}))
                     for update skip locked)
    returning id, org_id as "orgId"`;
}

/** Returns false when nothing has changed, or the credential was replaced meanwhile. */
export async function recordTestOutcome(
  tx: Tx,
  orgId: string,
  sealed: EncryptedCredential,
  refused: boolean,
): Promise<boolean> {
  const [table, id] =
    sealed.credentialId === null ? ['provider_accounts', sealed.id] : ['credentials', sealed.credentialId];
  const sameCredential = tx`org_id = ${orgId} and id = ${id} and nonce = decode(${sealed.nonce}, 'base64')`;
  const rows = refused
    ? await tx`update ${tx(table!)} set status = 'needs_credentials', refused_at = now()
                where ${sameCredential} and status = 'active' returning 1`
    : await tx`update ${tx(table!)} set status = 'active', refused_at = null
                where ${sameCredential} and refused_at is not null returning 1`;
  return rows.length > 0;
}

export async function deleteAccount(tx: Tx, orgId: string, id: string): Promise<AccountRow | null> {
  const [row] = await tx<AccountRow[]>`
    delete from provider_accounts where org_id = ${orgId} and id = ${id} returning ${columns(tx)}`;
  return row ?? null;
}

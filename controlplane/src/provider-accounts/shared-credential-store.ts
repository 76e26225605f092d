import { orderBy, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { type MintedColumns, mintedRowColumn } from '../minting/present-minted.js';
import type { AccountCircuitKeys } from '../providers/build-upstream.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import { type RotationColumns, rotationRowColumn } from './rotation-store.js';
import type { AccountStatus } from './schema.js';
import type { NewAccount } from './store.js';

export interface SharedCredentialRow extends MintedColumns, RotationColumns {
  readonly id: string;
  readonly name: string;
  readonly providerSlug: string;
  /** Null: for agents of all projects. */
  readonly projectId: string | null;
  readonly status: AccountStatus;
  readonly accounts: number;
  readonly createdAt: Date;
  readonly rotatedAt: Date | null;
}

const columns = (sql: Sql | Tx) => sql`
  id, name, provider_slug as "providerSlug", project_id as "projectId", status,
  (select count(*) from provider_accounts p where p.credential_id = credentials.id) as accounts,
  method, mint_kind as "mintKind", ${mintedRowColumn(sql, 'credentials')}, ${rotationRowColumn(sql, 'credentials')},
  created_at as "createdAt", rotated_at as "rotatedAt"`;

const ORDER = {
  createdAt: { by: 'created_at' },
  name: { by: 'lower(name)', text: true },
  providerSlug: { by: 'provider_slug', text: true },
  accounts: { by: 'accounts' },
  rotatedAt: { by: 'rotated_at', nullable: true },
} as const;

/** Null fields do not filter. */
export interface SharedCredentialFilter extends Sorting<keyof typeof ORDER> {
  readonly projectId: string | null;
  readonly providerSlug: string | null;
  readonly status: AccountStatus | null;
  /** Part of the name, case-insensitive. */
  readonly search: string | null;
}

export async function listSharedCredentials(
  sql: Sql,
  orgId: string,
  { projectId, providerSlug, status, search, ...sorting }: SharedCredentialFilter,
  page: Page,
): Promise<ListResult<SharedCredentialRow>> {
  const where = sql`
    org_id = ${orgId} and (${projectId}::uuid is null or project_id = ${projectId})
    and (${providerSlug}::text is null or provider_slug = ${providerSlug})
    and (${status}::text is null or status = ${status})
    and (${search}::text is null or strpos(lower(name), lower(${search})) > 0)`;
  const rows = await sql<SharedCredentialRow[]>`
    select ${columns(sql)} from credentials where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from credentials where ${where}`;
  return { rows, total: count!.total };
}

export async function loadSharedCredential(
  sql: Sql | Tx,
  orgId: string,
  id: string,
): Promise<SharedCredentialRow | null> {
  const [row] = await sql<SharedCredentialRow[]>`
    select ${columns(sql)} from credentials where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/**
 * Locks the credential until the transaction ends: `update` for writers, `share` for accounts that are created with it.
 */
export async function lockSharedCredential(
  tx: Tx,
  orgId: string,
  id: string,
  mode: 'update' | 'share',
): Promise<(SharedCredentialRow & AccountCircuitKeys) | null> {
  const [row] = await tx<(SharedCredentialRow & AccountCircuitKeys)[]>`
    select ${columns(tx)}, circuit_key as "circuitKey", named_circuit_keys as "namedCircuitKeys" from credentials
     where org_id = ${orgId} and id = ${id} for ${mode === 'update' ? tx`update` : tx`share`}`;
  return row ?? null;
}

/** Serializes writers of one organization with an advisory lock, and counts its credentials. */
export async function lockAndCountSharedCredentials(tx: Tx, orgId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtext(${`credentials:${orgId}`}))`;
  const [row] = await tx<{ total: number }[]>`select count(*) as total from credentials where org_id = ${orgId}`;
  return row!.total;
}

export interface NewSharedCredential {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string | null;
  readonly name: string;
  readonly providerSlug: string;
  readonly customProviderId: string | null;
  readonly sealed: EncryptedSecret;
  readonly method: NewAccount['method'];
  readonly circuitKeys: AccountCircuitKeys;
}

export async function insertSharedCredential(tx: Tx, credential: NewSharedCredential): Promise<SharedCredentialRow> {
  const { sealed } = credential;
  const [row] = await tx<SharedCredentialRow[]>`
    insert into credentials (id, org_id, project_id, name, provider_slug, custom_provider_id, key_id, nonce, ciphertext,
                             circuit_key, named_circuit_keys, method, mint_kind)
    values (${credential.id}, ${credential.orgId}, ${credential.projectId}, ${credential.name}, ${credential.providerSlug}, ${credential.customProviderId},
            ${sealed.keyId}, ${sealed.nonce}, ${sealed.ciphertext}, ${credential.circuitKeys.circuitKey},
            ${[...credential.circuitKeys.namedCircuitKeys]}::text[], ${credential.method?.name ?? null},
            ${credential.method?.kind ?? null})
    returning ${columns(tx)}`;
  return row!;
}

export async function renameSharedCredential(tx: Tx, id: string, name: string): Promise<SharedCredentialRow> {
  const [row] = await tx<
    SharedCredentialRow[]
  >`update credentials set name = ${name} where id = ${id} returning ${columns(tx)}`;
  return row!;
}

/**
 * Also sets the circuit key of the accounts that use the credential, so that their next calls count for the new
 * breaker.
 */
export async function replaceSharedCredential(
  tx: Tx,
  id: string,
  sealed: EncryptedSecret,
  { circuitKey, namedCircuitKeys }: AccountCircuitKeys,
  method: NewAccount['method'],
): Promise<SharedCredentialRow> {
  const keys = tx`circuit_key = ${circuitKey}, named_circuit_keys = ${[...namedCircuitKeys]}::text[]`;
  await tx`update provider_accounts set ${keys}, rotated_at = now() where credential_id = ${id}`;
  const [row] = await tx<SharedCredentialRow[]>`
    update credentials set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext},
           ${keys}, method = ${method?.name ?? null}, mint_kind = ${method?.kind ?? null}, status = 'active', refused_at = null, rotated_at = now()
     where id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

export async function deleteSharedCredential(tx: Tx, id: string): Promise<void> {
  await tx`delete from credentials where id = ${id}`;
}

const LISTED_AGENTS_MAX = 200;

/**
 * Lists the agents with an account that uses the credential. Null: more than {@link LISTED_AGENTS_MAX}, too many to
 * invalidate one by one.
 */
export async function listAgentsUsing(tx: Tx, id: string): Promise<readonly string[] | null> {
  const rows = await tx<{ agentId: string }[]>`
    select agent_id as "agentId" from provider_accounts where credential_id = ${id} limit ${LISTED_AGENTS_MAX + 1}`;
  return rows.length > LISTED_AGENTS_MAX ? null : rows.map((row) => row.agentId);
}

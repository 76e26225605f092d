/** Rows of OAuth grants: the refresh tokens of accounts that a person has connected. */
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { DiscoveredServer } from './discovered-server.js';
import type { MintOwner } from './minted-credential-store.js';

/** Where the grant was given, found by discovery. */
export interface GrantServer {
  readonly server: DiscoveredServer;
  /** The client that the gateway has registered there; null: it has registered none. */
  readonly registrationId: string | null;
}

interface GrantRow extends EncryptedSecret {
  readonly id: string;
  /** Null: the provider's file states the endpoints. */
  readonly server: DiscoveredServer | null;
  readonly registrationId: string | null;
}

type GrantOwner = Pick<MintOwner, 'orgId' | 'accountId' | 'credentialId'>;

const isOwner = (sql: Sql | Tx, { orgId, accountId, credentialId }: GrantOwner) =>
  accountId === null
    ? sql`org_id = ${orgId} and credential_id = ${credentialId}`
    : sql`org_id = ${orgId} and account_id = ${accountId}`;

export async function loadGrant(sql: Sql | Tx, owner: GrantOwner): Promise<GrantRow | null> {
  const [row] = await sql<GrantRow[]>`
    select id, key_id as "keyId", nonce, ciphertext, server, registration_id as "registrationId"
      from oauth_grants where ${isOwner(sql, owner)}`;
  return row ?? null;
}

export async function deleteGrant(tx: Tx, owner: GrantOwner): Promise<void> {
  await tx`delete from oauth_grants where ${isOwner(tx, owner)}`;
}

/** `encrypt` gets the id of the new row. */
export async function insertGrant(
  tx: Tx,
  owner: GrantOwner,
  connectedBy: string,
  found: GrantServer | null,
  encrypt: (id: string) => EncryptedSecret,
): Promise<void> {
  const id = uuidv7(Date.now());
  const { keyId, nonce, ciphertext } = encrypt(id);
  await tx`
    insert into oauth_grants (id, org_id, account_id, credential_id, key_id, nonce, ciphertext, connected_by, server,
                              registration_id)
    values (${id}, ${owner.orgId}, ${owner.accountId}, ${owner.credentialId}, ${keyId}, ${nonce}, ${ciphertext},
            ${connectedBy}, ${found === null ? null : tx.json({ ...found.server })}, ${found?.registrationId ?? null})`;
}

/** Stores a new refresh token of the same grant. */
export async function updateGrant(tx: Tx, id: string, { keyId, nonce, ciphertext }: EncryptedSecret): Promise<void> {
  await tx`update oauth_grants set key_id = ${keyId}, nonce = ${nonce}, ciphertext = ${ciphertext} where id = ${id}`;
}

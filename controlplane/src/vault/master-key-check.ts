/**
 * Stops the start when MASTER_KEYS cannot decrypt the stored secrets, before anything is written with them. For each
 * key id ever used one known text is stored encrypted. A different key under the same id fails to decrypt it.
 */
import type { Sql } from '../db/postgres-client.js';
import { DecryptionError, type SecretIdentity, type Vault } from './aes-gcm-vault.js';
import { ENCRYPTED_TABLES } from './encrypted-tables.js';

/** `message` is one line that says what to set. */
class MasterKeyError extends Error {
  constructor(problem: string) {
    super(`MASTER_KEYS: ${problem}`);
    this.name = 'MasterKeyError';
  }
}

const KNOWN_TEXT = 'agent credential gateway';
const checkIdentity = (keyId: string): SecretIdentity => ({ purpose: 'check', orgId: '', id: keyId });

/** Throws {@link MasterKeyError}. Safe when several instances start at the same time. */
export async function checkMasterKeys(sql: Sql, vault: Vault): Promise<void> {
  for (const { name } of ENCRYPTED_TABLES) {
    const [missing] = await sql<{ keyId: string; count: number }[]>`
      select key_id as "keyId", count(*) as count from ${sql(name)}
       where key_id <> all(${[...vault.keyIds]}::text[]) group by key_id limit 1`;
    if (missing === undefined) continue;
    throw new MasterKeyError(
      `the key ${missing.keyId} is missing, and ${missing.count} stored secrets need it: add it after the other keys`,
    );
  }
  for (const keyId of vault.keyIds) await checkMasterKey(sql, vault, keyId);
}

async function checkMasterKey(sql: Sql, vault: Vault, keyId: string): Promise<void> {
  const { nonce, ciphertext } = vault.encrypt(checkIdentity(keyId), KNOWN_TEXT, keyId);
  await sql`
    insert into master_key_checks (key_id, nonce, ciphertext) values (${keyId}, ${nonce}, ${ciphertext})
    on conflict (key_id) do nothing`;
  const [row] = await sql<{ nonce: Buffer; ciphertext: Buffer }[]>`
    select nonce, ciphertext from master_key_checks where key_id = ${keyId}`;
  try {
    vault.decrypt(checkIdentity(keyId), { keyId, ...row! });
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    throw new MasterKeyError(`${keyId} is not the key that was used under this id: set the original key`);
  }
}

/**
 * Re-encrypts all secrets with the first key of the ring, while the gateway runs. Uses small transactions. Rows locked
 * by other writers are left for the next round, so the rotation delays no request and overwrites no change.
 */
import type { Sql, Tx } from '../db/postgres-client.js';
import { DecryptionError, type EncryptedSecret, type SecretIdentity, type Vault } from './aes-gcm-vault.js';
import { ENCRYPTED_TABLES, type EncryptedTable } from './encrypted-tables.js';

const ROWS_PER_BATCH = 200;
/** Consecutive rounds that found only locked rows; each is followed by a wait of {@link BUSY_WAIT_MS}. */
const BUSY_ROUNDS_MAX = 300;
const BUSY_WAIT_MS = 100;

interface EncryptedRow {
  readonly id: string;
  readonly orgId: string;
  readonly keyId: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

interface ReencryptionResult {
  /** Re-encrypted rows, by table. */
  readonly written: Readonly<Record<string, number>>;
  /** `table id` of rows that no key decrypts, because they are damaged or were altered. They are left unchanged. */
  readonly unreadable: readonly string[];
}

export async function reencryptAll(sql: Sql, vault: Vault): Promise<ReencryptionResult> {
  const written: Record<string, number> = {};
  const unreadable: string[] = [];
  for (const table of ENCRYPTED_TABLES) {
    const skipped: string[] = [];
    written[table.name] = await reencryptTable(sql, vault, table, skipped);
    unreadable.push(...skipped.map((id) => `${table.name} ${id}`));
  }
  return { written, unreadable };
}

/** Returns the number of re-encrypted rows. Adds the ids of rows that do not decrypt to `skipped`. */
async function reencryptTable(sql: Sql, vault: Vault, table: EncryptedTable, skipped: string[]): Promise<number> {
  let written = 0;
  for (let busyRounds = 0; ; ) {
    const before = skipped.length;
    const count = await sql.begin((tx) => reencryptBatch(tx, vault, table, skipped));
    written += count;
    if (count > 0 || skipped.length > before) {
      busyRounds = 0;
      continue;
    }
    const left = await countOutdatedRows(sql, vault, table, skipped);
    if (left === 0) return written;
    if (++busyRounds > BUSY_ROUNDS_MAX)
      throw new Error(`${left} rows of ${table.name} stay locked by other writers: run the rotation again`);
    await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
  }
}

async function reencryptBatch(tx: Tx, vault: Vault, table: EncryptedTable, skipped: string[]): Promise<number> {
  const { name, purpose } = table;
  const rows = await tx<EncryptedRow[]>`
    select id, org_id as "orgId", key_id as "keyId", nonce, ciphertext from ${tx(name)}
     where key_id <> ${vault.currentKeyId} and id <> all(${skipped}::uuid[])
     limit ${ROWS_PER_BATCH} for no key update skip locked`;
  let written = 0;
  for (const row of rows) {
    const identity = { purpose, orgId: row.orgId, id: row.id };
    const sealed = reencryptSecret(vault, identity, row);
    if (sealed === null) {
      skipped.push(row.id);
      continue;
    }
    await tx`
      update ${tx(name)} set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext}
       where id = ${row.id}`;
    written++;
  }
  return written;
}

function reencryptSecret(vault: Vault, identity: SecretIdentity, row: EncryptedRow): EncryptedSecret | null {
  try {
    return vault.encrypt(identity, vault.decrypt(identity, row));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

async function countOutdatedRows(
  sql: Sql,
  vault: Vault,
  { name }: EncryptedTable,
  skipped: readonly string[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) as count from ${sql(name)}
     where key_id <> ${vault.currentKeyId} and id <> all(${[...skipped]}::uuid[])`;
  return row!.count;
}

/**
 * Encrypts everything anew with the first key of the ring, while the gateway runs. Small transactions; a row that
 * somebody else is writing is left for the next round, so nobody waits for the rotation and it overwrites nothing.
 */
import type { Sql, Tx } from '../db/sql.js';
import { ENCRYPTED_TABLES, type EncryptedTable } from './encrypted-tables.js';
import { DecryptionError, type EncryptedSecret, type SecretIdentity, type Vault } from './vault.js';

const ROWS_PER_BATCH = 200;
/** Rounds that found only rows in use, one after the other; each waits a little. */
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
  /** Rows written anew, by table. */
  readonly written: Readonly<Record<string, number>>;
  /** `table id` of rows that no key opens: damaged or meddled with. They were left as they are. */
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

/** `skipped` collects the ids of rows that do not decrypt. */
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
    if (++busyRounds > BUSY_ROUNDS_MAX) throw new Error(`${left} rows of ${table.name} stay in use: run it again`);
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

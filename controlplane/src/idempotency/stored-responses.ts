import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql, Tx } from '../db/postgres-client.js';

const STORED_RESPONSE_LIFETIME_S = 86_400;

export interface IdempotencyKeyIdentity {
  readonly orgId: string;
  /** Id of the user or of the management token. */
  readonly actorId: string;
  readonly keyHash: Buffer;
}

export interface StoredResponse {
  readonly salt: Buffer;
  readonly fingerprint: Buffer;
  readonly secretHashes: readonly Buffer[];
  readonly status: number;
  readonly body: string;
}

/** Locks the key until the transaction ends; false while another request with that key is in progress. */
export async function tryLockIdempotencyKey(
  tx: Tx,
  { orgId, actorId, keyHash }: IdempotencyKeyIdentity,
): Promise<boolean> {
  const name = `idempotency:${orgId}:${actorId}:${keyHash.toString('hex')}`;
  const [row] = await tx<{ got: boolean }[]>`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as got`;
  return row!.got;
}

export async function loadStoredResponse(
  tx: Tx,
  { orgId, actorId, keyHash }: IdempotencyKeyIdentity,
): Promise<StoredResponse | null> {
  const [row] = await tx<StoredResponse[]>`
    select salt, fingerprint, secret_hashes as "secretHashes", status, body from idempotency_keys
     where org_id = ${orgId} and actor_id = ${actorId} and key_hash = ${keyHash}
       and created_at > now() - make_interval(secs => ${STORED_RESPONSE_LIFETIME_S})`;
  return row ?? null;
}

/** Whether the transaction has written something or locked a row. */
export async function hasTransactionWritten(tx: Tx): Promise<boolean> {
  const [row] = await tx<{ written: boolean }[]>`select pg_current_xact_id_if_assigned() is not null as written`;
  return row!.written;
}

/** Replaces an expired response of the same key. */
export async function storeResponse(
  tx: Tx,
  { orgId, actorId, keyHash }: IdempotencyKeyIdentity,
  response: StoredResponse,
): Promise<void> {
  const hashes = `{${response.secretHashes.map((hash) => `"\\\\x${hash.toString('hex')}"`).join(',')}}`;
  await tx`
    delete from idempotency_keys where org_id = ${orgId} and actor_id = ${actorId} and key_hash = ${keyHash}`;
  await tx`
    insert into idempotency_keys (org_id, actor_id, key_hash, salt, fingerprint, secret_hashes, status, body)
    values (${orgId}, ${actorId}, ${keyHash}, ${response.salt}, ${response.fingerprint}, ${hashes}::text::bytea[],
            ${response.status}, ${response.body})`;
}

export function pruneStoredResponses(sql: Sql): Promise<void> {
  return deleteInBatches(async () => {
    const deleted = await sql`
      delete from idempotency_keys where (org_id, actor_id, key_hash) in (
        select org_id, actor_id, key_hash from idempotency_keys
         where created_at < now() - make_interval(secs => ${STORED_RESPONSE_LIFETIME_S}) limit ${ROWS_PER_BATCH} for update skip locked)`;
    return deleted.count;
  });
}

import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql, Tx } from '../db/sql.js';

const STORED_RESPONSE_LIFETIME_S = 86_400;

export interface IdempotencyKeyIdentity {
  readonly orgId: string;
  /** Of the user or the management token. */
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

/** Until the transaction ends; false while another call with that key runs. */
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

/** Something, or a lock on a row. */
export async function hasTransactionWritten(tx: Tx): Promise<boolean> {
  const [row] = await tx<{ written: boolean }[]>`select pg_current_xact_id_if_assigned() is not null as written`;
  return row!.written;
}

/** One that is over its time gives way. */
export async function storeResponse(
  tx: Tx,
  { orgId, actorId, keyHash }: IdempotencyKeyIdentity,
  answer: StoredResponse,
): Promise<void> {
  const hashes = `{${answer.secretHashes.map((hash) => `"\\\\x${hash.toString('hex')}"`).join(',')}}`;
  await tx`
    delete from idempotency_keys where org_id = ${orgId} and actor_id = ${actorId} and key_hash = ${keyHash}`;
  await tx`
    insert into idempotency_keys (org_id, actor_id, key_hash, salt, fingerprint, secret_hashes, status, body)
    values (${orgId}, ${actorId}, ${keyHash}, ${answer.salt}, ${answer.fingerprint}, ${hashes}::text::bytea[],
            ${answer.status}, ${answer.body})`;
}

export function pruneStoredResponses(sql: Sql): Promise<void> {
  return deleteInBatches(async () => {
    const gone = await sql`
      delete from idempotency_keys where (org_id, actor_id, key_hash) in (
        select org_id, actor_id, key_hash from idempotency_keys
         where created_at < now() - make_interval(secs => ${STORED_RESPONSE_LIFETIME_S}) limit ${ROWS_PER_BATCH} for update skip locked)`;
    return gone.count;
  });
}

import type { Sql, Tx } from '../../db/postgres-client.js';
import type { EncryptedSecret } from '../../vault/aes-gcm-vault.js';

/** How long after a code of the second factor the session counts as confirmed. */
const CONFIRMATION_S = 10 * 60;

export interface SecondFactorRow extends EncryptedSecret {
  /** The step of the newest accepted code. */
  readonly lastStep: number;
  /** Null: waits for its first code. */
  readonly confirmedAt: Date | null;
}

export async function loadSecondFactor(sql: Sql | Tx, userId: string): Promise<SecondFactorRow | null> {
  const [row] = await sql<SecondFactorRow[]>`
    select key_id as "keyId", nonce, ciphertext, last_step::float8 as "lastStep", confirmed_at as "confirmedAt"
      from second_factors where user_id = ${userId}`;
  return row ?? null;
}

/** Replaces a secret that waits for its first code. Returns false when the account has a confirmed one. */
export async function replacePendingSecret(tx: Tx, userId: string, sealed: EncryptedSecret): Promise<boolean> {
  const rows = await tx`
    insert into second_factors (user_id, key_id, nonce, ciphertext)
    values (${userId}, ${sealed.keyId}, ${sealed.nonce}, ${sealed.ciphertext})
    on conflict (user_id) do update set key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext,
           last_step = -1, created_at = now()
     where second_factors.confirmed_at is null returning 1`;
  return rows.length === 1;
}

/**
 * Accepts a step once, of the secret with that nonce. False: another request was faster, or the secret was replaced.
 */
export async function acceptStep(sql: Sql | Tx, userId: string, nonce: Buffer, step: number): Promise<boolean> {
  const rows = await sql`
    update second_factors set last_step = ${step}
     where user_id = ${userId} and nonce = ${nonce} and last_step < ${step} returning 1`;
  return rows.length === 1;
}

/** Returns false when it is confirmed already. */
export async function confirmSecondFactor(tx: Tx, userId: string): Promise<boolean> {
  const rows = await tx`
    update second_factors set confirmed_at = now() where user_id = ${userId} and confirmed_at is null returning 1`;
  return rows.length === 1;
}

/** Deletes the recovery codes, too. Returns false when there was none. */
export async function deleteSecondFactor(tx: Tx, userId: string): Promise<boolean> {
  await tx`delete from recovery_codes where user_id = ${userId}`;
  return (await tx`delete from second_factors where user_id = ${userId} returning 1`).length === 1;
}

export async function replaceRecoveryCodes(tx: Tx, userId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx`delete from recovery_codes where user_id = ${userId}`;
  for (const hash of hashes) await tx`insert into recovery_codes (user_id, code_hash) values (${userId}, ${hash})`;
}

/** Deletes the code. Returns false when it is unknown or used. */
export async function useRecoveryCode(tx: Tx, userId: string, hash: Buffer): Promise<boolean> {
  return (
    (await tx`delete from recovery_codes where user_id = ${userId} and code_hash = ${hash} returning 1`).length === 1
  );
}

export async function countRecoveryCodes(sql: Sql | Tx, userId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from recovery_codes where user_id = ${userId}`;
  return row!.total;
}

export async function markSessionConfirmed(sql: Sql | Tx, sessionId: string): Promise<void> {
  await sql`update sessions set factor_at = now() where id = ${sessionId}`;
}

/** Whether the account has a second factor that was not verified in that session recently. */
export async function needsConfirmation(sql: Sql | Tx, userId: string, sessionId: string | null): Promise<boolean> {
  const rows = await sql`
    select 1 from second_factors where user_id = ${userId} and confirmed_at is not null
       and not exists (select from sessions where id = ${sessionId} and user_id = ${userId}
                          and factor_at > now() - make_interval(secs => ${CONFIRMATION_S}))`;
  return rows.length === 1;
}

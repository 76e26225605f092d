/**
 * Rows of the issuer's keys. All times are those of the database. A key is published from its creation on, signs from
 * `active_from` on until its successor does, and stays published for a day after that.
 */
import type { JWK } from 'jose';
import type { JSONValue, Sql, Tx } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';

/** A key signs this long, days. Its successor is published one day before. */
const SIGNING_DAYS = 30;
const PUBLISHED_AHEAD_DAYS = 1;
const PUBLISHED_AFTER_DAYS = 1;

export interface IssuerKeyRow {
  readonly id: string;
  readonly publicJwk: JWK;
  readonly state: 'next' | 'signing' | 'former';
  readonly createdAt: Date;
  /** Null: the key is pending until an admin activates it. */
  readonly activeFrom: Date | null;
}

/** Keys that verifiers may need, newest first. */
export async function listPublishedKeys(sql: Sql | Tx, orgId: string): Promise<readonly IssuerKeyRow[]> {
  return sql<IssuerKeyRow[]>`
    select id, public_jwk as "publicJwk", created_at as "createdAt", nullif(active_from, 'infinity') as "activeFrom",
           case when active_from > now() then 'next' when coalesce(successor, 'infinity') > now() then 'signing'
                else 'former' end as state
      from (select *, lead(active_from) over (order by active_from, id) as successor
              from issuer_keys where org_id = ${orgId}) keys
     where coalesce(successor, 'infinity') > now() - make_interval(days => ${PUBLISHED_AFTER_DAYS})
     order by active_from desc, id desc`;
}

interface SealedKey {
  readonly id: string;
  readonly keyId: string;
  readonly nonce: Buffer;
  readonly ciphertext: Buffer;
}

/** The key that signs now; null: the organization has none. */
export async function loadSigningKey(sql: Sql, orgId: string): Promise<SealedKey | null> {
  const [row] = await sql<SealedKey[]>`
    select id, key_id as "keyId", nonce, ciphertext from issuer_keys
     where org_id = ${orgId} and active_from <= now() order by active_from desc, id desc limit 1`;
  return row ?? null;
}

export interface RotationState {
  readonly manual: boolean;
  readonly hasKey: boolean;
  readonly hasNext: boolean;
  /** Number of published keys. */
  readonly published: number;
}

/** Null: there is no such organization. */
export async function loadRotationState(sql: Sql | Tx, orgId: string): Promise<RotationState | null> {
  const [row] = await sql<{ manual: boolean }[]>`
    select issuer_manual_rotation as manual from organizations where id = ${orgId}`;
  if (row === undefined) return null;
  const keys = await listPublishedKeys(sql, orgId);
  const hasNext = keys.some(({ state }) => state === 'next');
  return { manual: row.manual, hasKey: keys.length > 0, hasNext, published: keys.length };
}

/** Locks the organization's keys until the transaction ends. Null: the organization does not exist. */
export async function lockKeys(tx: Tx, orgId: string): Promise<RotationState | null> {
  await tx`select pg_advisory_xact_lock(hashtext(${`issuer-keys:${orgId}`}))`;
  return loadRotationState(tx, orgId);
}

interface NewKey {
  readonly id: string;
  readonly publicJwk: JWK;
  readonly sealed: EncryptedSecret;
  /** `now`: the first key. `published`: a day later. `activated`: when an admin activates it. */
  readonly signs: 'now' | 'published' | 'activated';
}

export async function insertKey(tx: Tx, orgId: string, { id, publicJwk, sealed, signs }: NewKey): Promise<void> {
  const activeFrom = {
    now: tx`now()`,
    published: tx`now() + make_interval(days => ${PUBLISHED_AHEAD_DAYS})`,
    activated: tx`'infinity'`,
  }[signs];
  await tx`
    insert into issuer_keys (id, org_id, public_jwk, key_id, nonce, ciphertext, active_from)
    values (${id}, ${orgId}, ${tx.json(publicJwk as JSONValue)}, ${sealed.keyId}, ${sealed.nonce},
            ${sealed.ciphertext}, ${activeFrom})`;
}

/** Returns false when the key does not wait for its activation. */
export async function activateKey(tx: Tx, orgId: string, id: string): Promise<boolean> {
  const rows = await tx`
    update issuer_keys set active_from = now()
     where org_id = ${orgId} and id = ${id} and active_from = 'infinity' returning id`;
  return rows.length > 0;
}

/** Returns false when nothing changes. A pending key waits for an admin, or signs a day after the change. */
export async function setManualRotation(tx: Tx, orgId: string, manual: boolean): Promise<boolean> {
  const rows = await tx`
    update organizations set issuer_manual_rotation = ${manual}
     where id = ${orgId} and issuer_manual_rotation <> ${manual} returning id`;
  if (rows.length === 0) return false;
  await tx`
    update issuer_keys
       set active_from = case when ${manual} then 'infinity' else now() + make_interval(days => ${PUBLISHED_AHEAD_DAYS}) end
     where org_id = ${orgId} and active_from > now()`;
  return true;
}

export async function hasManualRotation(sql: Sql, orgId: string): Promise<boolean> {
  const [row] = await sql<{ manual: boolean }[]>`
    select issuer_manual_rotation as manual from organizations where id = ${orgId}`;
  return row?.manual ?? false;
}

/** Organizations whose newest key is about to have signed for {@link SIGNING_DAYS}. */
export async function listDueRotations(sql: Sql, limit: number): Promise<readonly string[]> {
  const rows = await sql<{ orgId: string }[]>`
    select org_id as "orgId" from issuer_keys group by org_id
    having max(active_from) < now() - make_interval(days => ${SIGNING_DAYS - PUBLISHED_AHEAD_DAYS})
     order by random() limit ${limit}`;
  return rows.map((row) => row.orgId);
}

/** Deletes keys that are not published any more. */
export async function pruneKeys(sql: Sql): Promise<void> {
  await sql`
    delete from issuer_keys k
     where exists (select from issuer_keys later
                    where later.org_id = k.org_id and (later.active_from, later.id) > (k.active_from, k.id)
                      and later.active_from < now() - make_interval(days => ${PUBLISHED_AFTER_DAYS}))`;
}

/** Null: the organization has no such agent. */
export async function loadProjectId(sql: Sql, orgId: string, agentId: string): Promise<string | null> {
  const [row] = await sql<{ projectId: string }[]>`
    select project_id as "projectId" from agents where org_id = ${orgId} and id = ${agentId}`;
  return row?.projectId ?? null;
}

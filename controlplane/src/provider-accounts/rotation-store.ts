/** Rows of rotations with overlap: at most one of each account and shared credential. */
import type { Sql, Tx } from '../db/postgres-client.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { Invalidation } from '../watch/publish-invalidations.js';
import type { RotationState, RotationView } from './rotation-schema.js';

/** An account with its own credential, or a shared credential. */
export interface RotationOwner {
  readonly kind: 'account' | 'credential';
  readonly orgId: string;
  readonly id: string;
}

/** The previous credential is deleted at the latest then, seconds after the new one came into use. */
export const RETIRE_SECONDS_MAX = 86_400;

const ownerColumn = (sql: Sql | Tx, { kind }: Pick<RotationOwner, 'kind'>) =>
  sql(kind === 'account' ? 'account_id' : 'credential_id');

interface RotationColumn {
  readonly state: RotationState;
  readonly startedAt: string;
  readonly testStatus: number | null;
  readonly problem: string | null;
  readonly nextTestAt: string | null;
  readonly switchedAt: string | null;
  readonly keepUntil: string | null;
  readonly retiresBy: string | null;
  readonly calls: number | null;
  readonly endedAt: string | null;
  readonly compromised: boolean;
}

export interface RotationColumns {
  /** Null: there was no rotation. */
  readonly rotationRow: RotationColumn | null;
}

/** The column `rotationRow` of a query over one of the two tables. */
export const rotationRowColumn = (sql: Sql | Tx, table: 'provider_accounts' | 'credentials') => sql`
  (select jsonb_build_object(
            'state', r.state, 'startedAt', r.started_at, 'testStatus', r.test_status, 'problem', r.problem,
            'nextTestAt', case when r.state = 'testing' and r.attempts > 0 then r.next_test_at end,
            'switchedAt', r.switched_at,
            'keepUntil', case when r.state = 'retiring' then r.switched_at + r.keep_seconds * interval '1 second' end,
            'retiresBy', case when r.state = 'retiring' then r.switched_at + greatest(r.keep_seconds, ${RETIRE_SECONDS_MAX}) * interval '1 second' end,
            'calls', (select case when r.state <> 'retiring' or count(*) = 0 or count(*) > count(u.calls) then null
                                  else sum(u.calls) end
                        from credential_rotation_uses u where u.rotation_id = r.id),
            'endedAt', r.ended_at, 'compromised', r.compromised)
     from credential_rotations r
    where ${
      table === 'credentials'
        ? sql`r.credential_id = credentials.id`
        : sql`r.account_id = provider_accounts.id or r.credential_id = provider_accounts.credential_id`
    } limit 1) as "rotationRow"`;

export function presentRotation({ rotationRow: row }: RotationColumns): RotationView | null {
  if (row === null) return null;
  const toIso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString());
  return {
    state: row.state,
    startedAt: toIso(row.startedAt)!,
    testStatus: row.testStatus,
    problem: row.problem,
    nextTestAt: toIso(row.nextTestAt),
    inUseSince: toIso(row.switchedAt),
    keepUntil: toIso(row.keepUntil),
    retiresBy: toIso(row.retiresBy),
    callsInFlight: row.calls,
    endedAt: toIso(row.endedAt),
    compromised: row.compromised,
  };
}

export interface RotationRow {
  readonly id: string;
  readonly orgId: string;
  readonly accountId: string | null;
  readonly credentialId: string | null;
  readonly state: RotationState;
  /** This and the next two: null unless the state is testing or retiring. */
  readonly keyId: string | null;
  readonly nonce: Buffer | null;
  readonly ciphertext: Buffer | null;
  readonly attempts: number;
  readonly startedLongAgo: boolean;
  /** No other change has replaced the owner's credential since the switch. */
  readonly isOwnersPresent: boolean;
}

/** How long a credential that the provider cannot answer for is tested again and again, seconds. */
const TEST_SECONDS_MAX = 86_400;

const rotationColumns = (sql: Sql | Tx) => sql`
  r.id, r.org_id as "orgId", r.account_id as "accountId", r.credential_id as "credentialId", r.state,
  r.key_id as "keyId", r.nonce, r.ciphertext, r.attempts,
  r.started_at < now() - ${TEST_SECONDS_MAX} * interval '1 second' as "startedLongAgo",
  coalesce(r.switched_at = (select rotated_at from provider_accounts where id = r.account_id
                            union all select rotated_at from credentials where id = r.credential_id), false)
    as "isOwnersPresent"`;

export async function loadRotation(sql: Sql | Tx, owner: RotationOwner): Promise<RotationRow | null> {
  const [row] = await sql<RotationRow[]>`
    select ${rotationColumns(sql)} from credential_rotations r
     where r.org_id = ${owner.orgId} and ${ownerColumn(sql, owner)} = ${owner.id}`;
  return row ?? null;
}

/** Locks the rotation if it has that state. The owner's row must be locked before. */
export async function lockRotation(tx: Tx, id: string, state: RotationState): Promise<RotationRow | null> {
  const [row] = await tx<RotationRow[]>`
    select ${rotationColumns(tx)} from credential_rotations r where r.id = ${id} and r.state = ${state} for update of r`;
  return row ?? null;
}

/** Forgets a rotation with its secret, where the owner's credential is replaced by other means. */
export async function deleteRotation(tx: Tx, owner: Pick<RotationOwner, 'kind' | 'id'>): Promise<void> {
  await tx`delete from credential_rotations where ${ownerColumn(tx, owner)} = ${owner.id}`;
}

export async function insertRotation(
  tx: Tx,
  id: string,
  { kind, orgId, id: ownerId }: RotationOwner,
  { keyId, nonce, ciphertext }: EncryptedSecret,
  keepSeconds: number,
): Promise<void> {
  const [accountId, credentialId] = kind === 'account' ? [ownerId, null] : [null, ownerId];
  await tx`
    insert into credential_rotations (id, org_id, account_id, credential_id, state, key_id, nonce, ciphertext,
                                      keep_seconds, next_test_at)
    values (${id}, ${orgId}, ${accountId}::uuid, ${credentialId}::uuid, 'testing', ${keyId}, ${nonce}, ${ciphertext},
            ${keepSeconds}, now())`;
}

const TEST_LEASE_SECONDS = 30;

/** Claims credentials that are due for a test, a few of each organization. A dead claimer's rows are due again later. */
export async function claimDueTests(
  sql: Sql,
  { limit, perOrg }: { limit: number; perOrg: number },
): Promise<readonly RotationRow[]> {
  return sql<RotationRow[]>`
    update credential_rotations r
       set next_test_at = now() + ${TEST_LEASE_SECONDS} * interval '1 second', attempts = r.attempts + 1
     where r.id in (select id from credential_rotations
                   where state = 'testing' and next_test_at <= now() and id = any(array(
                     select id from (select id, next_test_at, row_number() over (partition by org_id order by next_test_at) as nth
                                       from credential_rotations where state = 'testing' and next_test_at <= now()) due
                      where nth <= ${perOrg} order by nth, next_test_at limit ${limit}))
                     for update skip locked)
    returning ${rotationColumns(sql)}`;
}

const RETEST_SECONDS_MIN = 5;
const RETEST_SECONDS_MAX = 300;

interface TestOutcome {
  readonly status: number | null;
  readonly problem: string | null;
}

/** The provider gave no usable answer: the next test waits twice as long each time, up to 5 minutes. */
export async function postponeTest(tx: Tx, id: string, { status, problem }: TestOutcome): Promise<void> {
  await tx`
    update credential_rotations
       set test_status = ${status}, problem = ${problem},
           next_test_at = now() + least(${RETEST_SECONDS_MAX}, ${RETEST_SECONDS_MIN} * 2 ^ least(attempts - 1, 10)) * interval '1 second'
     where id = ${id} and state = 'testing'`;
}

/** Ends the rotation and deletes the secret that it holds. */
export async function endRotation(
  tx: Tx,
  id: string,
  state: Exclude<RotationState, 'testing' | 'retiring'>,
  { status, problem, compromised = false }: Partial<TestOutcome> & { readonly compromised?: boolean } = {},
): Promise<void> {
  await tx`
    update credential_rotations
       set state = ${state}, key_id = null, nonce = null, ciphertext = null, next_test_at = null, ended_at = now(),
           compromised = compromised or ${compromised},
           test_status = ${status === undefined ? tx`test_status` : status},
           problem = ${problem === undefined ? tx`problem` : problem}
     where id = ${id}`;
  await tx`delete from credential_rotation_uses where rotation_id = ${id}`;
}

/**
 * The new credential is in use from this transaction on. `former` is the previous one; null: it is not kept. Every
 * connected data plane must report that it no longer uses the previous one.
 */
export async function switchToNewCredential(
  tx: Tx,
  id: string,
  former: EncryptedSecret | null,
  status: number | null,
  compromised: boolean,
): Promise<void> {
  await tx`
    update credential_rotations
       set state = ${former === null ? 'retired' : 'retiring'}, key_id = ${former?.keyId ?? null},
           nonce = ${former?.nonce ?? null}, ciphertext = ${former?.ciphertext ?? null}, next_test_at = null,
           switched_at = now(), ended_at = ${former === null ? tx`now()` : null}, test_status = ${status}, problem = null,
           compromised = ${compromised}
     where id = ${id}`;
  if (former === null) return;
  await tx`
    insert into credential_rotation_uses (rotation_id, data_plane_id)
    select ${id}, id from data_planes where seen_at > now() - interval '1 minute'`;
}

/** Rows whose previous credential has no call in flight, or that have waited long enough. */
export async function listRetirable(sql: Sql, limit: number): Promise<readonly RotationRow[]> {
  return sql<RotationRow[]>`
    select ${rotationColumns(sql)} from credential_rotations r
     where r.state = 'retiring' and r.switched_at + r.keep_seconds * interval '1 second' <= now()
       and (r.switched_at + ${RETIRE_SECONDS_MAX} * interval '1 second' <= now()
            -- While the owner is out of use, no call uses the previous one, and a later test may restore it.
            or (exists (select from provider_accounts where id = r.account_id and status = 'active'
                        union all select from credentials where id = r.credential_id and status = 'active')
                and not exists (select from credential_rotation_uses u
                             where u.rotation_id = r.id and u.calls is distinct from 0)
                -- A data plane that was away during the switch may have calls, too.
                and not exists (select from data_planes p where p.seen_at > now() - interval '1 minute' and not exists (
                      select from credential_rotation_uses u where u.rotation_id = r.id and u.data_plane_id = p.id))))
     order by r.switched_at limit ${limit}`;
}

/**
 * The invalidations of a credential that was replaced, so that calls in flight with a previous one end: it is compromised.
 */
export async function endFormerCalls(
  tx: Tx,
  { kind, id }: Pick<RotationOwner, 'kind' | 'id'>,
  stale: readonly Invalidation[],
): Promise<readonly Invalidation[]> {
  const [row] = await tx<{ version: number }[]>`
    update ${tx(kind === 'account' ? 'provider_accounts' : 'credentials')} set compromised_before = rotated_at
     where id = ${id} returning floor(extract(epoch from rotated_at) * 1000000)::bigint as version`;
  return stale.map((one) => ({ ...one, endsSessions: true, compromised: { id, version: row!.version } }));
}

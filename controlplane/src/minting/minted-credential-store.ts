/** Rows of minted credentials. All times are those of the database, so clocks of control planes do not matter. */
import { uuidv7 } from '@acg/base/uuidv7';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { CustomProvider } from '../providers/custom/custom-provider.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { MintFailureCode } from './mint-failure.js';

/** Whose credential is minted. */
export interface MintOwner {
  readonly orgId: string;
  /** Null: a shared credential. */
  readonly accountId: string | null;
  readonly credentialId: string | null;
  /** Null, unless the provider sees the agent in the token of a shared credential. */
  readonly agentId: string | null;
}

/** Beyond the timeouts of the two requests that an exchange makes at most. */
const LEASE_MS = 30_000;
/** The provider rejects minted credentials at most this often before their time. */
const FORCED_INTERVAL_MS = 60_000;

export interface MintState {
  /** Milliseconds until the credential expires; null: there is none. `Infinity`: never. */
  readonly remainingMs: number | null;
  /** Milliseconds until the next exchange may begin; 0: now. */
  readonly retryMs: number;
  readonly generation: number;
  readonly failure: MintFailureCode | null;
  /** An exchange is under way. */
  readonly isLeased: boolean;
}

interface StateRow {
  readonly hasToken: boolean;
  readonly remainingMs: number | null;
  readonly retryMs: number;
  readonly generation: number;
  readonly failure: MintFailureCode | null;
  readonly isLeased: boolean;
}

export async function loadState(sql: Sql | Tx, id: string): Promise<MintState | null> {
  const [row] = await sql<StateRow[]>`
    select ciphertext is not null as "hasToken", floor(extract(epoch from expires_at - now()) * 1000) as "remainingMs",
           case next_attempt_at when '-infinity' then 0 when 'infinity' then 60000
                else floor(extract(epoch from next_attempt_at - now()) * 1000) end as "retryMs", generation, failure,
           lease_until > now() as "isLeased"
      from minted_credentials where id = ${id}`;
  if (row === undefined) return null;
  const { hasToken, remainingMs, retryMs, ...others } = row;
  const remaining = !hasToken ? null : (remainingMs ?? Number.POSITIVE_INFINITY);
  return {
    ...others,
    remainingMs: remaining !== null && remaining > 0 ? remaining : null,
    retryMs: Math.max(0, retryMs),
  };
}

export async function findRow(
  sql: Sql,
  { orgId, accountId, credentialId, agentId }: MintOwner,
): Promise<{ readonly id: string; readonly generation: number } | null> {
  const owner = accountId === null ? sql`credential_id = ${credentialId}` : sql`account_id = ${accountId}`;
  const [row] = await sql<{ id: string; generation: number }[]>`
    select id, generation from minted_credentials
     where org_id = ${orgId} and ${owner} and agent_id is not distinct from ${agentId}::uuid`;
  return row ?? null;
}

interface SealedRow {
  readonly id: string;
  readonly keyId: string | null;
  /** Base64. */
  readonly nonce: string | null;
  readonly ciphertext: string | null;
}

/** What is minted for the owner and has not expired. */
export async function loadMinted(sql: Sql, owner: MintOwner): Promise<SealedRow | null> {
  const known = await findRow(sql, owner);
  const [row] = await sql<SealedRow[]>`
    select id, key_id as "keyId", encode(nonce, 'base64') as nonce, encode(ciphertext, 'base64') as ciphertext
      from minted_credentials where id = ${known?.id ?? null}::uuid and coalesce(expires_at, 'infinity') > now()`;
  return row ?? null;
}

/** The row of the owner, created where it is missing. Null: the account or credential has been deleted. */
export async function findOrCreateRow(sql: Sql, owner: MintOwner): Promise<string | null> {
  const { orgId, accountId, credentialId, agentId } = owner;
  const known = await findRow(sql, owner);
  if (known !== null) return known.id;
  await sql`
    insert into minted_credentials (id, org_id, account_id, credential_id, agent_id)
    select ${uuidv7(Date.now())}, ${orgId}, ${accountId}::uuid, ${credentialId}::uuid, ${agentId}::uuid
     where exists (select from provider_accounts where org_id = ${orgId} and id = ${accountId}::uuid)
        or exists (select from credentials where org_id = ${orgId} and id = ${credentialId}::uuid)
    on conflict do nothing`;
  return (await findRow(sql, owner))?.id ?? null;
}

/** The credential is about to expire, so an exchange that may end the grant costs nothing any more. */
const LAST_MOMENT_MS = 20_000;
const isLastMoment = (sql: Sql | Tx) =>
  sql`coalesce(expires_at, '-infinity') <= now() + ${LAST_MOMENT_MS} * interval '1 millisecond'`;

export interface Claim {
  readonly fence: number;
  /** When the exchange began, as text of the database. */
  readonly claimedAt: string;
}

/**
 * Claims the row for one exchange. Null: another control plane is at it, the credential is fresh, or the next attempt is
 * not due. `rejectedGeneration`: the provider rejected that generation; 0 = none.
 */
export async function claim(sql: Sql, id: string, rejectedGeneration: number): Promise<Claim | null> {
  const [row] = await sql<Claim[]>`
    update minted_credentials
       set fence = nextval('minted_generations'), lease_until = now() + ${LEASE_MS} * interval '1 millisecond',
           -- Generation 0 is that of a row without a credential: its first exchange is not caused by a rejection.
           rejected_at = case when nullif(${rejectedGeneration}::bigint, 0) = generation then now() else rejected_at end
     where id = ${id} and lease_until < now() and next_attempt_at <= now()
       -- An exchange whose process has died had perhaps an answer.
       and (not strict or lease_until = '-infinity' or ${isLastMoment(sql)})
       and (ciphertext is null or expires_at <= now() or (refresh_at <= now() and used)
            or (generation = ${rejectedGeneration}::bigint
                and coalesce(rejected_at, '-infinity') < now() - ${FORCED_INTERVAL_MS} * interval '1 millisecond'))
    returning fence, now()::text as "claimedAt"`;
  return row ?? null;
}

export interface MintSource {
  readonly orgId: string;
  readonly accountId: string | null;
  readonly credentialId: string | null;
  readonly agentId: string | null;
  /** The agent of an account that is not shared. */
  readonly subjectAgentId: string | null;
  readonly providerSlug: string;
  readonly customProviderId: string | null;
  /** Null also when the custom provider is deleted. */
  readonly custom: CustomProvider | null;
  readonly keyId: string;
  /** Base64. */
  readonly nonce: string;
  readonly ciphertext: string;
  readonly isUsable: boolean;
}

const sourceColumns = (sql: Sql) => sql`
  s.provider_slug as "providerSlug", s.custom_provider_id as "customProviderId", s.key_id as "keyId",
  encode(s.nonce, 'base64') as nonce, encode(s.ciphertext, 'base64') as ciphertext,
  (s.status = 'active' or s.refused_at is not null) as "isUsable",
  case when c.id is null then null else jsonb_build_object(
    'slug', c.slug, 'baseUrl', c.base_url, 'authType', c.auth_type, 'authName', c.auth_name,
    'authPrefix', c.auth_prefix, 'usageFormat', c.usage_format,
    'sensitivePaths', c.sensitive_paths, 'definition', c.definition) end as custom`;

/** What the row is minted from. Null: the row is gone. */
export async function loadSource(sql: Sql, id: string): Promise<MintSource | null> {
  const [row] = await sql<MintSource[]>`
    select m.org_id as "orgId", m.account_id as "accountId", m.credential_id as "credentialId", m.agent_id as "agentId",
           s.agent_id as "subjectAgentId", ${sourceColumns(sql)}
      from minted_credentials m
      join lateral (
        select agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext, status, refused_at
          from provider_accounts where id = m.account_id and ciphertext is not null
        union all
        select null, provider_slug, custom_provider_id, key_id, nonce, ciphertext, status, refused_at
          from credentials where id = m.credential_id) s on true
      left join custom_providers c on c.id = s.custom_provider_id and c.deleted_at is null
     where m.id = ${id}`;
  return row ?? null;
}

/** The same for an owner that may have no row yet. Null: it has no credentials of its own. */
export async function loadOwner(sql: Sql, { orgId, accountId, credentialId }: MintOwner): Promise<MintSource | null> {
  const table = accountId === null ? 'credentials' : 'provider_accounts';
  const [row] = await sql<MintSource[]>`
    select s.org_id as "orgId", ${accountId}::uuid as "accountId", ${credentialId}::uuid as "credentialId",
           null as "agentId", ${accountId === null ? sql`null::uuid` : sql`s.agent_id`} as "subjectAgentId",
           ${sourceColumns(sql)}
      from ${sql(table)} s
      left join custom_providers c on c.id = s.custom_provider_id and c.deleted_at is null
     where s.org_id = ${orgId} and s.id = ${accountId ?? credentialId} and s.ciphertext is not null`;
  return row ?? null;
}

/** Returns false when the owner is gone, or its credentials were replaced since `nonce` (base64) was read. */
export async function lockSource(
  tx: Tx,
  { orgId, accountId, credentialId }: MintOwner,
  nonce: string,
): Promise<boolean> {
  const table = accountId === null ? 'credentials' : 'provider_accounts';
  const rows = await tx`
    select from ${tx(table)} where org_id = ${orgId} and id = ${accountId ?? credentialId}
       and nonce = decode(${nonce}, 'base64') for update`;
  return rows.length > 0;
}

export async function databaseTime(sql: Sql): Promise<string> {
  const [row] = await sql<{ now: string }[]>`select now()::text as now`;
  return row!.now;
}

interface NewToken {
  readonly sealed: EncryptedSecret;
  /** Until data planes stop to use it, ms after the claim; null: never. */
  readonly usableMs: number | null;
  /** Until the refresh, ms after the claim; null: none in advance. */
  readonly refreshMs: number | null;
  readonly scope: string | null;
  /** The provider ends the grant when its former refresh token is used again. */
  readonly strict: boolean;
}

/**
 * Stores what was minted, if the claim is still the newest. Returns whether an event had named a failure; null: the claim
 * is not the newest any more, and nothing was stored.
 */
export async function storeToken(
  tx: Tx,
  id: string,
  { fence, claimedAt }: Claim,
  { sealed, usableMs, refreshMs, scope, strict }: NewToken,
): Promise<{ readonly wasReported: boolean } | null> {
  const after = (delayMs: number | null) =>
    delayMs === null ? tx`null` : tx`${claimedAt}::timestamptz + ${Math.floor(delayMs)} * interval '1 millisecond'`;
  const [row] = await tx<{ wasReported: boolean }[]>`
    update minted_credentials m
       set key_id = ${sealed.keyId}, nonce = ${sealed.nonce}, ciphertext = ${sealed.ciphertext}, scope = ${scope},
           generation = nextval('minted_generations'), minted_at = now(), expires_at = ${after(usableMs)},
           refresh_at = ${after(refreshMs)}, strict = ${strict}, used = false, lease_until = '-infinity', failure = null,
           failure_detail = null, failed_at = null, failures = 0, next_attempt_at = '-infinity', reported = false
      from (select reported from minted_credentials where id = ${id} for update) before
     where m.id = ${id} and m.fence = ${fence}
    returning before.reported as "wasReported"`;
  return row ?? null;
}

interface FailedAttempt {
  readonly code: MintFailureCode;
  readonly detail: string | null;
  readonly retryAfterMs: number;
  /** False: no attempt until a person acts. */
  readonly retries: boolean;
}

const BACKOFF_MS_MIN = 5_000;
const BACKOFF_MS_MAX = 900_000;
/** Failures in a row from which on an event names them although the former credential is still valid. */
const REPORTED_FAILURES = 3;

/** Records a failed exchange. Returns whether an event is due; null: the claim is not the newest any more. */
export async function storeFailure(
  tx: Tx,
  id: string,
  { fence }: Claim,
  { code, detail, retryAfterMs, retries }: FailedAttempt,
): Promise<{ readonly isEventDue: boolean } | null> {
  const backoff = tx`
    greatest(${retryAfterMs}, least(${BACKOFF_MS_MAX}, ${BACKOFF_MS_MIN} * 2 ^ least(failures, 20)) * (0.5 + random() / 2))`;
  const soon = tx`now() + (${backoff}) * interval '1 millisecond'`;
  // The provider may have answered, and the former refresh token may be used only once more.
  const next = retries
    ? tx`case when strict and not ${isLastMoment(tx)}
              then expires_at - ${LAST_MOMENT_MS} * interval '1 millisecond' else ${soon} end`
    : tx`'infinity'`;
  const [row] = await tx<{ isEventDue: boolean }[]>`
    update minted_credentials m
       set lease_until = '-infinity', failure = ${code}, failure_detail = ${detail}, failed_at = now(),
           failures = failures + 1, next_attempt_at = ${next},
           reported = reported or failures + 1 >= ${REPORTED_FAILURES} or ciphertext is null or expires_at <= now()
                      or ${!retries}
      from (select reported as before from minted_credentials where id = ${id} for update) former
     where m.id = ${id} and m.fence = ${fence}
    returning m.reported and not former.before as "isEventDue"`;
  return row ?? null;
}

/** Rows whose refresh is due, a few of each organization. */
export async function listDue(
  sql: Sql,
  { limit, perOrg }: { limit: number; perOrg: number },
): Promise<readonly { readonly id: string; readonly orgId: string }[]> {
  return sql<{ id: string; orgId: string }[]>`
    select id, org_id as "orgId" from (
      select id, org_id, refresh_at, row_number() over (partition by org_id order by refresh_at) as nth
        from minted_credentials
       where refresh_at <= now() and used and lease_until < now() and next_attempt_at <= now()) due
     where nth <= ${perOrg} order by nth, refresh_at limit ${limit}`;
}

/** A data plane has received these generations, so they are refreshed in advance. */
export async function markUsed(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`update minted_credentials set used = true where id = any(${[...ids]}::uuid[]) and not used`;
}

/** Forgets what was minted and granted for the former credential of an account or of a shared credential. */
export async function forgetMinted(tx: Tx, owner: 'account_id' | 'credential_id', id: string): Promise<void> {
  await tx`delete from minted_credentials where ${tx(owner)} = ${id}`;
  await tx`delete from oauth_grants where ${tx(owner)} = ${id}`;
}

const LISTED_AGENTS_MAX = 200;

/** Agents whose contexts hold the credential; null: too many to list. */
export async function listAgents(tx: Tx, { accountId, credentialId, agentId }: MintOwner): Promise<string[] | null> {
  if (agentId !== null) return [agentId];
  const rows = await tx<{ agentId: string }[]>`
    select agent_id as "agentId" from provider_accounts
     where ${accountId === null ? tx`credential_id = ${credentialId}` : tx`id = ${accountId}`} limit ${LISTED_AGENTS_MAX + 1}`;
  return rows.length > LISTED_AGENTS_MAX ? null : rows.map((row) => row.agentId);
}

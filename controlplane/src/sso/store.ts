import type { Sql, Tx } from '../db/postgres-client.js';
import type { Role } from '../http/route-access.js';
import type { EncryptedSecret } from '../vault/aes-gcm-vault.js';
import type { GroupRole } from './decide-login.js';

export interface ConnectionRow extends EncryptedSecret {
  readonly id: string;
  readonly orgId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly defaultRole: Role | null;
  /** Null: the default. */
  readonly groupsClaim: string | null;
  /** Null: groups decide nothing. */
  readonly groupRoles: readonly GroupRole[] | null;
  /** Null: single sign-on is not required. */
  readonly breakGlassUserId: string | null;
  readonly createdAt: Date;
}

const connectionColumns = (sql: Sql | Tx) => sql`
  c.id, c.org_id as "orgId", c.issuer, c.client_id as "clientId", c.key_id as "keyId", c.nonce, c.ciphertext,
  c.default_role as "defaultRole", c.groups_claim as "groupsClaim", c.group_roles as "groupRoles",
  c.break_glass_user_id as "breakGlassUserId", c.created_at as "createdAt"`;

export async function loadConnection(sql: Sql | Tx, orgId: string): Promise<ConnectionRow | null> {
  const [row] = await sql<ConnectionRow[]>`
    select ${connectionColumns(sql)} from sso_connections c join organizations o on o.id = c.org_id and o.purge_at is null
     where c.org_id = ${orgId}`;
  return row ?? null;
}

/** Returns the connection of the organization that verified the domain. */
export async function findConnectionByDomain(sql: Sql, domain: string): Promise<ConnectionRow | null> {
  const [row] = await sql<ConnectionRow[]>`
    select ${connectionColumns(sql)} from sso_connections c join organizations o on o.id = c.org_id and o.purge_at is null
      join sso_domains d on d.org_id = c.org_id and d.domain = ${domain} and d.verified_at is not null`;
  return row ?? null;
}

export async function upsertConnection(tx: Tx, row: Omit<ConnectionRow, 'createdAt'>): Promise<void> {
  await tx`
    insert into sso_connections (id, org_id, issuer, client_id, key_id, nonce, ciphertext, default_role,
                                 groups_claim, group_roles, break_glass_user_id)
    values (${row.id}, ${row.orgId}, ${row.issuer}, ${row.clientId}, ${row.keyId}, ${row.nonce}, ${row.ciphertext},
            ${row.defaultRole}, ${row.groupsClaim}, ${row.groupRoles === null ? null : tx.json(row.groupRoles as never)},
            ${row.breakGlassUserId})
    on conflict (org_id) do update set issuer = excluded.issuer, client_id = excluded.client_id,
           key_id = excluded.key_id, nonce = excluded.nonce, ciphertext = excluded.ciphertext,
           default_role = excluded.default_role, groups_claim = excluded.groups_claim,
           group_roles = excluded.group_roles, break_glass_user_id = excluded.break_glass_user_id`;
}

export async function deleteConnection(tx: Tx, orgId: string): Promise<void> {
  await tx`delete from sso_connections where org_id = ${orgId}`;
  await endSsoSessions(tx, orgId);
}

/** Ends the sessions that single sign-on opened, logins under way, and devices that such a session approved. */
export async function endSsoSessions(tx: Tx, orgId: string): Promise<void> {
  await tx`delete from sso_logins where org_id = ${orgId}`;
  await tx`delete from sso_links where org_id = ${orgId}`;
  // Waits for approvals under way, which lock their session; the next statement for devices that fetch theirs.
  await tx`select 1 from sessions where org_id = ${orgId} and sso for update`;
  await tx`update device_logins set status = 'denied' where org_id = ${orgId} and sso`;
  await tx`delete from sessions where org_id = ${orgId} and sso`;
}

export interface DomainRow {
  readonly id: string;
  readonly orgId: string;
  readonly domain: string;
  readonly token: string;
  readonly verifiedAt: Date | null;
  readonly checkedAt: Date | null;
}

const domainColumns = (sql: Sql | Tx) => sql`
  id, org_id as "orgId", domain, token, verified_at as "verifiedAt", checked_at as "checkedAt"`;

export async function listDomains(sql: Sql, orgId: string): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    select ${domainColumns(sql)} from sso_domains where org_id = ${orgId} order by domain limit 100`;
}

export async function loadDomain(sql: Sql | Tx, orgId: string, id: string): Promise<DomainRow | null> {
  const [row] = await sql<DomainRow[]>`
    select ${domainColumns(sql)} from sso_domains where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** Returns false when the organization has `max` domains or that domain already. */
export async function insertDomain(
  tx: Tx,
  row: Pick<DomainRow, 'id' | 'orgId' | 'domain' | 'token'>,
  max: number,
): Promise<boolean> {
  await tx`select 1 from organizations where id = ${row.orgId} for no key update`;
  const rows = await tx`
    insert into sso_domains (id, org_id, domain, token)
    select ${row.id}, ${row.orgId}, ${row.domain}, ${row.token}
     where (select count(*) from sso_domains where org_id = ${row.orgId}) < ${max}
    on conflict (org_id, domain) do nothing returning 1`;
  return rows.length === 1;
}

/** Returns its name; null: the organization has no such domain. */
export async function deleteDomain(tx: Tx, orgId: string, id: string): Promise<string | null> {
  const [row] = await tx<{ domain: string }[]>`
    delete from sso_domains where org_id = ${orgId} and id = ${id} returning domain`;
  return row?.domain ?? null;
}

/**
 * Returns false when the domain was removed. Throws a unique violation (`sso_domains_verified`) when another organization
 * has verified the domain.
 */
export async function markDomainChecked(tx: Tx, id: string, verified: boolean): Promise<boolean> {
  const rows = await tx`
    update sso_domains set checked_at = now(), verified_at = ${verified ? tx`coalesce(verified_at, now())` : null}
     where id = ${id} returning 1`;
  return rows.length === 1;
}

/** Verified domains whose last check is older than `ageS` seconds; claims them by a new time of the check. */
export async function claimDomainsToCheck(sql: Sql, ageS: number, max: number): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    update sso_domains set checked_at = now() where id in (
      select id from sso_domains where verified_at is not null and checked_at < now() - make_interval(secs => ${ageS})
       order by checked_at limit ${max} for update skip locked)
    returning ${domainColumns(sql)}`;
}

export async function isDomainVerified(sql: Sql | Tx, orgId: string, domain: string): Promise<boolean> {
  const rows = await sql`
    select 1 from sso_domains where org_id = ${orgId} and domain = ${domain} and verified_at is not null`;
  return rows.length === 1;
}

export interface PendingLogin {
  readonly orgId: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export async function insertLogin(
  sql: Sql,
  login: PendingLogin & { readonly stateHash: Buffer; readonly browserHash: Buffer; readonly lifetimeS: number },
): Promise<void> {
  const { stateHash, orgId, browserHash, nonce, codeVerifier, lifetimeS } = login;
  await sql`
    insert into sso_logins (state_hash, org_id, browser_hash, nonce, code_verifier, expires_at)
    values (${stateHash}, ${orgId}, ${browserHash}, ${nonce}, ${codeVerifier}, now() + make_interval(secs => ${lifetimeS}))`;
}

/** Deletes the login; null when it is unknown, used, expired, of another organization or of another browser. */
export async function consumeLogin(
  sql: Sql,
  stateHash: Buffer,
  orgId: string,
  browserHash: Buffer,
): Promise<PendingLogin | null> {
  const [row] = await sql<PendingLogin[]>`
    delete from sso_logins where state_hash = ${stateHash} and org_id = ${orgId} and browser_hash = ${browserHash}
       and expires_at > now()
    returning org_id as "orgId", nonce, code_verifier as "codeVerifier"`;
  return row ?? null;
}

export interface SsoIdentity {
  readonly orgId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** Returns the user of the identity, and its role in the organization (null: no member); null: the identity is unknown. */
export async function findLinkedUser(
  tx: Tx,
  { orgId, issuer, subject }: SsoIdentity,
): Promise<{ userId: string; role: Role | null } | null> {
  const [row] = await tx<{ userId: string; role: Role | null }[]>`
    select i.user_id as "userId", (
             select m.role from memberships m where m.org_id = i.org_id and m.user_id = i.user_id) as role
      from sso_identities i where i.org_id = ${orgId} and i.issuer = ${issuer} and i.subject = ${subject}`;
  return row ?? null;
}

/** Returns false when the identity is linked already. */
export async function insertIdentity(tx: Tx, identity: SsoIdentity, userId: string): Promise<boolean> {
  const rows = await tx`
    insert into sso_identities (org_id, issuer, subject, user_id)
    values (${identity.orgId}, ${identity.issuer}, ${identity.subject}, ${userId})
    on conflict do nothing returning 1`;
  return rows.length === 1;
}

export interface PendingLink extends SsoIdentity {
  readonly userId: string;
  /** With which the account joins, if it is no member; null: not stored by the previous release. */
  readonly role: Role | null;
}

export async function insertLink(tx: Tx, browserHash: Buffer, link: PendingLink, lifetimeS: number): Promise<void> {
  await tx`
    insert into sso_links (browser_hash, org_id, issuer, subject, user_id, role, expires_at)
    values (${browserHash}, ${link.orgId}, ${link.issuer}, ${link.subject}, ${link.userId}, ${link.role},
            now() + make_interval(secs => ${lifetimeS}))`;
}

export async function loadLink(sql: Sql | Tx, browserHash: Buffer): Promise<PendingLink | null> {
  const [row] = await sql<PendingLink[]>`
    select org_id as "orgId", issuer, subject, user_id as "userId", role from sso_links
     where browser_hash = ${browserHash} and expires_at > now()`;
  return row ?? null;
}

/** Returns false when another request has used it. */
export async function deleteLink(tx: Tx, browserHash: Buffer): Promise<boolean> {
  const rows = await tx`delete from sso_links where browser_hash = ${browserHash} returning 1`;
  return rows.length === 1;
}

export async function pruneSsoLogins(sql: Sql): Promise<void> {
  await sql`delete from sso_logins where state_hash in (
    select state_hash from sso_logins where expires_at < now() limit 10000)`;
  await sql`delete from sso_links where browser_hash in (
    select browser_hash from sso_links where expires_at < now() limit 10000)`;
}

/** Whether the user is a member with the role owner and a confirmed second factor. Locks the membership. */
export async function isOwnerWithSecondFactor(tx: Tx, orgId: string, userId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from memberships m where m.org_id = ${orgId} and m.user_id = ${userId} and m.role = 'owner'
       and exists (select from second_factors f where f.user_id = m.user_id and f.confirmed_at is not null) for share`;
  return rows.length === 1;
}

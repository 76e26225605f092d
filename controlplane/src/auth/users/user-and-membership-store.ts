import type { Sql, Tx } from '../../db/postgres-client.js';
import type { Role } from '../../http/route-access.js';
import type { OrganizationWithRole } from './auth-schema.js';

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly emailVerifiedAt: Date | null;
  readonly sessionVersion: number;
  readonly activeOrgId: string | null;
}

const userColumns = (sql: Sql | Tx) => sql`
  id, email, name, password_hash as "passwordHash", email_verified_at as "emailVerifiedAt",
  session_version as "sessionVersion", active_org_id as "activeOrgId"`;

export async function loadUserByEmail(sql: Sql | Tx, email: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`select ${userColumns(sql)} from users where email = ${email}`;
  return row ?? null;
}

/** Locks the account until the transaction ends. */
export async function lockUserByEmail(tx: Tx, email: string): Promise<UserRow | null> {
  const [row] = await tx<UserRow[]>`select ${userColumns(tx)} from users where email = ${email} for no key update`;
  return row ?? null;
}

export async function loadUser(sql: Sql | Tx, id: string): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`select ${userColumns(sql)} from users where id = ${id}`;
  return row ?? null;
}

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly emailVerified: boolean;
}

export async function insertUser(tx: Tx, user: NewUser): Promise<void> {
  await tx`
    insert into users (id, email, name, password_hash, email_verified_at)
    values (${user.id}, ${user.email}, ${user.name}, ${user.passwordHash}, ${user.emailVerified ? tx`now()` : null})`;
}

/** Returns false when the slug is taken. */
export async function insertOrganization(
  tx: Tx,
  org: { id: string; name: string; slug: string; createdBy: string },
): Promise<boolean> {
  const inserted = await tx`
    insert into organizations (id, name, slug, created_by)
    values (${org.id}, ${org.name}, ${org.slug}, ${org.createdBy})
    on conflict (slug) do nothing returning 1`;
  return inserted.length === 1;
}

export async function insertMembership(tx: Tx, orgId: string, userId: string, role: Role): Promise<void> {
  await tx`insert into memberships (org_id, user_id, role) values (${orgId}, ${userId}, ${role})`;
}

export async function setActiveOrganization(tx: Tx, userId: string, orgId: string | null): Promise<void> {
  await tx`update users set active_org_id = ${orgId} where id = ${userId}`;
}

interface OrganizationRow
  extends Omit<OrganizationWithRole, 'purgeAt' | 'itemsSuspended' | 'secondFactorMissing' | 'ssoRequired'> {
  readonly purgeAt: Date | null;
  readonly itemsSuspended: boolean;
  readonly secondFactorMissing: boolean;
  readonly ssoRequired: boolean;
}

/**
 * Of organization `o` and membership `m`: the organization requires a second factor, of all or of its break-glass owner,
 * and the member has none.
 */
export const isSecondFactorMissing = (sql: Sql | Tx) => sql`
  (o.require_second_factor or exists (
    select from sso_connections c where c.org_id = o.id and c.break_glass_user_id = m.user_id))
  and not exists (
    select from second_factors f where f.user_id = m.user_id and f.confirmed_at is not null)`;

/** Of membership `m`: the organization requires single sign-on of the member. */
export const isSsoRequired = (sql: Sql | Tx) => sql`
  exists (select from sso_connections c where c.org_id = m.org_id and c.break_glass_user_id <> m.user_id)`;

/** Lists the user's organizations, oldest membership first; at most 1000. */
export async function listUserOrganizations(sql: Sql | Tx, userId: string): Promise<OrganizationWithRole[]> {
  const rows = await sql<OrganizationRow[]>`
    select o.id, o.name, o.slug, m.role, o.purge_at as "purgeAt",
           m.role = 'owner' and exists (select from suspended_items s where s.org_id = o.id) as "itemsSuspended",
           ${isSecondFactorMissing(sql)} as "secondFactorMissing", ${isSsoRequired(sql)} as "ssoRequired"
      from memberships m join organizations o on o.id = m.org_id
     where m.user_id = ${userId} order by m.created_at, o.id limit 1000`;
  return rows.map(({ purgeAt, itemsSuspended, secondFactorMissing, ssoRequired, ...org }) => ({
    ...org,
    ...(purgeAt === null ? {} : { purgeAt: purgeAt.toISOString() }),
    ...(itemsSuspended ? { itemsSuspended } : {}),
    ...(secondFactorMissing ? { secondFactorMissing } : {}),
    ...(ssoRequired ? { ssoRequired } : {}),
  }));
}

/**
 * Lists the organizations that the user founded and is still a member of, oldest first, with the user's role in each.
 */
export async function listFoundedOrganizations(tx: Tx, userId: string): Promise<{ id: string; role: Role }[]> {
  // Founders are recorded since 0012_organizations.sql. For older organizations the oldest member counts as the
  // founder.
  return tx<{ id: string; role: Role }[]>`
    select o.id, m.role from memberships m join organizations o on o.id = m.org_id
     where m.user_id = ${userId} and ${userId} = coalesce(o.created_by, (
             select user_id from memberships f where f.org_id = o.id order by created_at, user_id limit 1))
     order by o.created_at, o.id`;
}

export async function deleteMembership(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx`delete from memberships where org_id = ${orgId} and user_id = ${userId}`;
}

/** Deletes the user's invitations in all organizations. */
export async function deleteInvitationsCreatedBy(tx: Tx, userId: string): Promise<void> {
  await tx`delete from invitations where invited_by = ${userId}`;
}

export type EmailTokenPurpose = 'reset' | 'verify';

/** Replaces the user's older tokens of that purpose: only the newest mail works. */
export async function replaceEmailToken(
  tx: Tx,
  userId: string,
  purpose: EmailTokenPurpose,
  hash: Buffer,
  lifetimeS: number,
): Promise<void> {
  await tx`delete from email_tokens where user_id = ${userId} and purpose = ${purpose}`;
  await tx`
    insert into email_tokens (token_hash, user_id, purpose, expires_at)
    values (${hash}, ${userId}, ${purpose}, now() + make_interval(secs => ${lifetimeS}))`;
}

/** Deletes the token and returns its user; null when it is unknown, used or expired. */
export async function consumeEmailToken(tx: Tx, purpose: EmailTokenPurpose, hash: Buffer): Promise<string | null> {
  const [row] = await tx<{ userId: string; live: boolean }[]>`
    delete from email_tokens where token_hash = ${hash} and purpose = ${purpose}
    returning user_id as "userId", expires_at > now() as live`;
  return row?.live === true ? row.userId : null;
}

/** Returns the user of a token without consuming it. */
export async function loadUserByEmailToken(
  sql: Sql,
  purpose: EmailTokenPurpose,
  hash: Buffer,
): Promise<UserRow | null> {
  const [row] = await sql<UserRow[]>`
    select ${userColumns(sql)} from users where id = (
      select user_id from email_tokens where token_hash = ${hash} and purpose = ${purpose} and expires_at > now())`;
  return row ?? null;
}

export async function pruneEmailTokens(sql: Sql): Promise<void> {
  await sql`delete from email_tokens where token_hash in (
    select token_hash from email_tokens where expires_at < now() limit 10000)`;
}

/** Also deletes all reset and verification tokens mailed before. The caller revokes the sessions. */
export async function setPasswordAndDeleteEmailTokens(tx: Tx, userId: string, passwordHash: string): Promise<void> {
  await tx`update users set password_hash = ${passwordHash} where id = ${userId}`;
  await tx`delete from email_tokens where user_id = ${userId}`;
}

export async function setUserName(tx: Tx, userId: string, name: string): Promise<void> {
  await tx`update users set name = ${name} where id = ${userId}`;
}

export async function markEmailVerified(tx: Tx, userId: string): Promise<UserRow> {
  const [row] = await tx<UserRow[]>`
    update users set email_verified_at = coalesce(email_verified_at, now()) where id = ${userId}
    returning ${userColumns(tx)}`;
  return row!;
}

/**
 * Locks the user's role in the organization until the transaction ends; null when the user is not a member. Waits for a
 * running deletion of the membership.
 */
export async function lockMembership(tx: Tx, orgId: string, userId: string): Promise<Role | null> {
  const [row] = await tx<{ role: Role }[]>`
    select role from memberships where org_id = ${orgId} and user_id = ${userId} for share`;
  return row?.role ?? null;
}

import { containsPattern } from '../db/like-pattern.js';
import { orderBy, ROLE_RANK, type Sorting } from '../db/order-by.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { isRoleAtLeast, type Role } from '../http/route-access.js';

export interface MemberRow {
  /** Id of the user, or of the invitation until it is accepted. */
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
  readonly status: 'active' | 'invited';
  readonly createdAt: Date;
  readonly emailVerified: boolean;
}

/** A member in a list. */
export interface ListedMemberRow extends MemberRow {
  /** The last request of a stored session in the organization; null: none. */
  readonly lastSeenAt: Date | null;
}

/** Members and unexpired invitations of an organization, as one relation. */
const membersAndInvitations = (sql: Sql | Tx, orgId: string) => sql`(
  select u.id, u.email, u.name, m.role, 'active' as status, m.created_at, u.email_verified_at is not null as verified
    from memberships m join users u on u.id = m.user_id where m.org_id = ${orgId}
  union all
  select i.id, i.email, null, i.role, 'invited', i.created_at, false
    from invitations i where i.org_id = ${orgId} and i.expires_at > now()) as people`;

interface MemberFilter extends Sorting<keyof typeof ORDER> {
  readonly search?: string;
  readonly role?: Role;
  readonly status?: MemberRow['status'];
}

const ORDER = {
  createdAt: { by: 'created_at' },
  name: { by: 'lower(name)', text: true, nullable: true },
  email: { by: 'email', text: true },
  role: { by: ROLE_RANK },
  lastSeenAt: { by: '"lastSeenAt"', nullable: true },
} as const;

export async function listMembers(
  sql: Sql,
  orgId: string,
  { search = '', role, status, ...sorting }: MemberFilter,
  page: Page,
): Promise<ListResult<ListedMemberRow>> {
  const like = containsPattern(search);
  const where = sql`true
    ${role === undefined ? sql`` : sql`and role = ${role}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${search === '' ? sql`` : sql`and (name ilike ${like} or email ilike ${like})`}`;
  const rows = await sql<ListedMemberRow[]>`
    select id, email, name, role, status, created_at as "createdAt", verified as "emailVerified",
           (select max(s.last_seen_at) from sessions s where s.user_id = people.id and s.org_id = ${orgId}) as "lastSeenAt"
      from ${membersAndInvitations(sql, orgId)} where ${where}
    ${orderBy(sql, ORDER, sorting)} limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<
    { total: number }[]
  >`select count(*) as total from ${membersAndInvitations(sql, orgId)} where ${where}`;
  return { rows, total: count!.total };
}

export async function loadMember(sql: Sql | Tx, orgId: string, id: string): Promise<MemberRow | null> {
  const [row] = await sql<MemberRow[]>`
    select id, email, name, role, status, created_at as "createdAt", verified as "emailVerified"
      from ${membersAndInvitations(sql, orgId)} where id = ${id}`;
  return row ?? null;
}

export async function loadMemberByEmail(tx: Tx, orgId: string, email: string): Promise<MemberRow | null> {
  const [row] = await tx<MemberRow[]>`
    select id, email, name, role, status, created_at as "createdAt", verified as "emailVerified"
      from ${membersAndInvitations(tx, orgId)} where email = ${email}`;
  return row ?? null;
}

/**
 * Serializes all changes of an organization's members, so that two of them cannot remove each other's last owner. `no
 * key update` does not wait for foreign-key locks of concurrent inserts. Returns the organization's name; null when it
 * was deleted meanwhile.
 */
export async function lockOrganizationMembers(tx: Tx, orgId: string): Promise<string | null> {
  const [row] = await tx<{ name: string }[]>`
    select name from organizations where id = ${orgId} for no key update`;
  return row?.name ?? null;
}

export async function loadRole(tx: Tx, orgId: string, userId: string): Promise<Role | null> {
  const [row] = await tx<{ role: Role }[]>`
    select role from memberships where org_id = ${orgId} and user_id = ${userId}`;
  return row?.role ?? null;
}

export async function countOwners(tx: Tx, orgId: string): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from memberships where org_id = ${orgId} and role = 'owner'`;
  return row!.total;
}

/** Whether single sign-on is required of everybody but this owner. */
export async function isBreakGlassOwner(tx: Tx, orgId: string, userId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from sso_connections where org_id = ${orgId} and break_glass_user_id = ${userId}`;
  return rows.length === 1;
}

/** A changed invitation gets the actor as its inviter. */
export async function setRole(tx: Tx, orgId: string, member: MemberRow, role: Role, actorId: string): Promise<void> {
  if (member.status === 'active') {
    await tx`update memberships set role = ${role} where org_id = ${orgId} and user_id = ${member.id}`;
  } else {
    await tx`
      update invitations set role = ${role}, invited_by = ${actorId} where org_id = ${orgId} and id = ${member.id}`;
  }
}

/**
 * Called when a member is removed or demoted, so that the member cannot return through an invitation to another
 * address.
 */
export async function deleteInvitationsCreatedBy(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx`delete from invitations where org_id = ${orgId} and invited_by = ${userId}`;
}

/** Ends what the member holds in the organization: sessions, device logins, management tokens, invitations. */
export async function removeMember(tx: Tx, orgId: string, member: MemberRow): Promise<void> {
  if (member.status === 'active') {
    // The membership first: this waits for running changes of the member (audit/audit-trail.ts), which may still create
    // tokens and invitations.
    await tx`delete from memberships where org_id = ${orgId} and user_id = ${member.id}`;
    await deleteInvitationsCreatedBy(tx, orgId, member.id);
    await tx`delete from management_tokens where org_id = ${orgId} and created_by = ${member.id}`;
    await denyDevices(tx, orgId, member.id);
    await tx`delete from sessions where org_id = ${orgId} and user_id = ${member.id}`;
    await tx`delete from sso_links where org_id = ${orgId} and user_id = ${member.id}`;
    await tx`update users set active_org_id = null where id = ${member.id} and active_org_id = ${orgId}`;
  } else await tx`delete from invitations where org_id = ${orgId} and id = ${member.id}`;
}

/**
 * Devices that the user approved for the organization, and that have not fetched their session yet, get none. Waits for
 * approvals under way, which lock their session, and for devices that fetch theirs: so delete sessions afterwards.
 */
export async function denyDevices(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx`select 1 from sessions where user_id = ${userId} for update`;
  await tx`update device_logins set status = 'denied' where org_id = ${orgId} and user_id = ${userId}`;
}

export async function deleteInvitationsTo(tx: Tx, orgId: string, email: string): Promise<void> {
  await tx`delete from invitations where org_id = ${orgId} and email = ${email}`;
}

/** The role of an open invitation to that address, which its inviter may still assign; not owner. Null: none. */
export async function findInvitedRole(tx: Tx, orgId: string, email: string): Promise<Exclude<Role, 'owner'> | null> {
  const [row] = await tx<{ role: Exclude<Role, 'owner'> }[]>`
    select i.role from invitations i join memberships m on m.org_id = i.org_id and m.user_id = i.invited_by
     where i.org_id = ${orgId} and i.email = ${email} and i.expires_at > now() and i.role <> 'owner'
       and m.role in ('admin', 'owner')`;
  return row?.role ?? null;
}

/** A member who loses rights also loses the own invitations. */
export async function setMemberRole(tx: Tx, orgId: string, userId: string, before: Role, role: Role): Promise<void> {
  await tx`update memberships set role = ${role} where org_id = ${orgId} and user_id = ${userId}`;
  if (!isRoleAtLeast(role, before)) await deleteInvitationsCreatedBy(tx, orgId, userId);
}

export interface NewInvitation {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: Buffer;
  readonly invitedBy: string;
  readonly linkShown: boolean;
  readonly lifetimeS: number;
}

/**
 * Replaces an older invitation of the same address: only the newest mail works. Throws {@link Conflict} when the
 * organization is being deleted. {@link lockOrganizationMembers} has waited for that deletion, so no invitation
 * outlives it.
 */
export async function replaceInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  const { id, orgId, email, role, tokenHash, invitedBy, linkShown, lifetimeS } = invitation;
  await tx`delete from invitations where org_id = ${orgId} and email = ${email}`;
  const inserted = await tx`
    insert into invitations (id, org_id, email, role, token_hash, invited_by, link_shown, expires_at)
    select ${id}, ${orgId}, ${email}, ${role}, ${tokenHash}, ${invitedBy}, ${linkShown}, now() + make_interval(secs => ${lifetimeS})
      from organizations where id = ${orgId} and purge_at is null`;
  if (inserted.count === 0)
    throw new Conflict('the organization is being deleted: restore it before you invite members');
}

export interface InvitationRow {
  readonly id: string;
  readonly orgId: string;
  readonly email: string;
  readonly role: Role;
  /** Null: that user was deleted. */
  readonly invitedBy: string | null;
  /** The link was shown to the inviter. */
  readonly linkShown: boolean;
}

/** Null when the token is unknown, used or expired. */
export async function findLiveInvitation(sql: Sql | Tx, tokenHash: Buffer): Promise<InvitationRow | null> {
  const [row] = await sql<InvitationRow[]>`
    select id, org_id as "orgId", email, role, invited_by as "invitedBy", link_shown as "linkShown" from invitations
     where token_hash = ${tokenHash} and expires_at > now()`;
  return row ?? null;
}

interface InvitationDetailsRow {
  readonly orgName: string;
  /** Null: the inviter is no longer a member. */
  readonly inviterName: string | null;
  readonly inviterEmail: string | null;
  readonly sso: boolean;
  readonly ssoRequired: boolean;
}

export async function loadInvitationDetails(
  sql: Sql,
  { orgId, email, invitedBy }: InvitationRow,
): Promise<InvitationDetailsRow> {
  const [row] = await sql<InvitationDetailsRow[]>`
    select o.name as "orgName", u.name as "inviterName", u.email as "inviterEmail",
           c.id is not null and exists (
             select from sso_domains d where d.org_id = o.id and d.verified_at is not null
                and d.domain = split_part(${email}, '@', 2)) as sso,
           coalesce(c.break_glass_user_id is not null, false) as "ssoRequired"
      from organizations o left join sso_connections c on c.org_id = o.id
      left join memberships m on m.org_id = o.id and m.user_id = ${invitedBy}
      left join users u on u.id = m.user_id
     where o.id = ${orgId}`;
  return row!;
}

export async function deleteInvitation(tx: Tx, id: string): Promise<void> {
  await tx`delete from invitations where id = ${id}`;
}

export async function pruneInvitations(sql: Sql): Promise<void> {
  await sql`delete from invitations where id in (select id from invitations where expires_at < now() limit 10000)`;
}

export async function isEmailVerified(sql: Sql, userId: string): Promise<boolean> {
  return (await sql`select 1 from users where id = ${userId} and email_verified_at is not null`).length === 1;
}

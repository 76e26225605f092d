import type { PendingQuery, Row } from 'postgres';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Role } from '../http/route-access.js';
import type { Condition } from './protocol/filter.js';
import type { UserAttributes } from './protocol/user-attributes.js';

export interface ScimUserRow extends UserAttributes {
  readonly id: string;
  readonly userId: string | null;
  /** The role of the membership when the directory deactivated it. */
  readonly restoredRole: Exclude<Role, 'owner'> | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = (sql: Sql | Tx) => sql`
  id, user_name as "userName", external_id as "externalId", email, display_name as "displayName",
  given_name as "givenName", family_name as "familyName", formatted_name as "formattedName", active,
  user_id as "userId", restored_role as "restoredRole", created_at as "createdAt", updated_at as "updatedAt"`;

const FILTERS: Readonly<Record<string, (sql: Sql, value: string) => PendingQuery<Row[]>>> = {
  id: (sql, value) => sql`id::text = lower(${value})`,
  username: (sql, value) => sql`lower(user_name) = lower(${value})`,
  externalid: (sql, value) => sql`external_id = ${value}`,
  displayname: (sql, value) => sql`lower(display_name) = lower(${value})`,
  'emails.value': (sql, value) => sql`lower(coalesce(email, user_name)) = lower(${value})`,
};
export const USER_FILTERS: ReadonlySet<string> = new Set([...Object.keys(FILTERS), 'emails']);

export async function listUsers(
  sql: Sql,
  orgId: string,
  conditions: readonly Condition[],
  page: Page,
): Promise<ListResult<ScimUserRow>> {
  let where = sql`org_id = ${orgId}`;
  for (const { attribute, value } of conditions) {
    const filter = FILTERS[attribute === 'emails' ? 'emails.value' : attribute]!;
    where = sql`${where} and ${filter(sql, value)}`;
  }
  const rows = await sql<ScimUserRow[]>`
    select ${columns(sql)} from scim_users where ${where}
     order by created_at, id limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from scim_users where ${where}`;
  return { rows, total: count!.total };
}

export async function loadUser(sql: Sql | Tx, orgId: string, id: string): Promise<ScimUserRow | null> {
  const [row] = await sql<ScimUserRow[]>`
    select ${columns(sql)} from scim_users where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/**
 * Returns null when the organization has `max` users. Throws a unique violation (`scim_users_name`) when it has a user
 * of that name.
 */
export async function insertUser(
  tx: Tx,
  orgId: string,
  id: string,
  user: UserAttributes,
  max: number,
): Promise<ScimUserRow | null> {
  const [row] = await tx<ScimUserRow[]>`
    insert into scim_users (id, org_id, user_name, external_id, email, display_name, given_name, family_name,
                            formatted_name, active)
    select ${id}, ${orgId}, ${user.userName}, ${user.externalId}, ${user.email}, ${user.displayName},
           ${user.givenName}, ${user.familyName}, ${user.formattedName}, ${user.active}
     where (select count(*) from scim_users where org_id = ${orgId}) < ${max}
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Throws a unique violation (`scim_users_name`) when the organization has another user of that name. */
export async function updateUser(tx: Tx, id: string, user: UserAttributes): Promise<ScimUserRow> {
  const [row] = await tx<ScimUserRow[]>`
    update scim_users set user_name = ${user.userName}, external_id = ${user.externalId}, email = ${user.email},
           display_name = ${user.displayName}, given_name = ${user.givenName}, family_name = ${user.familyName},
           formatted_name = ${user.formattedName}, active = ${user.active}, updated_at = now()
     where id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

export async function setRestoredRole(tx: Tx, id: string, role: Exclude<Role, 'owner'> | null): Promise<void> {
  await tx`update scim_users set restored_role = ${role} where id = ${id}`;
}

export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx`delete from scim_users where id = ${id}`;
}

/**
 * Binds the user to the member with its address, if another user of the directory is not bound to that member. Returns
 * the account of the member; null: the person is no member.
 */
export async function bindToMember(tx: Tx, orgId: string, id: string): Promise<string | null> {
  const [row] = await tx<{ userId: string }[]>`
    update scim_users s set user_id = a.id from users a
     where s.org_id = ${orgId} and s.id = ${id} and s.user_id is null and a.email = lower(coalesce(s.email, s.user_name))
       and exists (select from memberships m where m.org_id = s.org_id and m.user_id = a.id)
       and not exists (select from scim_users o where o.org_id = s.org_id and o.user_id = a.id)
    returning s.user_id as "userId"`;
  return row?.userId ?? null;
}

/**
 * What the directory says of a person with that address who is bound to no account yet, or of one that it has
 * deactivated. Locks the entries, so that a deactivation waits for a login, or the other way round. Null: nothing.
 */
export async function lockDirectoryEntry(tx: Tx, orgId: string, email: string): Promise<'active' | 'inactive' | null> {
  const rows = await tx<{ active: boolean; userId: string | null }[]>`
    select active, user_id as "userId" from scim_users
     where org_id = ${orgId} and lower(coalesce(email, user_name)) = ${email} for share`;
  if (rows.some(({ active, userId }) => active && userId === null)) return 'active';
  return rows.some(({ active }) => !active) ? 'inactive' : null;
}

import type { PendingQuery, Row } from 'postgres';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Condition } from './protocol/filter.js';

export interface ScimGroupRow {
  readonly id: string;
  readonly displayName: string;
  readonly externalId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface ScimGroupMember {
  readonly value: string;
  readonly display: string;
}

/** Members of a group that a response lists. */
const LISTED_MEMBERS_MAX = 5_000;

const columns = (sql: Sql | Tx) => sql`
  id, display_name as "displayName", external_id as "externalId", created_at as "createdAt", updated_at as "updatedAt"`;

const hasMember = (sql: Sql, value: string) => sql`
  exists (select from scim_group_members m where m.group_id = g.id and m.user_id::text = lower(${value}))`;
const FILTERS: Readonly<Record<string, (sql: Sql, value: string) => PendingQuery<Row[]>>> = {
  id: (sql, value) => sql`id::text = lower(${value})`,
  displayname: (sql, value) => sql`lower(display_name) = lower(${value})`,
  externalid: (sql, value) => sql`external_id = ${value}`,
  members: hasMember,
  'members.value': hasMember,
};
export const GROUP_FILTERS: ReadonlySet<string> = new Set(Object.keys(FILTERS));

export async function listGroups(
  sql: Sql,
  orgId: string,
  conditions: readonly Condition[],
  page: Page,
): Promise<ListResult<ScimGroupRow>> {
  let where = sql`org_id = ${orgId}`;
  for (const { attribute, value } of conditions) where = sql`${where} and ${FILTERS[attribute]!(sql, value)}`;
  const rows = await sql<ScimGroupRow[]>`
    select ${columns(sql)} from scim_groups g where ${where}
     order by created_at, id limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from scim_groups g where ${where}`;
  return { rows, total: count!.total };
}

export async function loadGroup(sql: Sql | Tx, orgId: string, id: string): Promise<ScimGroupRow | null> {
  const [row] = await sql<ScimGroupRow[]>`
    select ${columns(sql)} from scim_groups where org_id = ${orgId} and id = ${id}`;
  return row ?? null;
}

/** At most 5 000. */
export async function listGroupMembers(sql: Sql | Tx, groupId: string): Promise<ScimGroupMember[]> {
  return sql<ScimGroupMember[]>`
    select u.id as value, u.user_name as display from scim_group_members m join scim_users u on u.id = m.user_id
     where m.group_id = ${groupId} order by u.created_at, u.id limit ${LISTED_MEMBERS_MAX}`;
}

export async function listMemberIds(tx: Tx, groupId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select user_id as id from scim_group_members where group_id = ${groupId}`;
  return rows.map(({ id }) => id);
}

/** Returns null when the organization has `max` groups. Throws a unique violation (`scim_groups_name`). */
export async function insertGroup(
  tx: Tx,
  orgId: string,
  group: Pick<ScimGroupRow, 'id' | 'displayName' | 'externalId'>,
  max: number,
): Promise<ScimGroupRow | null> {
  const [row] = await tx<ScimGroupRow[]>`
    insert into scim_groups (id, org_id, display_name, external_id)
    select ${group.id}, ${orgId}, ${group.displayName}, ${group.externalId}
     where (select count(*) from scim_groups where org_id = ${orgId}) < ${max}
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function updateGroup(
  tx: Tx,
  id: string,
  { displayName, externalId }: Pick<ScimGroupRow, 'displayName' | 'externalId'>,
): Promise<void> {
  await tx`
    update scim_groups set display_name = ${displayName}, external_id = ${externalId}, updated_at = now()
     where id = ${id}`;
}

export async function deleteGroup(tx: Tx, id: string): Promise<void> {
  await tx`delete from scim_groups where id = ${id}`;
}

/** Returns the ids that name no user of the organization; then nothing is added. */
export async function addMembers(
  tx: Tx,
  orgId: string,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const known = await tx<{ id: string }[]>`
    select id from scim_users where org_id = ${orgId} and id = any(${[...userIds]}::uuid[]) for key share`;
  const found = new Set(known.map(({ id }) => id));
  const unknown = userIds.filter((id) => !found.has(id));
  if (unknown.length === 0)
    await tx`
      insert into scim_group_members (group_id, user_id)
      select ${groupId}, id from unnest(${[...userIds]}::uuid[]) as id on conflict do nothing`;
  return unknown;
}

/** `userIds` null removes all. */
export async function removeMembers(tx: Tx, groupId: string, userIds: readonly string[] | null): Promise<void> {
  if (userIds === null) await tx`delete from scim_group_members where group_id = ${groupId}`;
  else
    await tx`
      delete from scim_group_members where group_id = ${groupId} and user_id = any(${[...userIds]}::uuid[])`;
}

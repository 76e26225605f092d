import type { Sql, Tx } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';

export interface OrganizationOwner {
  readonly id: string;
  readonly email: string;
}

export async function listOwners(tx: Tx, orgId: string): Promise<OrganizationOwner[]> {
  return tx<OrganizationOwner[]>`
    select u.id, u.email from memberships m join users u on u.id = m.user_id
     where m.org_id = ${orgId} and m.role = 'owner' order by u.id`;
}

/**
 * Revokes gateway tokens, management tokens and invitations, including suspended ones. Returns the number of revoked
 * gateway tokens.
 */
export async function revokeAccess(tx: Tx, orgId: string): Promise<number> {
  const keys = await tx`update api_keys set revoked_at = now() where org_id = ${orgId} and revoked_at is null`;
  await tx`update runs set ended_at = now(), end_reason = 'ended' where org_id = ${orgId} and ended_at is null`;
  await tx`
    delete from trust_rule_keys k using trust_rules r where r.id = k.rule_id and r.org_id = ${orgId}`;
  await tx`delete from management_tokens where org_id = ${orgId}`;
  await tx`delete from invitations where org_id = ${orgId}`;
  await tx`
    delete from suspended_items
     where org_id = ${orgId} and kind in ('api_key', 'management_token', 'invitation')`;
  return keys.count;
}

export interface NewDeletion {
  readonly id: string;
  readonly orgId: string;
  readonly requestedBy: OrganizationOwner;
  readonly ip: string;
  readonly ownerIds: readonly string[];
  readonly graceS: number;
}

/** Marks the organization, records the deletion and returns when it will be purged. */
export async function insertDeletion(tx: Tx, deletion: NewDeletion): Promise<Date> {
  const { id, orgId, requestedBy, ip, ownerIds, graceS } = deletion;
  const [row] = await tx<{ purgeAt: Date }[]>`
    with marked as (
      update organizations set purge_at = now() + make_interval(secs => ${graceS}) where id = ${orgId}
      returning id, name, slug, purge_at)
    insert into organization_deletions (id, org_id, name, slug, requested_by, requested_by_email, ip, owner_ids, purge_at)
    select ${id}, id, name, slug, ${requestedBy.id}, ${requestedBy.email}, ${ip}, ${[...ownerIds]}::uuid[], purge_at
      from marked returning purge_at as "purgeAt"`;
  return row!.purgeAt;
}

export async function markRestored(tx: Tx, orgId: string, restorer: OrganizationOwner): Promise<void> {
  await tx`update organizations set purge_at = null where id = ${orgId}`;
  await tx`
    update organization_deletions
       set restored_at = now(), restored_by = ${restorer.id}, restored_by_email = ${restorer.email}
     where org_id = ${orgId} and restored_at is null and purged_at is null`;
}

/** Lists the organizations whose purge is due, the longest overdue first. */
export async function listDuePurges(sql: Sql, max: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from organizations where purge_at <= now() order by purge_at, id limit ${max}`;
  return rows.map(({ id }) => id);
}

/** Returns false when another instance is purging it, or an owner has restored it meanwhile. */
export async function purgeOrganization(tx: Tx, orgId: string): Promise<boolean> {
  const due = await tx`
    select 1 from organizations where id = ${orgId} and purge_at <= now() for update skip locked`;
  if (due.length === 0) return false;
  // One statement deletes all rows of the organization. For a large one it takes longer than the statement timeout, on
  // every attempt.
  await tx`set local statement_timeout = 0`;
  await tx`delete from organizations where id = ${orgId}`;
  await tx`
    update organization_deletions set purged_at = now()
     where org_id = ${orgId} and restored_at is null and purged_at is null`;
  return true;
}

export interface DeletionRow {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly slug: string;
  readonly requestedBy: string;
  readonly requestedByEmail: string;
  readonly ip: string;
  readonly requestedAt: Date;
  readonly purgeAt: Date;
  readonly restoredAt: Date | null;
  readonly restoredByEmail: string | null;
  readonly purgedAt: Date | null;
}

/** Lists deletions of organizations that the user owned at that time. */
export async function listDeletions(sql: Sql, userId: string, page: Page): Promise<ListResult<DeletionRow>> {
  const where = sql`owner_ids @> array[${userId}]::uuid[]`;
  const rows = await sql<DeletionRow[]>`
    select id, org_id as "orgId", name, slug, requested_by as "requestedBy", requested_by_email as "requestedByEmail",
           ip, requested_at as "requestedAt", purge_at as "purgeAt", restored_at as "restoredAt",
           restored_by_email as "restoredByEmail", purged_at as "purgedAt"
      from organization_deletions where ${where}
     order by requested_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`
    select count(*) as total from organization_deletions where ${where}`;
  return { rows, total: count!.total };
}

/** Kept as long as audit entries. */
export async function pruneDeletions(sql: Sql, retentionDays: number): Promise<void> {
  await sql`
    delete from organization_deletions where id in (
      select id from organization_deletions
       where requested_at < now() - ${retentionDays} * interval '1 day' and coalesce(restored_at, purged_at) is not null
       limit 10000)`;
}

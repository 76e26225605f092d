import type { Sql, Tx } from '../db/postgres-client.js';
import type { EventName } from '../events/event-catalogue.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Preference } from './schema.js';

const selectPreferences = (sql: Sql | Tx, orgId: string) => sql`
  select u.id as "userId", u.email, u.name, u.email_verified_at is not null as "emailVerified",
         coalesce(r.events, '{}') as events
    from memberships m join users u on u.id = m.user_id
    left join event_mail_recipients r on r.org_id = m.org_id and r.user_id = m.user_id
   where m.org_id = ${orgId}`;

/** Lists all members, newest first. */
export async function listPreferences(sql: Sql, orgId: string, page: Page): Promise<ListResult<Preference>> {
  const rows = await sql<Preference[]>`
    ${selectPreferences(sql, orgId)} order by m.created_at desc, u.id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from memberships where org_id = ${orgId}`;
  return { rows, total: count!.total };
}

/** Locks the membership until the transaction ends. Null: not a member. */
export async function lockPreference(tx: Tx, orgId: string, userId: string): Promise<Preference | null> {
  const [row] = await tx<
    Preference[]
  >`${selectPreferences(tx, orgId)} and m.user_id = ${userId} for no key update of m`;
  return row ?? null;
}

export async function writePreference(
  tx: Tx,
  orgId: string,
  userId: string,
  events: readonly EventName[],
): Promise<void> {
  if (events.length === 0) {
    await tx`delete from event_mail_recipients where org_id = ${orgId} and user_id = ${userId}`;
    return;
  }
  await tx`
    insert into event_mail_recipients (org_id, user_id, events) values (${orgId}, ${userId}, ${[...events]})
    on conflict (org_id, user_id) do update set events = excluded.events`;
}

export interface DueRecipient {
  readonly orgId: string;
  readonly userId: string;
  readonly orgName: string;
  /** Null: the address is no longer confirmed. */
  readonly email: string | null;
}

/**
 * Claims members with queued events whose last mail is older than `pauseS` seconds. Locks them until the transaction
 * ends and sets their `last_mailed_at`. Leaves out the organizations in `excludedOrgIds`.
 */
export async function claimDueRecipients(
  tx: Tx,
  intervalS: number,
  limit: number,
  excludedOrgIds: readonly string[],
): Promise<readonly DueRecipient[]> {
  return tx<DueRecipient[]>`
    with due as (
      select r.org_id, r.user_id from event_mail_recipients r
       where (r.last_mailed_at is null or r.last_mailed_at < now() - make_interval(secs => ${intervalS}))
         and r.org_id <> all(${[...excludedOrgIds]}::uuid[])
         and exists (select 1 from event_mail_queue q where q.org_id = r.org_id and q.user_id = r.user_id)
       order by r.last_mailed_at nulls first limit ${limit} for update skip locked)
    update event_mail_recipients r set last_mailed_at = now()
      from due, users u, organizations o
     where r.org_id = due.org_id and r.user_id = due.user_id and u.id = r.user_id and o.id = r.org_id
    returning r.org_id as "orgId", r.user_id as "userId", o.name as "orgName",
              case when u.email_verified_at is not null then u.email end as email`;
}

export interface QueuedEvent {
  /** An {@link EventName}, or the name of an event of another release that runs at the same time. */
  readonly event: string;
  readonly data: Record<string, unknown>;
  readonly occurredAt: Date;
}

/** Deletes all queued events of one member. Returns their number and the oldest `shownMax` of them. */
export async function dequeueEvents(
  tx: Tx,
  { orgId, userId }: DueRecipient,
  shownMax: number,
): Promise<{ readonly total: number; readonly shown: readonly QueuedEvent[] }> {
  const rows = await tx<(QueuedEvent & { total: number })[]>`
    with taken as (
      delete from event_mail_queue where org_id = ${orgId} and user_id = ${userId}
      returning event_id, event, data, occurred_at)
    select event, data, occurred_at as "occurredAt", count(*) over () as total from taken
     order by occurred_at, event_id limit ${shownMax}`;
  return { total: rows[0]?.total ?? 0, shown: rows };
}

export async function hasQueuedEvents(sql: Sql): Promise<boolean> {
  return (await sql`select 1 from event_mail_queue limit 1`).length > 0;
}

/** Deletes events that were not mailed within a day, including those of former recipients. */
export async function pruneQueuedEvents(sql: Sql): Promise<void> {
  await sql`
    delete from event_mail_queue where ctid = any(array(
      select ctid from event_mail_queue where occurred_at < now() - interval '1 day' limit 10000))`;
}

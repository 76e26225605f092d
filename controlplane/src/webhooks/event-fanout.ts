/**
 * Turns each event into one delivery per endpoint that was active and subscribed when the event occurred, and queues
 * the e-mails that members subscribed to (event-mail). One statement marks an event exactly when its deliveries exist,
 * so several control planes share the work. Organizations take turns; events of an organization whose endpoints have
 * enough pending deliveries wait. Events of an organization that is being deleted are not delivered.
 */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import type { Sql } from '../db/postgres-client.js';
import { WEBHOOK_CHANNEL } from '../events/append-events.js';

const EVENTS_MAX = 200;
const ORGS_MAX = 100;
const EVENTS_PER_ORG = 20;
/** Pending deliveries of an organization's active endpoints above which its events wait. */
const PENDING_MAX = 20_000;
/** Deliveries of one call from which other control planes are woken to help. */
const WAKE_OTHERS_FROM = 32;

interface FanOutResult {
  readonly events: number;
  /** The next call continues after this organization; null when every organization was examined. */
  readonly nextOrgId: string | null;
}

/** `after`: {@link FanOutResult.nextOrgId} of the previous call; null starts at the first organization. */
export async function fanOutEvents(sql: Sql, after: string | null, pendingMax = PENDING_MAX): Promise<FanOutResult> {
  const [done] = await sql<{ events: number; deliveries: number; next: string | null }[]>`
    with recursive waiting as (
      (select org_id, 1 as position from events
        where fanned_out_at is null and org_id > ${after ?? NIL_UUID}::uuid order by org_id limit 1)
      union all
      select (select e.org_id from events e
               where e.fanned_out_at is null and e.org_id > w.org_id order by e.org_id limit 1),
             w.position + 1
        from waiting w where w.org_id is not null and w.position < ${ORGS_MAX}),
    ready as (
      select org_id from waiting w where org_id is not null and ${pendingMax} > (
        select count(*) from (
          select 1 from webhook_endpoints e join webhook_deliveries d on d.endpoint_id = e.id and d.status = 'pending'
           where e.org_id = w.org_id and e.status = 'active' limit ${pendingMax}) pending)),
    locked as (
      select e.* from ready cross join lateral (
        select id, org_id, event, data, occurred_at from events
         where org_id = ready.org_id and fanned_out_at is null
         order by occurred_at limit ${EVENTS_PER_ORG} for update skip locked) e),
    batch as (
      select id, org_id, event, data, occurred_at from (
        select *, row_number() over (partition by org_id order by occurred_at) as turn from locked) ranked
       order by turn, occurred_at limit ${EVENTS_MAX}),
    made as (
      insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload)
      select gen_random_uuid(), e.id, b.org_id, b.id, b.event,
             '{"event":' || to_json(b.event)::text
             || ',"timestamp":"' || to_char(b.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
             || '","data":' || b.data::text || '}'
        from batch b
        join webhook_endpoints e on e.org_id = b.org_id and e.status = 'active' and b.event = any(e.events)
         and e.created_at <= b.occurred_at
       where b.org_id not in (select id from organizations where purge_at is not null)
      on conflict (endpoint_id, event_id) do nothing
      returning 1),
    mailed as (
      insert into event_mail_queue (org_id, user_id, event_id, event, data, occurred_at)
      select b.org_id, r.user_id, b.id, b.event, b.data, b.occurred_at
        from batch b join event_mail_recipients r on r.org_id = b.org_id and b.event = any(r.events)
       where b.org_id not in (select id from organizations where purge_at is not null)
      on conflict do nothing),
    marked as (
      update events set fanned_out_at = now() from batch where events.id = batch.id returning 1)
    select (select count(*) from marked) as events, (select count(*) from made) as deliveries,
           (select org_id from waiting order by position desc limit 1) as next`;
  const { events, deliveries, next } = done!;
  if (deliveries >= WAKE_OTHERS_FROM) await sql`select pg_notify(${WEBHOOK_CHANNEL}, '')`;
  return { events, nextOrgId: next };
}

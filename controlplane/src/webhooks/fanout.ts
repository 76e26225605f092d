/**
 * Events become deliveries: one per event and endpoint that was there, active and subscribed when it occurred. One
 * statement: an event is marked exactly when its deliveries exist, and several control planes share the work. What
 * members want by mail is queued along with it (event-mail/sender.ts).
 */
import type { Sql } from '../db/sql.js';
import { WEBHOOK_CHANNEL } from '../events/outbox.js';

export const FANOUT_BATCH = 500;
/** From here on other control planes are woken to help. */
const HELP_FROM = 32;

/** Returns how many events were taken; as many as {@link FANOUT_BATCH} means that there may be more. */
export async function fanOut(sql: Sql): Promise<number> {
  const [done] = await sql<{ events: number; deliveries: number }[]>`
    with batch as (
      select id, org_id, event, data, occurred_at from events
       where fanned_out_at is null order by occurred_at limit ${FANOUT_BATCH} for update skip locked),
    made as (
      insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload)
      select gen_random_uuid(), e.id, b.org_id, b.id, b.event,
             '{"event":' || to_json(b.event)::text
             || ',"timestamp":"' || to_char(b.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
             || '","data":' || b.data::text || '}'
        from batch b
        join webhook_endpoints e on e.org_id = b.org_id and e.status = 'active' and b.event = any(e.events)
         and e.created_at <= b.occurred_at
      on conflict (endpoint_id, event_id) do nothing
      returning 1),
    mailed as (
      insert into event_mail_queue (org_id, user_id, event_id, event, data, occurred_at)
      select b.org_id, r.user_id, b.id, b.event, b.data, b.occurred_at
        from batch b join event_mail_recipients r on r.org_id = b.org_id and b.event = any(r.events)
      on conflict do nothing),
    marked as (
      update events set fanned_out_at = now() from batch where events.id = batch.id returning 1)
    select (select count(*) from marked) as events, (select count(*) from made) as deliveries`;
  if (done!.deliveries >= HELP_FROM) await sql`select pg_notify(${WEBHOOK_CHANNEL}, '')`;
  return done!.events;
}

/** Old events, deliveries and facts are deleted, so that no table grows for ever. */
import { NIL_UUID } from '@acg/base/uuid';
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql } from '../db/sql.js';

/** Deliveries and events are kept this long, pending ones of a paused endpoint too. */
const RETENTION_DAYS = 30;
/** Finished deliveries of an endpoint beyond these go before their time: one call can make a hundred. */
const DELIVERIES_PER_ENDPOINT_MAX = 20_000;
/** Where an endpoint has too many is found by counting, seconds each from a slow disk, and a statement has a minute. */
const ENDPOINTS_PER_STEP = 5;
/** Facts of a month cannot come up again after the next one. */
const FACT_RETENTION_DAYS = 62;

/** Deletes what is too old or too much, at most some 100 000 rows per table, or endpoint, and call. */
export async function deleteOldEvents(sql: Sql, keepPerEndpoint = DELIVERIES_PER_ENDPOINT_MAX): Promise<void> {
  await sql`delete from webhook_previous_secrets where until < now()`;
  await deleteInBatches(async () => {
    const rows = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries where created_at < now() - ${RETENTION_DAYS} * interval '1 day'
         order by created_at limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
  await deleteInBatches(async () => {
    const rows = await sql`
      delete from events where id in (
        select id from events where fanned_out_at < now() - ${RETENTION_DAYS} * interval '1 day'
         limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
  await deleteInBatches(async () => {
    const rows = await sql`
      delete from event_facts where fact in (
        select fact from event_facts where at < now() - ${FACT_RETENTION_DAYS} * interval '1 day'
         limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
  await deleteExcessDeliveries(sql, keepPerEndpoint);
}

async function deleteExcessDeliveries(sql: Sql, keep: number): Promise<void> {
  for (let after: string | undefined = NIL_UUID; after !== undefined; ) {
    const endpoints: DeliveryCutoff[] = await sql<DeliveryCutoff[]>`
      select e.id as "endpointId", first.at, first.id
        from (select id from webhook_endpoints where id > ${after} order by id limit ${ENDPOINTS_PER_STEP}) e
        left join lateral (
          select created_at::text as at, id from webhook_deliveries where endpoint_id = e.id
           order by created_at desc, id desc offset ${keep} limit 1) first on true
       order by e.id`;
    for (const first of endpoints) if (first.id !== null) await deleteDeliveriesUpTo(sql, first);
    after = endpoints.at(-1)?.endpointId;
  }
}

/** The newest of an endpoint's deliveries that are too many; nulls: there are none. */
interface DeliveryCutoff {
  readonly endpointId: string;
  readonly at: string | null;
  readonly id: string | null;
}

function deleteDeliveriesUpTo(sql: Sql, { endpointId, at, id }: DeliveryCutoff): Promise<void> {
  return deleteInBatches(async () => {
    const rows = await sql`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries
         where endpoint_id = ${endpointId} and status <> 'pending'
           and (created_at, id) <= (${at}::text::timestamptz, ${id})
         order by created_at desc, id desc limit ${ROWS_PER_BATCH} for update skip locked)`;
    return rows.count;
  });
}

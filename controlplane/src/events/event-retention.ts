/** Deletes old events, deliveries and event facts, so that no table grows without bound. */
import { NIL_UUID } from '@acg/base/uuid-patterns';
import { deleteInBatches, ROWS_PER_BATCH } from '../db/delete-in-batches.js';
import type { Sql } from '../db/postgres-client.js';

/** Days that deliveries and events are kept, including pending deliveries of paused endpoints. */
const RETENTION_DAYS = 30;
/**
 * Finished deliveries kept per endpoint; older ones are deleted early. One API call can create a hundred deliveries.
 */
const DELIVERIES_PER_ENDPOINT_MAX = 20_000;
/** Endpoints counted per statement. A count can take seconds on a slow disk, and a statement may run for one minute. */
const ENDPOINTS_PER_STEP = 5;
/** Days that facts are kept. A fact belongs to one month and cannot recur after the following month. */
const FACT_RETENTION_DAYS = 62;

/** Deletes expired and excess rows: at most about 100 000 rows per call, table and endpoint. */
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

/**
 * The newest delivery of an endpoint that exceeds the bound. `at` and `id` are null when the endpoint is within the
 * bound.
 */
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

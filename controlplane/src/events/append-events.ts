/**
 * Appends events in the transaction that changes the state, so an event exists exactly when its change is committed.
 * The fan-out (webhooks/event-fanout.ts) reads them; a notification wakes it at commit.
 */
import { uuidv7 } from '@acg/base/uuidv7';
import { arrayLiteral } from '../db/array-literal.js';
import type { Tx } from '../db/postgres-client.js';
import { assertEventData, type EventData, type EventName } from './event-catalogue.js';

/** Channel of LISTEN/NOTIFY that wakes the webhook workers; no payload. */
export const WEBHOOK_CHANNEL = 'webhooks';

export async function appendEvent<E extends EventName>(
  tx: Tx,
  orgId: string,
  event: E,
  data: EventData<E>,
): Promise<void> {
  await appendEvents(tx, event, [{ orgId, data }]);
}

/** Appends events of one kind in one statement. */
export async function appendEvents<E extends EventName>(
  tx: Tx,
  event: E,
  events: readonly { readonly orgId: string; readonly data: EventData<E> }[],
): Promise<void> {
  if (events.length === 0) return;
  for (const { data } of events) assertEventData(event, data);
  await tx`
    insert into events (id, org_id, event, data)
    select r.id, r.org_id, ${event}, r.data::json
      from unnest(${events.map(() => uuidv7(Date.now()))}::uuid[], ${events.map(({ orgId }) => orgId)}::uuid[],
                  ${arrayLiteral(events, ({ data }) => JSON.stringify(data))}::text::text[]) as r(id, org_id, data)`;
  await tx`select pg_notify(${WEBHOOK_CHANNEL}, '')`;
}

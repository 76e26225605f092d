/**
 * Appends events in the transaction that changes the state, so an event exists exactly when its change is committed.
 * The fan-out (webhooks/event-fanout.ts) reads them; a notification wakes it at commit.
 */
import { uuidv7 } from '@acg/base/uuidv7';
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
  await appendEvents(tx, [orgId], event, data);
}

/** Appends the same event for several organizations. */
export async function appendEvents<E extends EventName>(
  tx: Tx,
  orgIds: readonly string[],
  event: E,
  data: EventData<E>,
): Promise<void> {
  if (orgIds.length === 0) return;
  assertEventData(event, data);
  const text = JSON.stringify(data);
  const rows = orgIds.map((orgId) => ({ id: uuidv7(Date.now()), orgId }));
  await tx`
    insert into events (id, org_id, event, data)
    select r.id, r.org_id, ${event}, ${text}::text::json
      from unnest(${rows.map((r) => r.id)}::uuid[], ${rows.map((r) => r.orgId)}::uuid[]) as r(id, org_id)`;
  await tx`select pg_notify(${WEBHOOK_CHANNEL}, '')`;
}

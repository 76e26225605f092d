/** Events are written in the transaction that makes them true; the fan-out to webhooks reads them from here. */
import { uuidv7 } from '@acg/base/uuidv7';
import type { JSONValue, Tx } from '../db/sql.js';

export const EVENT_NAMES = [
  'agent.created',
  'agent.deleted',
  'agent.budget_exceeded',
  'provider.circuit_opened',
  'provider.circuit_closed',
  'abuse.detected',
  'usage.threshold',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

export async function appendEvent(
  tx: Tx,
  orgId: string,
  event: EventName,
  data: Readonly<Record<string, JSONValue>>,
): Promise<void> {
  await tx`insert into events (id, org_id, event, data) values (${uuidv7(Date.now())}, ${orgId}, ${event}, ${tx.json(data)})`;
}

import type { Sql } from '../db/postgres-client.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { EVENT_NAMES, EVENT_TYPES, type EventName } from './event-catalogue.js';

interface EventRow {
  readonly id: string;
  readonly event: EventName;
  readonly data: Record<string, unknown>;
  readonly occurredAt: Date;
}

/** Viewers read the list of events; these have data that only admins may see. */
const WEBHOOKS_ONLY = EVENT_NAMES.filter((event) => EVENT_TYPES[event].webhooksOnly === true);

/** Absent fields do not filter. `start` and `end` are UTC days, both inclusive. */
interface EventFilter {
  readonly event?: EventName;
  readonly agentId?: string;
  readonly start?: string;
  readonly end?: string;
}

export async function listEvents(
  sql: Sql,
  orgId: string,
  { event, agentId, start, end }: EventFilter,
  page: Page,
): Promise<ListResult<EventRow>> {
  const where = sql`
    where org_id = ${orgId} and event <> all(${WEBHOOKS_ONLY})
      ${event === undefined ? sql`` : sql`and event = ${event}`}
      ${agentId === undefined ? sql`` : sql`and data ->> 'agentId' = ${agentId.toLowerCase()}`}
      ${start === undefined ? sql`` : sql`and occurred_at >= ${start}::date`}
      ${end === undefined ? sql`` : sql`and occurred_at < ${end}::date + 1`}`;
  const rows = await sql<EventRow[]>`
    select id, event, data, occurred_at as "occurredAt" from events ${where}
     order by occurred_at desc, id desc limit ${page.limit} offset ${page.offset}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total from events ${where}`;
  return { rows, total: count!.total };
}

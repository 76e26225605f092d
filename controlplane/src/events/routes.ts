import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { EVENT_NAMES, EVENT_TYPES } from './event-catalogue.js';
import { EventList, EventQuery, EventTypeList } from './schema.js';
import { listEvents } from './store.js';

export function eventRoutes(app: App, sql: Sql): void {
  app.get(
    '/v1/events',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Events', 'listEvents', 'List events, newest first'),
        querystring: EventQuery,
        response: { 200: EventList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await listEvents(sql, actor.orgId, query, { limit, offset });
      const events = rows.map(({ occurredAt, ...row }) => ({ ...row, occurredAt: occurredAt.toISOString() }));
      return { events, total, limit, offset };
    },
  );

  app.get(
    '/v1/events/types',
    {
      config: { access: 'viewer', project: {} },
      schema: {
        ...operation('Events', 'listEventTypes', 'List the types of events with their texts and samples'),
        response: { 200: EventTypeList },
      },
    },
    async () => ({
      types: EVENT_NAMES.map((event) => {
        const { title, description, severity, sample, webhooksOnly = false } = EVENT_TYPES[event];
        return { event, title, description, severity, sample, webhooksOnly };
      }),
    }),
  );
}

/** What the gateway sends to the endpoints of webhooks, one entry for each event. */
import { EVENT_NAMES, EVENT_TYPES } from '@acg/controlplane/events/event-catalogue';
import { DELIVERY_HEADERS } from '@acg/controlplane/reference/openapi-document-texts';
import { Type } from 'typebox';
import type { JsonNode, SchemaRegistry } from './schema-registry.js';

const HEADERS = Object.entries(DELIVERY_HEADERS).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));
const RECEIVED_AT = '2026-01-31T12:00:00.000Z';

/** `agent.budget_exceeded` → `AgentBudgetExceeded`. */
const typeName = (event: string): string =>
  event.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function createWebhooksSection(schemas: SchemaRegistry): JsonNode {
  return Object.fromEntries(
    EVENT_NAMES.map((event) => {
      const { title, description, schema, sample } = EVENT_TYPES[event];
      const type = typeName(event);
      const payload = Type.Object({
        event: Type.Literal(event),
        timestamp: Type.String({ format: 'date-time' }),
        data: Type.Unsafe({ ...schema, title: `${type}Data` }),
      });
      const operation = {
        operationId: `on${type}`,
        tags: ['Webhooks'],
        summary: title,
        description,
        security: [],
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: schemas.reference(payload, `${type}Event`),
              example: { event, timestamp: RECEIVED_AT, data: sample },
            },
          },
        },
        responses: { '2XX': { description: 'Received. Anything else is tried again.' } },
      };
      return [event, { post: operation }];
    }),
  );
}

/** What the gateway sends to the endpoints of webhooks, one entry for each event. */
import { EVENT_DATA_SCHEMAS, SAMPLE_EVENT_DATA } from '@acg/controlplane/events/event-catalogue';
import { Type } from 'typebox';
import type { JsonNode, SchemaRegistry } from './schema-registry.js';

const SUMMARIES: Readonly<Record<keyof typeof EVENT_DATA_SCHEMAS, string>> = {
  'agent.created': 'An agent was created',
  'agent.deleted': 'An agent was deleted',
  'agent.budget_exceeded': 'The monthly budget of an agent is used up',
  'provider.circuit_opened': 'A breaker opened: calls to the provider are rejected',
  'provider.circuit_closed': 'A breaker closed: the provider has recovered',
  'abuse.detected': 'The use of an agent’s gateway token looks like abuse',
  'credential.refused': 'A provider rejects the credentials of an account',
  'credential.accepted': 'A provider accepts the credentials of an account again',
  'webhook.paused': 'An endpoint was paused because every attempt failed',
  'usage.threshold': 'Spend has reached a threshold of the budget',
};

const createHeader = (name: string, description: string): JsonNode => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});
const HEADERS = [
  createHeader(
    'X-Webhook-Signature',
    'HMAC-SHA256 of the raw body in lower-case hex, keyed with the whole secret; with the old secret during a rotation.',
  ),
  createHeader('X-Webhook-Signatures', '`v1=` and the signature for each valid secret: two during a rotation.'),
  createHeader('X-Webhook-Event', 'The name of the event.'),
  createHeader('X-Webhook-Delivery', 'The id of the delivery, the same on every retry.'),
];
const RECEIVED_AT = '2026-01-31T12:00:00.000Z';

/** `agent.budget_exceeded` → `AgentBudgetExceeded`. */
const typeName = (event: string): string =>
  event.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

export function createWebhooksSection(schemas: SchemaRegistry): JsonNode {
  return Object.fromEntries(
    Object.entries(EVENT_DATA_SCHEMAS).map(([event, data]) => {
      const type = typeName(event);
      const payload = Type.Object({
        event: Type.Literal(event),
        timestamp: Type.String({ format: 'date-time' }),
        data: Type.Unsafe({ ...data, title: `${type}Data` }),
      });
      const operation = {
        operationId: `on${type}`,
        tags: ['Webhooks'],
        summary: SUMMARIES[event as keyof typeof EVENT_DATA_SCHEMAS],
        security: [],
        parameters: HEADERS,
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: schemas.reference(payload, `${type}Event`),
              example: {
                event,
                timestamp: RECEIVED_AT,
                data: SAMPLE_EVENT_DATA[event as keyof typeof EVENT_DATA_SCHEMAS],
              },
            },
          },
        },
        responses: { '2XX': { description: 'Received. Anything else is tried again.' } },
      };
      return [event, { post: operation }];
    }),
  );
}

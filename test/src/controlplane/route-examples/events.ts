import { newAccount, newAgent } from './provisioning.js';
import type { ExampleContext, Examples } from './route-example.js';

/** No server listens there: deliveries fail, and no example depends on their success. */
const CLOSED_PORT_URL = 'http://127.0.0.1:9/hook';

async function newEndpoint({ owner }: ExampleContext): Promise<string> {
  const { body } = await owner.call('POST', '/v1/webhooks', { url: CLOSED_PORT_URL, events: ['agent.created'] });
  return body.endpoint.id;
}

async function newDelivery(context: ExampleContext): Promise<string> {
  const { body } = await context.owner.call('POST', `/v1/webhooks/${await newEndpoint(context)}/test`);
  return body.delivery.id;
}

/** The state after the last retry. A worker that is sending it loses its lease and changes nothing. */
async function failedDelivery(context: ExampleContext): Promise<string> {
  const id = await newDelivery(context);
  await context.plane.database.sql`
    update webhook_deliveries set status = 'failed', lease = null where id = ${id}`;
  return id;
}

export const EVENT_EXAMPLES: Examples = {
  'GET /v1/status': { prepare: () => ({}) },
  'GET /v1/events': {
    async prepare(context) {
      await newAgent(context);
      const { body } = await context.owner.call('GET', '/v1/events');
      return { query: { agentId: body.events[0].data.agentId, event: 'agent.created' } };
    },
    foreign: { agentId: 200 }, // a filter over the organization's own events
  },
  'GET /v1/events/types': { otherProject: 200, prepare: () => ({}) },
  'GET /v1/circuits': {
    async prepare(context) {
      await newAccount(context);
      return {};
    },
  },
  'GET /v1/prices': { prepare: () => ({ query: { provider: 'openai', model: 'gpt-5-mini' } }) },
  'PUT /v1/circuits': {
    async prepare(context) {
      await newAccount(context);
      return { body: { providerSlug: 'openai', state: 'OPEN', holdMinutes: 30 } };
    },
  },
  'GET /v1/attention': {
    async prepare(context) {
      await newAgent(context);
      return {};
    },
  },
  'GET /v1/event-mail': { prepare: () => ({}) },
  'PUT /v1/event-mail/:userId': {
    async prepare({ plane, owner, caller }) {
      const { userId } = caller ?? owner;
      await plane.database.sql`update users set email_verified_at = now() where id = ${userId}`;
      return { params: { userId }, body: { events: ['usage.threshold'] } };
    },
  },
  'GET /v1/webhooks': { prepare: () => ({}) },
  'POST /v1/webhooks': { prepare: () => ({ body: { url: CLOSED_PORT_URL, events: ['agent.created'] } }), success: 201 },
  'PATCH /v1/webhooks/:id': {
    prepare: async (context) => ({ params: { id: await newEndpoint(context) }, body: { status: 'paused' } }),
  },
  'DELETE /v1/webhooks/:id': { prepare: async (context) => ({ params: { id: await newEndpoint(context) } }) },
  'POST /v1/webhooks/:id/test': {
    prepare: async (context) => ({ params: { id: await newEndpoint(context) }, body: { event: 'agent.created' } }),
    success: 201,
  },
  'GET /v1/webhooks/:id': { prepare: async (context) => ({ params: { id: await newEndpoint(context) } }) },
  'POST /v1/webhooks/:id/rotate': {
    prepare: async (context) => ({ params: { id: await newEndpoint(context) }, body: { graceSeconds: 60 } }),
  },
  'POST /v1/webhooks/:id/replay': {
    prepare: async (context) => ({
      params: { id: await newEndpoint(context) },
      body: {
        start: '2026-01-01T00:00:00.000Z',
        end: '2999-01-01T00:00:00.000Z',
        status: ['failed'],
        event: 'agent.created',
      },
    }),
  },
  'GET /v1/webhooks/:endpointId/deliveries': {
    prepare: async (context) => ({ params: { endpointId: await newEndpoint(context) } }),
  },
  'GET /v1/webhooks/deliveries/:deliveryId': {
    prepare: async (context) => ({ params: { deliveryId: await newDelivery(context) } }),
  },
  'POST /v1/webhooks/deliveries/:deliveryId/retry': {
    prepare: async (context) => ({ params: { deliveryId: await failedDelivery(context) } }),
  },
};

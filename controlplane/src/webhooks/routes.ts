import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { IdParams, Uuid } from '../http/schema.js';
import type { WebhookService } from './endpoint-and-delivery-service.js';
import {
  DeliveryDetailReply,
  DeliveryList,
  DeliveryQuery,
  DeliveryReply,
  EndpointCreated,
  EndpointDeleted,
  EndpointInput,
  EndpointList,
  EndpointPatch,
  EndpointQuery,
  EndpointReply,
  ReplayInput,
  ReplayReply,
  SecretRotation,
  WebhookTestInput,
} from './schema.js';

export function webhookRoutes(app: App, webhooks: WebhookService): void {
  endpointRoutes(app, webhooks);
  actionRoutes(app, webhooks);
  deliveryRoutes(app, webhooks);
}

function endpointRoutes(app: App, webhooks: WebhookService): void {
  app.get(
    '/v1/webhooks',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Webhooks', 'listWebhooks', 'List webhook endpoints'),
        querystring: EndpointQuery,
        response: { 200: EndpointList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await webhooks.list(actor, query, { limit, offset });
      return { endpoints: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/webhooks',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Webhooks', 'createWebhook', 'Create a webhook endpoint; the secret is returned once'),
        body: EndpointInput,
        response: { 201: EndpointCreated },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ endpoint: await webhooks.create(actor, body) }),
  );
  app.get(
    '/v1/webhooks/:id',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Webhooks', 'getWebhook', 'Get a webhook endpoint'),
        params: IdParams,
        response: { 200: EndpointReply },
      },
    },
    async ({ actor, params }) => ({ endpoint: await webhooks.get(actor, params.id) }),
  );
  app.patch(
    '/v1/webhooks/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Webhooks', 'updateWebhook', 'Update a webhook endpoint, or pause it'),
        params: IdParams,
        body: EndpointPatch,
        response: { 200: EndpointReply },
      },
    },
    async ({ actor, params, body }) => ({ endpoint: await webhooks.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/webhooks/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Webhooks', 'deleteWebhook', 'Delete a webhook endpoint with its deliveries'),
        params: IdParams,
        response: { 200: EndpointDeleted },
      },
    },
    async ({ actor, params }) => {
      await webhooks.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}

function actionRoutes(app: App, webhooks: WebhookService): void {
  app.post(
    '/v1/webhooks/:id/test',
    {
      config: { access: 'admin', bodyOptional: true },
      schema: {
        ...operation('Webhooks', 'testWebhook', 'Send a sample event to a webhook endpoint'),
        description: 'Queues a sample of an event that the endpoint subscribes to. Every id in it is the nil UUID.',
        params: IdParams,
        body: WebhookTestInput,
        response: { 201: DeliveryReply },
      },
    },
    async ({ actor, params, body }, reply) =>
      reply.code(201).send({ delivery: await webhooks.queueTestDelivery(actor, params.id, body.event) }),
  );
  app.post(
    '/v1/webhooks/:id/rotate',
    {
      config: { access: 'admin', bodyOptional: true },
      schema: {
        ...operation(
          'Webhooks',
          'rotateWebhookSecret',
          'Rotate the signing secret; both secrets sign during the overlap',
        ),
        params: IdParams,
        body: SecretRotation,
        response: { 200: EndpointCreated },
      },
    },
    async ({ actor, params, body }) => ({ endpoint: await webhooks.rotateSecret(actor, params.id, body.graceSeconds) }),
  );
  app.post(
    '/v1/webhooks/:id/replay',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Webhooks', 'replayDeliveries', 'Replay the deliveries of a time range'),
        params: IdParams,
        body: ReplayInput,
        response: { 200: ReplayReply },
      },
    },
    async ({ actor, params, body }) => webhooks.replayDeliveries(actor, params.id, body),
  );
}

function deliveryRoutes(app: App, webhooks: WebhookService): void {
  app.get(
    '/v1/webhooks/:endpointId/deliveries',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Webhooks', 'listDeliveries', 'List the deliveries of a webhook endpoint'),
        params: Type.Object({ endpointId: Uuid }),
        querystring: DeliveryQuery,
        response: { 200: DeliveryList },
      },
    },
    async ({ actor, params, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await webhooks.listDeliveries(actor, params.endpointId, query, { limit, offset });
      return { deliveries: [...rows], total, limit, offset };
    },
  );
  app.get(
    '/v1/webhooks/deliveries/:deliveryId',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Webhooks', 'getDelivery', 'Get a delivery with its payload'),
        params: Type.Object({ deliveryId: Uuid }),
        response: { 200: DeliveryDetailReply },
      },
    },
    async ({ actor, params }) => ({ delivery: await webhooks.getDelivery(actor, params.deliveryId) }),
  );
  app.post(
    '/v1/webhooks/deliveries/:deliveryId/retry',
    {
      config: { access: 'member' },
      schema: {
        ...operation('Webhooks', 'retryDelivery', 'Retry a failed delivery'),
        params: Type.Object({ deliveryId: Uuid }),
        response: { 200: DeliveryReply },
      },
    },
    async ({ actor, params }) => ({ delivery: await webhooks.retryDelivery(actor, params.deliveryId) }),
  );
}

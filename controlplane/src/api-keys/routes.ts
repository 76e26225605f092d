import type { App } from '../http/app.js';
import { page } from '../http/pagination.js';
import { IdParams } from '../http/schema.js';
import { ApiKeyCreatedReply, ApiKeyInput, ApiKeyList, ApiKeyQuery, ApiKeyRevoked } from './schema.js';
import type { ApiKeyService } from './service.js';

export function apiKeyRoutes(app: App, keys: ApiKeyService): void {
  app.get(
    '/v1/api-keys',
    {
      config: {
        access: 'viewer',
        project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' },
      },
      schema: { querystring: ApiKeyQuery, response: { 200: ApiKeyList } },
    },
    async ({ actor, query }) => {
      const { limit, offset } = page(query);
      const filter = { agentId: query.agentId ?? null, projectId: query.projectId ?? null };
      const { rows, total } = await keys.list(actor, filter, { limit, offset });
      return { keys: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/api-keys',
    {
      config: { access: 'admin', project: { body: { agentId: 'agent', projectId: 'project' } } },
      schema: { body: ApiKeyInput, response: { 201: ApiKeyCreatedReply } },
    },
    async ({ actor, body }, reply) => {
      const { key, secretKey } = await keys.create(actor, body);
      const { id, name, keyPrefix, scope, createdAt } = key;
      return reply.code(201).send({ key: { id, name, keyPrefix, scope, createdAt }, secretKey: secretKey.reveal() });
    },
  );
  app.delete(
    '/v1/api-keys/:id',
    {
      config: { access: 'admin', project: { params: { id: 'key' } } },
      schema: { params: IdParams, response: { 200: ApiKeyRevoked } },
    },
    async ({ actor, params }) => {
      await keys.revoke(actor, params.id);
      return { revoked: true as const };
    },
  );
}

import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { IdParams } from '../http/schema.js';
import { parseOptionalTimestamp } from '../http/timestamp-params.js';
import {
  ApiKeyCreatedReply,
  ApiKeyDetailsReply,
  ApiKeyInput,
  ApiKeyList,
  ApiKeyPatch,
  ApiKeyQuery,
  ApiKeyReply,
  ApiKeyRevoked,
  RotationInput,
  RotationReply,
} from './schema.js';
import type { ApiKeyService } from './service.js';

const BY_KEY = { params: { id: 'key' } } as const;

export function apiKeyRoutes(app: App, keys: ApiKeyService): void {
  app.get(
    '/v1/api-keys',
    {
      config: {
        access: 'viewer',
        project: { query: { agentId: 'agent', projectId: 'project' }, listBy: 'projectId' },
      },
      schema: {
        ...operation('API keys', 'listApiKeys', 'List API keys'),
        querystring: ApiKeyQuery,
        response: { 200: ApiKeyList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const filter = {
        agentId: query.agentId ?? null,
        projectId: query.projectId ?? null,
        status: query.status ?? null,
        search: query.search ?? null,
        neverUsed: query.neverUsed ?? null,
        unusedSince: parseOptionalTimestamp('unusedSince', query.unusedSince),
      };
      const { rows, total } = await keys.list(actor, filter, query, { limit, offset });
      return { keys: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/api-keys',
    {
      config: { access: 'admin', project: { body: { agentId: 'agent', projectId: 'project' } } },
      schema: {
        ...operation('API keys', 'createApiKey', 'Create an API key; its gateway token is returned only once'),
        body: ApiKeyInput,
        response: { 201: ApiKeyCreatedReply },
      },
    },
    async ({ actor, body }, reply) => {
      const { key, secretKey } = await keys.create(actor, body);
      const { id, name, keyPrefix, scope, createdAt } = key;
      return reply.code(201).send({ key: { id, name, keyPrefix, scope, createdAt }, secretKey: secretKey.reveal() });
    },
  );
  app.get(
    '/v1/api-keys/:id',
    {
      config: { access: 'viewer', project: BY_KEY },
      schema: {
        ...operation('API keys', 'getApiKey', 'Get an API key, also a revoked one'),
        params: IdParams,
        response: { 200: ApiKeyDetailsReply },
      },
    },
    async ({ actor, params }) => ({ key: await keys.get(actor, params.id) }),
  );
  app.patch(
    '/v1/api-keys/:id',
    {
      config: { access: 'admin', project: BY_KEY },
      schema: {
        ...operation('API keys', 'updateApiKey', 'Rename an API key or change its expiry'),
        params: IdParams,
        body: ApiKeyPatch,
        response: { 200: ApiKeyReply },
      },
    },
    async ({ actor, params, body }) => ({ key: await keys.update(actor, params.id, body) }),
  );
  app.post(
    '/v1/api-keys/:id/rotate',
    {
      config: { access: 'admin', project: BY_KEY, bodyOptional: true },
      schema: {
        ...operation('API keys', 'rotateApiKey', 'Rotate an API key; the old one stays valid for a grace period'),
        params: IdParams,
        body: RotationInput,
        response: { 201: RotationReply },
      },
    },
    async ({ actor, params, body }, reply) => {
      const { secretKey, ...keyAndPrevious } = await keys.rotate(actor, params.id, body);
      return reply.code(201).send({ ...keyAndPrevious, secretKey: secretKey.reveal() });
    },
  );
  app.delete(
    '/v1/api-keys/:id',
    {
      config: { access: 'admin', project: BY_KEY },
      schema: {
        ...operation('API keys', 'revokeApiKey', 'Revoke an API key'),
        params: IdParams,
        response: { 200: ApiKeyRevoked },
      },
    },
    async ({ actor, params }) => {
      await keys.revoke(actor, params.id);
      return { revoked: true as const };
    },
  );
}

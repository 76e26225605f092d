import type { App } from '../../http/app.js';
import { parsePage } from '../../http/limit-offset-pagination.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../../http/schema.js';
import { ManagementTokenCreated, ManagementTokenInput, ManagementTokenList, ManagementTokenQuery } from './schema.js';
import type { ManagementTokenService } from './service.js';

/** `tokens: false`: a management token cannot create, list or delete management tokens. */
const config = { access: 'admin', tokens: false } as const;

export function managementTokenRoutes(app: App, tokens: ManagementTokenService): void {
  app.get(
    '/v1/management-tokens',
    {
      config,
      schema: {
        ...operation('Management tokens', 'listManagementTokens', 'List management tokens'),
        querystring: ManagementTokenQuery,
        response: { 200: ManagementTokenList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await tokens.list(actor, query, { limit, offset });
      return { tokens: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/management-tokens',
    {
      config,
      schema: {
        ...operation(
          'Management tokens',
          'createManagementToken',
          'Create a management token, which is returned only once',
        ),
        body: ManagementTokenInput,
        response: { 201: ManagementTokenCreated },
      },
    },
    async ({ actor, body }, reply) => {
      const { token, secretToken } = await tokens.create(actor, body);
      return reply.code(201).send({ token, secretToken: secretToken.reveal() });
    },
  );
  app.delete(
    '/v1/management-tokens/:id',
    {
      config,
      schema: {
        ...operation('Management tokens', 'deleteManagementToken', 'Delete a management token'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await tokens.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}

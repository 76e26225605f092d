import { Type } from 'typebox';
import type { App } from '../../http/app.js';
import { PageQuery, parsePage } from '../../http/limit-offset-pagination.js';
import { operation } from '../../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../../http/schema.js';
import type { CustomProviderService } from './custom-provider-service.js';
import { CustomProviderInput, CustomProviderPut, CustomProviderReply, ProviderListing } from './schema.js';

export function customProviderRoutes(app: App, providers: CustomProviderService): void {
  app.get(
    '/v1/custom-providers',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Providers', 'listCustomProviders', 'All providers, with those of the organization'),
        querystring: Type.Object(PageQuery),
        response: { 200: ProviderListing },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { rows, total } = await providers.list(actor, { limit, offset });
      return { providers: [...rows], total, limit, offset };
    },
  );
  app.post(
    '/v1/custom-providers',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Providers', 'createCustomProvider', 'Add a provider of the organization'),
        body: CustomProviderInput,
        response: { 201: CustomProviderReply },
      },
    },
    async ({ actor, body }, reply) => reply.code(201).send({ provider: await providers.create(actor, body) }),
  );
  app.put(
    '/v1/custom-providers/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Providers', 'updateCustomProvider', 'Update a custom provider'),
        params: IdParams,
        body: CustomProviderPut,
        response: { 200: CustomProviderReply },
      },
    },
    async ({ actor, params, body }) => ({ provider: await providers.update(actor, params.id, body) }),
  );
  app.delete(
    '/v1/custom-providers/:id',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Providers', 'deleteCustomProvider', 'Delete a custom provider with its accounts'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await providers.delete(actor, params.id);
      return { deleted: true as const };
    },
  );
}

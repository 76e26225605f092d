import { Type } from 'typebox';
import type { App } from '../http/app.js';
import { PageQuery, PageReply, page } from '../http/pagination.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { CredentialFields } from './custom/schema.js';

const ProviderList = Type.Object({
  providers: Type.Array(
    Type.Object({ slug: Type.String(), displayName: Type.String(), credentialFields: CredentialFields }),
  ),
  ...PageReply,
});

export function providerRoutes(app: App, catalogue: Catalogue): void {
  app.get(
    '/v1/providers',
    {
      config: { access: 'viewer', project: {} },
      schema: { querystring: Type.Object(PageQuery), response: { 200: ProviderList } },
    },
    async ({ query }) => {
      const { limit, offset } = page(query);
      const all = catalogue.providers.map(({ slug, displayName, credentialFields }) => ({
        slug,
        displayName,
        credentialFields: [...credentialFields],
      }));
      return { providers: all.slice(offset, offset + limit), total: all.length, limit, offset };
    },
  );
}

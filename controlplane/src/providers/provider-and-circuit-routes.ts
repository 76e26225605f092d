import { Type } from 'typebox';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { PageQuery, PageReply, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { CircuitOverride, type CircuitOverrideService } from './circuit-override-service.js';
import { CredentialFields } from './custom/schema.js';
import { CircuitList, CircuitQuery, CircuitReply, listCircuits } from './org-circuit-list.js';

const ProviderList = Type.Object({
  providers: Type.Array(
    Type.Object({ slug: Type.String(), displayName: Type.String(), credentialFields: CredentialFields }),
  ),
  ...PageReply,
});

export function providerAndCircuitRoutes(
  app: App,
  catalogue: Catalogue,
  sql: Sql,
  overrides: CircuitOverrideService,
): void {
  app.get(
    '/v1/circuits',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Providers', 'listCircuits', 'List the circuit breakers of the organization’s providers'),
        querystring: CircuitQuery,
        response: { 200: CircuitList },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const { state = null } = query;
      const filter = { state, providerSlug: null };
      const { rows, total } = await listCircuits(sql, catalogue, actor.orgId, filter, { limit, offset });
      return { circuits: [...rows], total, limit, offset };
    },
  );
  app.put(
    '/v1/circuits',
    {
      config: { access: 'admin' },
      schema: {
        ...operation(
          'Providers',
          'overrideCircuit',
          'Close a circuit breaker of the organization, or hold it open for at most a day',
        ),
        errorStatuses: [404],
        body: CircuitOverride,
        response: { 200: CircuitReply },
      },
    },
    async ({ actor, body }) => ({ circuit: await overrides.apply(actor, body) }),
  );
  app.get(
    '/v1/providers',
    {
      config: { access: 'viewer', project: {} },
      schema: {
        ...operation('Providers', 'listProviders', 'Built-in providers'),
        querystring: Type.Object(PageQuery),
        response: { 200: ProviderList },
      },
    },
    async ({ query }) => {
      const { limit, offset } = parsePage(query);
      const all = catalogue.providers.map(({ slug, displayName, credentialFields }) => ({
        slug,
        displayName,
        credentialFields: [...credentialFields],
      }));
      return { providers: all.slice(offset, offset + limit), total: all.length, limit, offset };
    },
  );
}

/** For the API document. */
export const EXAMPLES = {
  'circuits.displayName': 'OpenAI',
  'circuit.displayName': 'OpenAI',
  'circuits.reason': null,
  'circuit.reason': 'held',
  origin: 'https://api.openai.com',
  nextProbeAt: null,
  since: null,
  'circuits.builtIn': true,
  holdMinutes: 120,
  'circuit.builtIn': true,
};

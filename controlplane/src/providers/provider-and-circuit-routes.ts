import { Type } from 'typebox';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { PageQuery, PageReply, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { CircuitOverride, type CircuitOverrideService } from './circuit-override-service.js';
import type { CustomProviderService } from './custom/custom-provider-service.js';
import { presentFacts, presentFields, presentSdk } from './custom/present-provider.js';
import { CredentialFields, ProviderFacts } from './custom/schema.js';
import { CircuitList, CircuitQuery, CircuitReply, listCircuits } from './org-circuit-list.js';

const ProviderSdk = Type.Object({
  env: Type.Record(
    Type.String(),
    Type.Object({
      value: Type.String({
        description: '{url} is the address of the provider on the gateway, {token} the gateway token.',
      }),
      keep: Type.Array(Type.String(), { description: 'The value of the first of these variables that is set wins.' }),
    }),
    { description: 'Variables that point the vendor’s SDK to the gateway.' },
  ),
  secretEnv: Type.Array(Type.String(), { description: 'Variables that hold a credential of the provider.' }),
  removeEnv: Type.Array(Type.String(), { description: 'Variables that would lead the SDK past the gateway.' }),
  remark: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'What variables cannot configure.' }),
  basePath: Type.String({ description: 'Path that the SDK expects in its base URL.' }),
  snippets: Type.Array(Type.Object({ id: Type.String(), label: Type.String(), code: Type.String() })),
});

const ProviderList = Type.Object({
  providers: Type.Array(
    Type.Object({
      slug: Type.String(),
      displayName: Type.String(),
      credentialFields: CredentialFields,
      ...ProviderFacts,
      sensitiveCalls: Type.Array(Type.Object({ call: Type.String(), why: Type.String(), source: Type.String() }), {
        description: 'Calls that are rejected unless the account allows them.',
      }),
      hasModels: Type.Boolean(),
      sdk: ProviderSdk,
    }),
  ),
  ...PageReply,
});

export function providerAndCircuitRoutes(
  app: App,
  catalogue: Catalogue,
  customProviders: CustomProviderService,
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
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const all = await customProviders.listBuiltIn(actor.orgId);
      const providers = all.slice(offset, offset + limit).map((provider) => ({
        slug: provider.slug,
        displayName: provider.displayName,
        credentialFields: presentFields(provider.credentialFields),
        ...presentFacts(provider),
        sensitiveCalls: provider.file!.sensitive?.map(({ call, why, source }) => ({ call, why, source })) ?? [],
        hasModels: provider.modelCalls.length > 0,
        sdk: presentSdk(provider.file!.sdk),
      }));
      return { providers, total: all.length, limit, offset };
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

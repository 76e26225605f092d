import { type Static, Type } from 'typebox';
import type { Sql } from '../db/postgres-client.js';
import { NotFound } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { PageQuery, PageReply, parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Catalogue } from './catalogue/catalogue.js';
import type { Provider } from './catalogue/provider.js';
import { CircuitOverride, type CircuitOverrideService } from './circuit-override-service.js';
import type { CustomProviderService } from './custom/custom-provider-service.js';
import { presentFacts, presentFields, presentMethods, presentSdk } from './custom/present-provider.js';
import { CredentialFields, MintMethods, ProviderFacts } from './custom/schema.js';
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

const BuiltInProvider = Type.Object({
  slug: Type.String(),
  displayName: Type.String(),
  credentialFields: CredentialFields,
  methods: MintMethods,
  ...ProviderFacts,
  hasModels: Type.Boolean({ description: 'Whether policies may have rules for models.' }),
});
const ProviderList = Type.Object({ providers: Type.Array(BuiltInProvider), ...PageReply });
const ProviderReply = Type.Object({
  provider: Type.Object({
    ...BuiltInProvider.properties,
    sensitiveCalls: Type.Array(Type.Object({ call: Type.String(), why: Type.String(), source: Type.String() }), {
      description: 'Calls that are rejected unless the account allows them, each with its public reference.',
    }),
    sdk: ProviderSdk,
  }),
});

const presentListed = (provider: Provider): Static<typeof BuiltInProvider> => ({
  slug: provider.slug,
  displayName: provider.displayName,
  credentialFields: presentFields(provider.credentialFields),
  methods: presentMethods(provider),
  ...presentFacts(provider),
  hasModels: provider.modelCalls.length > 0,
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
      const { state } = query;
      const filter = { states: state === undefined ? null : [state], providerSlug: null };
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
      const providers = all.slice(offset, offset + limit).map(presentListed);
      return { providers, total: all.length, limit, offset };
    },
  );
  app.get(
    '/v1/providers/:slug',
    {
      config: { access: 'viewer', project: {} },
      schema: {
        ...operation('Providers', 'getProvider', 'A built-in provider with its sensitive calls and its SDK'),
        params: Type.Object({ slug: Type.String({ minLength: 1, maxLength: 40 }) }),
        response: { 200: ProviderReply },
      },
    },
    async ({ actor, params }) => {
      const provider = (await customProviders.listBuiltIn(actor.orgId)).find(({ slug }) => slug === params.slug);
      if (provider === undefined) throw new NotFound(`built-in provider ${JSON.stringify(params.slug)}`);
      const { sensitive = [], sdk } = provider.file!;
      const sensitiveCalls = sensitive.map(({ call, why, source }) => ({ call, why, source }));
      return { provider: { ...presentListed(provider), sensitiveCalls, sdk: presentSdk(sdk) } };
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
  'GetProviderReply.provider.slug': 'openai',
  'GetProviderReply.provider.displayName': 'OpenAI',
  hasModels: true,
  'sensitiveCalls.call': '* /v1/organization/**',
  'sensitiveCalls.why': 'Creates and lists keys of the organization.',
  'sensitiveCalls.source': 'https://platform.openai.com/docs/api-reference/administration',
  'sdk.env': { OPENAI_BASE_URL: { value: '{url}/v1', keep: [] } },
  secretEnv: ['OPENAI_API_KEY'],
  removeEnv: ['OPENAI_ORG_ID'],
  remark: null,
  basePath: '/v1',
  'snippets.id': 'curl',
  'snippets.label': 'curl',
  'snippets.code': 'curl {url}/v1/models -H "Authorization: Bearer {token}"',
};

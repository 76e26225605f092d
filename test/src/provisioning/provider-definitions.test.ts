/** Tenants' own providers in the format of provider files, and calls whose path does not say what they do. */
import type { Upstream } from '@acg/dataplane/context/agent-context';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';

let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;
let agentId: string;
let secretKey: string;

beforeAll(async () => {
  plane = await startControlPlane({ PUBLIC_URL: 'http://127.0.0.1:8080' });
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  const { project } = (await owner.call('POST', '/v1/projects', { name: 'P' })).body;
  agentId = (await owner.call('POST', '/v1/agents', { projectId: project.id, name: 'A' })).body.agent.id;
  secretKey = (await owner.call('POST', '/v1/api-keys', { name: 'k', agentId })).body.secretKey;
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
});

const DEFINITION = {
  credentials: {
    kind: 'api_key',
    fields: [
      { name: 'apiKey', label: 'Key', secret: true, required: true, pattern: '^ak_[a-z0-9]+$', looksLike: 'ak_…' },
      { name: 'tenant', label: 'Tenant', secret: false, required: true },
      { name: 'site', label: 'Site', secret: false, required: false, values: ['eu', 'us'] },
    ],
  },
  origins: {
    default: [
      { when: { site: '^eu$' }, url: 'https://{tenant}.eu.acme.example.com' },
      { url: 'https://{tenant}.acme.example.com' },
    ],
    files: 'http://127.0.0.1:9',
  },
  inject: [
    { path: '/t{apiKey}', origin: 'files' },
    { header: 'authorization', value: 'Token {apiKey}', origin: 'default' },
    { header: 'x-tenant', value: '{tenant}' },
  ],
  drop: [{ query: 'tenant' }],
  usage: [{ calls: ['POST /v1/chat/**'], format: 'openai' }],
  models: { preset: 'openai' },
  sensitive: [{ call: '* /keys/**', why: 'keys' }],
  opaque: [{ call: 'POST /graphql', why: 'the body decides' }],
  presets: [{ name: 'Read', calls: ['GET /**'] }],
};

const create = (slug: string, definition: object, more: object = {}) =>
  owner.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition, ...more });

async function resolveAgain(change: () => Promise<unknown>) {
  await watched.resolve(secretKey);
  const seen = watched.cache.seenRevision;
  await change();
  await waitUntil('the invalidation has arrived', () => watched.cache.seenRevision > seen);
  return (await watched.resolve(secretKey)).context!;
}

const addAccount = (providerSlug: string, credentials: object, more: object = {}) =>
  owner.call('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials, ...more });

test('a definition becomes what data planes get: addresses, injections, usage and rejected calls per origin', async () => {
  const created = await create('acme', DEFINITION);
  expect([created.status, created.body.error]).toEqual([201, undefined]);
  expect(created.body.provider).toMatchObject({
    slug: 'acme',
    baseUrl: null,
    authType: 'path',
    usageFormat: 'openai',
    sensitivePaths: ['* /keys/**'],
    origins: ['default', 'files'],
    opaqueCalls: [{ call: 'POST /graphql', why: 'the body decides' }],
    presets: [{ name: 'Read', calls: ['GET /**'], scopes: null }],
    definition: DEFINITION,
    builtIn: false,
  });
  const credentials = { apiKey: 'ak_0123456789', tenant: 'my-org', site: 'eu' };
  const context = await resolveAgain(async () => {
    const answer = await addAccount('acme', credentials);
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  });
  const shared = { isCustom: true, publicSlug: 'custom', isTenantAddress: true, fleetKey: '', allowsWebSocket: false };
  const main = context.upstreams.get('acme') as Upstream;
  expect(main).toMatchObject({
    ...shared,
    proxyName: 'acme',
    origin: 'https://my-org.eu.acme.example.com',
    basePath: '',
    injection: { kind: 'header', name: 'authorization', value: 'Token ak_0123456789', pathPrefix: null },
    usageRules: [{ calls: ['POST /v1/chat/**'], format: 'openai' }],
    sensitiveCalls: [{ call: '* /keys/**' }],
    opaqueCalls: [{ call: 'POST /graphql' }],
  });
  expect(main.injection.extraHeaders).toEqual([['x-tenant', 'my-org']]);
  expect(main.modelCalls).toContainEqual({ call: '* /**/chat/completions', at: 'json' });
  expect(context.namedOrigins.get('acme:files')).toMatchObject({
    ...shared,
    proxyName: 'acme:files',
    origin: 'http://127.0.0.1:9',
    basePath: '/tak_0123456789',
    circuitKey: `acme|http://127.0.0.1:9|${owner.orgId}`,
    injection: { kind: 'header', name: 'x-tenant', value: 'my-org', pathPrefix: '/t' },
  });
  expect(context.namedOrigins.get('acme:files')!.injection.secretForms).toContain('ak_0123456789');
  const { circuits } = (await owner.call('GET', '/v1/circuits')).body;
  const origins = circuits.map(({ origin }: { origin: string }) => origin).sort();
  expect(origins).toEqual(['http://127.0.0.1:9', 'https://my-org.eu.acme.example.com']);
});

test('an account says whether opaque calls pass', async () => {
  const [account] = (await owner.call('GET', `/v1/providers/accounts?agentId=${agentId}`)).body.accounts;
  expect([account.allowSensitivePaths, account.allowOpaque]).toEqual([false, false]);
  const allowed = await resolveAgain(() =>
    owner.call('PATCH', `/v1/providers/accounts/${account.id}`, { allowOpaque: true }),
  );
  expect(allowed.upstreams.get('acme')!.opaqueCalls).toEqual([]);
  expect(allowed.upstreams.get('acme')!.sensitiveCalls).toHaveLength(1);
  const both = await resolveAgain(() =>
    owner.call('PATCH', `/v1/providers/accounts/${account.id}`, { allowSensitivePaths: true, allowOpaque: false }),
  );
  expect(both.upstreams.get('acme')!.opaqueCalls).toHaveLength(1);
  expect(both.upstreams.get('acme')!.sensitiveCalls).toEqual([]);
  expect((await owner.call('PATCH', `/v1/providers/accounts/${account.id}`, {})).status).toBe(400);
  const { entries } = (await owner.call('GET', '/v1/audit?action=account.update')).body;
  expect(entries.map(({ changes }: { changes: object }) => changes)).toContainEqual({ allowOpaque: [false, true] });
});

test('a definition with other addresses takes its accounts out of use; with other rules it does not', async () => {
  const { providers } = (await owner.call('GET', '/v1/custom-providers')).body;
  const { id } = providers.find(({ slug }: { slug: string }) => slug === 'acme');
  const path = `/v1/custom-providers/${id}`;
  const { opaque: _opaque, ...rest } = DEFINITION;
  const changed = await resolveAgain(() => owner.call('PUT', path, { definition: rest }));
  expect(changed.upstreams.get('acme')).toMatchObject({ accountStatus: 'active', opaqueCalls: [] });
  const moved = await resolveAgain(() =>
    owner.call('PUT', path, { definition: { ...rest, inject: [], origins: { default: 'http://127.0.0.1:9' } } }),
  );
  expect(moved.upstreams.get('acme')).toMatchObject({ accountStatus: 'needs_credentials' });
  expect(moved.namedOrigins.size).toBe(0);
  const short = await owner.call('PUT', path, { baseUrl: 'http://127.0.0.1:9' });
  expect([short.status, short.body.error]).toEqual([400, 'baseUrl does not go with definition: leave it out']);
});

const { fields } = DEFINITION.credentials;
test.each<[string, object, object, string]>([
  ['an unknown member', { colour: 'red' }, {}, 'definition: unknown field "colour"'],
  ['what only an operator decides', { prices: 'openai' }, {}, 'definition: unknown field "prices"'],
  ['variables of an SDK', { sdk: { snippets: {} } }, {}, 'definition: unknown field "sdk"'],
  ['texts of presets', { presets: [{ name: 'R', calls: ['GET /**'], scopes: 'x' }] }, {}, 'unknown field "scopes"'],
  ['fields of the short form', {}, { baseUrl: 'http://127.0.0.1:9' }, 'baseUrl does not go with definition'],
  [
    'an unknown field in a template',
    { inject: [{ header: 'x-key', value: '{key}' }] },
    {},
    'inject.0 names the unknown field key',
  ],
  [
    'a header of the gateway',
    { inject: [{ header: 'x-gateway-agent', value: '{apiKey}' }] },
    {},
    'cannot inject into x-gateway-agent',
  ],
  [
    'a backtracking expression',
    { credentials: { kind: 'api_key', fields: [{ ...fields[0], pattern: '^(?=a)b$' }] } },
    {},
    'no regular expression of RE2',
  ],
  [
    'a host of a built-in provider',
    { origins: { ...DEFINITION.origins, default: 'https://api.openai.com' } },
    {},
    'api.openai.com belongs to a built-in provider',
  ],
  [
    'a template over a built-in host',
    { origins: { ...DEFINITION.origins, default: 'https://{tenant}.eu-west-1.amazonaws.com' } },
    {},
    'belongs to a built-in provider',
  ],
  [
    'a host of a built-in provider with a dot at its end',
    { origins: { ...DEFINITION.origins, default: 'https://api.openai.com.' } },
    {},
    'api.openai.com belongs to a built-in provider',
  ],
  [
    'an expression that would occupy the control plane for seconds',
    { credentials: { kind: 'api_key', fields: [{ ...fields[0], pattern: `^${'[a-z]{0,1000}'.repeat(30)}$` }] } },
    {},
    'credentials.fields.0.pattern is no regular expression of RE2: it is too large',
  ],
  [
    'many expressions that would together',
    {
      credentials: {
        kind: 'api_key',
        fields: Array.from({ length: 12 }, (_, i) => ({ ...fields[0], name: `f${i}`, pattern: '^a{200}$' })),
      },
    },
    {},
    'credentials.fields.9.pattern makes the regular expressions of this provider too large together',
  ],
  [
    'a probe that sets a header of the connection',
    { probe: { path: '/me', headers: { 'content-length': '5' }, refused: [{ status: 401 }] } },
    {},
    'probe.headers.content-length cannot be set by a probe',
  ],
  ['a private address', { origins: { ...DEFINITION.origins, default: 'http://10.0.0.1' } }, {}, 'definition.origins:'],
  [
    'the gateway itself',
    { origins: { ...DEFINITION.origins, default: 'http://127.0.0.1:8080' } },
    {},
    'points to this gateway',
  ],
  [
    'too many sensitive calls',
    { sensitive: Array.from({ length: 201 }, (_, i) => ({ call: `GET /${i}` })) },
    {},
    'definition: sensitive',
  ],
])('a definition with %s is 400', async (_name, change, more, message) => {
  const answer = await create('bad', { ...DEFINITION, ...change }, more);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)]);
});

test('credentials are checked by the definition, and their addresses by the egress rules', async () => {
  const url = { name: 'url', label: 'URL', secret: false, required: true, kind: 'url' };
  const definition = {
    ...DEFINITION,
    credentials: { kind: 'api_key', fields: [...fields, url] },
    origins: { ...DEFINITION.origins, default: '{url}' },
  };
  expect((await create('on-premises', definition)).status).toBe(201);
  const given = { apiKey: 'ak_0123456789', tenant: 'my-org', url: 'http://127.0.0.1:9' };
  const cases: [object, string][] = [
    [{ ...given, apiKey: 'sk_0123456789' }, 'credentials.apiKey must look like ak_…'],
    [{ ...given, site: 'mars' }, 'credentials.site must be one of eu, us'],
    [{ ...given, url: 'http://10.0.0.1' }, 'credentials: the address http://10.0.0.1'],
    [{ ...given, url: 'https://api.openai.com' }, 'api.openai.com belongs to a built-in provider'],
    [{ ...given, url: 'https://api.openai.com./v1' }, 'belongs to a built-in provider'],
    [{ ...given, apiKey: `ak_${'a'.repeat(2_046)}` }, 'credentials.apiKey must have at most 2048 characters'],
    [{ ...given, url: 'http://127.0.0.1:9?x=1' }, 'must hold no query'],
  ];
  for (const [credentials, message] of cases) {
    const answer = await addAccount('on-premises', credentials);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)]);
  }
  expect((await create('hosted', DEFINITION)).status).toBe(201);
  const broken = await addAccount('hosted', { apiKey: 'ak_0123456789', tenant: 'a.evil.example/' });
  expect(broken.body.error).toContain('credentials.tenant must be a part of a host name');
  expect((await addAccount('on-premises', given)).status).toBe(201);
});

test('definitions of an organization have 512 KiB together, because lists and contexts contain them', async () => {
  const calls = Array.from({ length: 100 }, (_, i) => `GET /${i}/${'x'.repeat(180)}`);
  const usage = Array.from({ length: 18 }, (_, i) => ({ calls: calls.map((call) => `${call}/${i}`), format: 'none' }));
  const large = { ...DEFINITION, usage };
  expect((await create('large', large)).status).toBe(201);
  const second = await create('large-2', large);
  expect([second.status, second.body.error]).toEqual([409, expect.stringContaining('524288 bytes together')]);
  const { providers } = (await owner.call('GET', '/v1/custom-providers?limit=100')).body;
  const { id } = providers.find(({ slug }: { slug: string }) => slug === 'acme');
  expect((await owner.call('PUT', `/v1/custom-providers/${id}`, { definition: large })).status).toBe(409);
  const first = providers.find(({ slug }: { slug: string }) => slug === 'large');
  expect((await owner.call('DELETE', `/v1/custom-providers/${first.id}`)).status).toBe(200);
  expect((await owner.call('PUT', `/v1/custom-providers/${id}`, { definition: large })).status).toBe(200);
});

test('a field may have the name of what every object has', async () => {
  const named = { name: 'constructor', label: 'Site', secret: false, required: false };
  const definition = {
    ...DEFINITION,
    credentials: { kind: 'api_key', fields: [fields[0], named] },
    origins: { default: [{ when: { constructor: '^eu$' }, url: 'http://127.0.0.1:8' }, { url: 'http://127.0.0.1:9' }] },
    inject: [{ header: 'authorization', value: 'Token {apiKey}' }],
    drop: [{ header: 'x-site', with: 'constructor' }],
  };
  expect((await create('named', definition)).status).toBe(201);
  const context = await resolveAgain(async () => {
    const answer = await addAccount('named', { apiKey: 'ak_0123456789' });
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  });
  const upstream = context.upstreams.get('named')!;
  expect(upstream.origin).toBe('http://127.0.0.1:9');
  expect([...upstream.injection.dropHeaders]).not.toContain('x-site');
});

test('a credential test says what it called', async () => {
  const given = { apiKey: 'ak_0123456789', tenant: 'my-org', url: 'http://127.0.0.1:9' };
  const body = { providerSlug: 'on-premises', credentials: given };
  const { body: tested } = await owner.call('POST', '/v1/providers/accounts/test', body);
  expect(tested).toMatchObject({ ok: false, call: 'GET http://127.0.0.1:9', status: null });
  expect(tested.hint).toContain('could not be reached');
  const untestable = {
    ...DEFINITION,
    origins: { default: 'http://127.0.0.1:9' },
    probe: { none: 'no free call.' },
    inject: [],
  };
  expect((await create('untestable', untestable)).status).toBe(201);
  const none = await owner.call('POST', '/v1/providers/accounts/test', {
    providerSlug: 'untestable',
    credentials: { apiKey: 'ak_0123456789', tenant: 'my-org' },
  });
  expect(none.body).toMatchObject({ ok: false, call: null, status: null, hint: 'Not tested: no free call.' });
});

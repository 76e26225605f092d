/** Accounts and custom providers where they meet: races, addresses, and credentials that must not follow. */
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });

async function createTenant() {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId: string = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  return { owner, projectId, agentId };
}

const assignAccount = (owner: Member, agentId: string, providerSlug: string, credentials: object) =>
  owner.call('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials });

const CUSTOM = { slug: 'inhouse', displayName: 'In-house', baseUrl: 'http://127.0.0.1:9/a', authType: 'bearer' };

test('accounts: of 20 concurrent assignments one succeeds and 19 are 409', async () => {
  const { owner, agentId } = await createTenant();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => assignAccount(owner, agentId, 'openai', { apiKey: 'sk-0123456789' })),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)]);
});

test('custom providers: their sensitive paths are bounded together, since each context carries them', async () => {
  const { owner } = await createTenant();
  const paths = (count: number) => Array.from({ length: count }, (_, i) => `GET /${i}`);
  const add = (n: number, count: number) =>
    owner.call('POST', '/v1/custom-providers', { ...CUSTOM, slug: `own-${n}`, sensitivePaths: paths(count) });
  const made = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => add(n, 99)));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409]);
  expect((await add(7, 5)).status).toBe(201);
  expect((await add(8, 1)).status).toBe(409);
  expect((await add(9, 0)).status).toBe(201);
  const { id } = made.find(({ status }) => status === 201)!.body.provider;
  const put = (count: number) => owner.call('PUT', `/v1/custom-providers/${id}`, { sensitivePaths: paths(count) });
  expect([(await put(100)).status, (await put(98)).status, (await put(99)).status]).toEqual([409, 200, 200]);
});

test('custom providers: of 20 concurrent creations with one slug one succeeds and 19 are 409; the slug is free after its deletion', async () => {
  const { owner } = await createTenant();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => owner.call('POST', '/v1/custom-providers', CUSTOM)),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)]);
  const { id } = answers.find((answer) => answer.status === 201)!.body.provider;
  expect((await owner.call('DELETE', `/v1/custom-providers/${id}`)).status).toBe(200);
  expect((await owner.call('POST', '/v1/custom-providers', CUSTOM)).status).toBe(201);
  expect((await owner.call('PUT', `/v1/custom-providers/${id}`, { displayName: 'x' })).status).toBe(404);
});

test('custom providers: an account added during the deletion of its provider is deleted with it or never created', async () => {
  const { owner, projectId } = await createTenant();
  for (let round = 0; round < 8; round++) {
    const { id } = (await owner.call('POST', '/v1/custom-providers', CUSTOM)).body.provider;
    const agent = (await owner.call('POST', '/v1/agents', { projectId, name: 'R' })).body.agent.id;
    const [assigned, deleted] = await Promise.all([
      assignAccount(owner, agent, 'inhouse', { apiKey: 'key-0123456789' }),
      owner.call('DELETE', `/v1/custom-providers/${id}`),
    ]);
    expect(deleted.status).toBe(200);
    expect([201, 404]).toContain(assigned.status);
    expect((await owner.call('GET', `/v1/providers/accounts?agentId=${agent}`)).body.total).toBe(0);
  }
});

test.each([
  ['the display name', { displayName: 'New' }, 'active'],
  ['a path of the same origin', { baseUrl: 'http://127.0.0.1:9/b' }, 'active'],
  ['another port', { baseUrl: 'http://127.0.0.1:10/a' }, 'needs_credentials'],
  ['another host', { baseUrl: 'http://127.0.0.2:9/a' }, 'needs_credentials'],
  ['another scheme', { baseUrl: 'https://127.0.0.1:9/a' }, 'needs_credentials'],
  ['a header instead of bearer', { authType: 'header', authName: 'X-Key' }, 'active'],
  ['basic instead of bearer', { authType: 'basic' }, 'needs_credentials'],
  ['no auth at all, and another host', { authType: 'none', baseUrl: 'http://127.0.0.2:9' }, 'active'],
])('custom providers: after a change of %s the account is as it should be', async (_what, put, status) => {
  const { owner, agentId } = await createTenant();
  const { id } = (await owner.call('POST', '/v1/custom-providers', CUSTOM)).body.provider;
  const account = await assignAccount(owner, agentId, 'inhouse', { apiKey: 'key-0123456789' });
  expect((await owner.call('PUT', `/v1/custom-providers/${id}`, put)).status).toBe(200);
  const { body } = await owner.call('GET', `/v1/providers/accounts?agentId=${agentId}`);
  const { name: agentName } = (await owner.call('GET', `/v1/agents/${agentId}`)).body.agent;
  expect(body.accounts).toMatchObject([{ id: account.body.account.id, status, agentName }]);
  for (const asked of ['active', 'needs_credentials']) {
    const { total } = (await owner.call('GET', `/v1/providers/accounts?status=${asked}`)).body;
    expect([asked, total]).toEqual([asked, asked === status ? 1 : 0]);
  }
});

test('custom providers: a bearer credential is not reused after a change to none and back', async () => {
  const { owner, agentId } = await createTenant();
  const { id } = (await owner.call('POST', '/v1/custom-providers', { ...CUSTOM, authType: 'none' })).body.provider;
  expect((await assignAccount(owner, agentId, 'inhouse', { apiKey: 'key-0123456789' })).body).toEqual({
    error: 'unknown field "apiKey" in credentials: this provider takes no credentials',
  });
  expect((await assignAccount(owner, agentId, 'inhouse', {})).status).toBe(201);
  await owner.call('PUT', `/v1/custom-providers/${id}`, { authType: 'bearer' });
  const { body } = await owner.call('GET', `/v1/providers/accounts?agentId=${agentId}`);
  expect(body.accounts[0].status).toBe('needs_credentials');
});

test.each([
  [
    'supabase',
    { apiKey: 'sb_0123456789', url: 'https://10.1.2.3' },
    /^credentials.url 10.1.2.3 is not a public address$/,
  ],
  ['supabase', { apiKey: 'sb_0123456789', url: 'http://ref.supabase.co' }, /^credentials.url must start with https/],
  [
    'supabase',
    { apiKey: 'sb_0123456789', url: 'https://u:p@ref.supabase.co' },
    /^credentials.url must not contain a user name/,
  ],
  [
    'supabase',
    { apiKey: 'sb_0123456789', url: 'https://ref.supabase.co?x=1' },
    /^credentials.url must not contain a query string$/,
  ],
  [
    's3',
    { accessKeyId: 'AKIA', secretAccessKey: 'x'.repeat(40), region: 'auto', endpoint: 'https://169.254.169.254' },
    /^credentials.endpoint 169.254.169.254 is not a public address$/,
  ],
])('accounts: %s with %j is refused by the field', async (slug, credentials, error) => {
  const { owner, agentId } = await createTenant();
  const answer = await assignAccount(owner, agentId, slug, credentials);
  expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(error) } });
});

test('accounts: an address in EGRESS_ALLOW_CIDRS is accepted with any port and without TLS', async () => {
  const { owner, agentId } = await createTenant();
  const credentials = { apiKey: 'sb_0123456789', url: 'http://127.0.0.1:54321' };
  expect((await assignAccount(owner, agentId, 'supabase', credentials)).status).toBe(201);
});

test.each([
  'ftp://example.com',
  'http://user@127.0.0.1',
  'http://169.254.169.254/latest',
  'http://metadata.internal',
  'http://127.0.0.1:9/?key=1',
  'http://127.0.0.1:9/#a',
  'not a url',
])('custom providers: the base URL %s is refused by name, at creation and at a change', async (baseUrl) => {
  const { owner } = await createTenant();
  const refusal = { status: 400, body: { error: expect.stringMatching(/^baseUrl /) } };
  expect(await owner.call('POST', '/v1/custom-providers', { ...CUSTOM, baseUrl })).toMatchObject(refusal);
  const { id } = (await owner.call('POST', '/v1/custom-providers', CUSTOM)).body.provider;
  expect(await owner.call('PUT', `/v1/custom-providers/${id}`, { baseUrl })).toMatchObject(refusal);
});

test('providers: an account accepts exactly the listed fields, for built-in and custom providers', async () => {
  const { owner, projectId } = await createTenant();
  for (const [slug, authType] of Object.entries({ b: 'bearer', d: 'basic', n: 'none' })) {
    await owner.call('POST', '/v1/custom-providers', { ...CUSTOM, slug: `own-${slug}`, authType });
  }
  const { providers } = (await owner.call('GET', '/v1/custom-providers?limit=100')).body;
  const catalogue = new Catalogue();
  const VALUES: Record<string, string> = { url: 'https://127.0.0.1:9', region: 'eu-west-1', text: 'text-0123456789' };
  interface Field {
    readonly name: string;
    readonly kind: string;
    readonly required: boolean;
    readonly looksLike: string | null;
    readonly values: readonly string[] | null;
  }
  for (const { slug, credentialFields } of providers as { slug: string; credentialFields: Field[] }[]) {
    const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: slug })).body.agent.id;
    const known = catalogue.get(slug)?.file?.tests.credentials ?? {};
    const filled = (fields: Field[]) =>
      Object.fromEntries(
        fields.map(({ name, kind, values }) => [
          name,
          kind === 'url' ? VALUES.url : (known[name] ?? values?.[0] ?? VALUES[kind]),
        ]),
      );
    const required = credentialFields.filter((field) => field.required);
    for (const { name } of required) {
      const answer = await assignAccount(owner, agentId, slug, { ...filled(required), [name]: undefined });
      expect([slug, answer.status, answer.body.error]).toMatchObject([slug, 400, expect.stringContaining(name)]);
    }
    // No value is known of an optional field whose pattern the file's own tests do not fill.
    const fillable = credentialFields.filter(({ name, looksLike }) => looksLike === null || name in known);
    const answer = await assignAccount(owner, agentId, slug, filled(fillable));
    expect([slug, answer.status, answer.body.error]).toEqual([slug, 201, undefined]);
  }
  expect(providers.find((one: { slug: string }) => one.slug === 'openai').credentialFields[0]).toEqual({
    name: 'apiKey',
    label: 'API key',
    required: true,
    secret: true,
    kind: 'text',
    placeholder: 'sk-…',
    hint: null,
    looksLike: null,
    values: null,
  });
});

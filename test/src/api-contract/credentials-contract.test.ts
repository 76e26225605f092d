/** API keys, built-in providers, provider accounts and custom providers, from outside (docs/contract.md#providers). */

import { createHash } from 'node:crypto';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { createAgent, firstProjectId, signUp, TIMESTAMP, UUID } from './api-user.js';

const BUILT_IN_SLUGS = new Catalogue().slugs;

const plane = useControlPlane();
const KEY = { apiKey: 'sk-conformance-0123456789' };

test('POST /v1/api-keys returns key and secretKey; the prefix, 64 hex characters; only the hash is stored', async () => {
  const owner = await signUp(plane());
  const { id: agentId } = await createAgent(owner);
  const { status, body } = await owner.post('/v1/api-keys', { name: 'Laptop', agentId });
  expect(status).toBe(201);
  expect(body.secretKey).toMatch(/^acg_[0-9a-f]{64}$/);
  expect(body).toEqual({
    key: { id: UUID, name: 'Laptop', keyPrefix: body.secretKey.slice(0, 12), scope: 'agent', createdAt: TIMESTAMP },
    secretKey: body.secretKey,
  });
  const [row] = await plane().database.sql`select token_hash from api_keys where id = ${body.key.id}`;
  expect(row!.token_hash).toEqual(createHash('sha256').update(body.secretKey).digest());
});

test('GET /v1/api-keys lists non-revoked keys with exactly their fields, never the token', async () => {
  const owner = await signUp(plane());
  const { id: agentId } = await createAgent(owner);
  const created = (await owner.post('/v1/api-keys', { name: 'One', agentId })).body;
  const expiresAt = '2999-01-01T00:00:00.000Z';
  const second = (await owner.post('/v1/api-keys', { name: 'Two', scope: 'org', expiresAt })).body;
  const { body } = await owner.get('/v1/api-keys');
  const projectId = await firstProjectId(owner);
  const fresh = { lastUsedAt: null, status: 'active', replacedBy: null, createdBy: UUID };
  const nobodys = { agentId: null, agentName: null, projectId: null };
  expect(body).toEqual({
    keys: [
      { ...second.key, ...fresh, ...nobodys, expiresAt },
      { ...created.key, ...fresh, agentId, agentName: 'Support Bot', projectId, expiresAt: null },
    ],
    total: 2,
    limit: 50,
    offset: 0,
  });
  expect(JSON.stringify(body)).not.toContain(created.secretKey);
});

test('DELETE /v1/api-keys/:id revokes: revokedAt is set, the key leaves the list, a second time is 404', async () => {
  const owner = await signUp(plane());
  const { key } = (await owner.post('/v1/api-keys', { name: 'Gone', scope: 'org' })).body;
  const answer = await owner.delete(`/v1/api-keys/${key.id}`);
  expect([answer.status, answer.body]).toEqual([200, { revoked: true }]);
  expect((await owner.get('/v1/api-keys')).body).toMatchObject({ keys: [], total: 0 });
  const [row] = await plane().database.sql`select revoked_at from api_keys where id = ${key.id}`;
  expect(row!.revoked_at).toBeInstanceOf(Date);
  expect((await owner.delete(`/v1/api-keys/${key.id}`)).status).toBe(404);
});

test('scopes: agent (default) needs agentId, project needs projectId, org neither', async () => {
  const owner = await signUp(plane());
  const { id: agentId } = await createAgent(owner);
  const projectId = await firstProjectId(owner);
  const cases: readonly [Record<string, unknown>, number, string?][] = [
    [{ agentId }, 201, 'agent'],
    [{ agentId, projectId }, 201, 'agent'],
    [{ scope: 'agent', agentId }, 201, 'agent'],
    [{ scope: 'project', projectId }, 201, 'project'],
    [{ scope: 'org' }, 201, 'org'],
    [{}, 400],
    [{ scope: 'agent', projectId }, 400],
    [{ scope: 'project' }, 400],
    [{ scope: 'org', agentId }, 400],
    [{ scope: 'org', projectId }, 400],
    [{ scope: 'world' }, 400],
    [{ scope: 'org', expiresAt: '2001-01-01T00:00:00.000Z' }, 400],
    [{ scope: 'org', expiresAt: 'tomorrow' }, 400],
  ];
  for (const [fields, status, scope] of cases) {
    const answer = await owner.post('/v1/api-keys', { name: 'Scoped', ...fields });
    expect([fields, answer.status, answer.body.key?.scope]).toEqual([fields, status, scope]);
  }
});

test('GET /v1/providers lists the built-in providers', async () => {
  const owner = await signUp(plane());
  const { body } = await owner.get('/v1/providers?limit=100');
  expect(body.providers.map((provider: { slug: string }) => provider.slug)).toEqual(BUILT_IN_SLUGS);
  for (const provider of body.providers)
    expect(provider).toEqual({
      slug: provider.slug,
      displayName: expect.any(String),
      credentialFields: expect.any(Array),
      category: expect.any(String),
      docs: expect.stringMatching(/^https:/),
      origins: expect.arrayContaining(['default']),
      opaqueCalls: expect.any(Array),
      presets: expect.any(Array),
      hasModels: expect.any(Boolean),
      methods: expect.any(Array),
    });
  const one = await owner.get('/v1/providers/openai');
  expect(one.body.provider).toEqual({
    ...body.providers[0],
    sensitiveCalls: expect.arrayContaining([
      { call: '* /v1/organization/**', why: expect.any(String), source: expect.stringMatching(/^https:/) },
    ]),
    sdk: {
      env: { OPENAI_BASE_URL: { value: '{url}/v1', keep: [] }, OPENAI_API_KEY: { value: '{token}', keep: [] } },
      secretEnv: ['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY'],
      removeEnv: expect.arrayContaining(['OPENAI_API_BASE']),
      remark: null,
      basePath: '/v1',
      snippets: expect.arrayContaining([{ id: 'curl', label: 'curl', code: expect.stringContaining('{url}/v1/') }]),
    },
  });
  expect((await owner.get('/v1/providers/openia')).status).toBe(404);
});

test('provider accounts: assigned, listed with exactly their fields, rotated, removed; credentials are never returned', async () => {
  const owner = await signUp(plane());
  const { id: agentId } = await createAgent(owner);
  const created = await owner.post('/v1/providers/accounts', { agentId, providerSlug: 'openai', credentials: KEY });
  expect(created.status).toBe(201);
  const shown = {
    id: UUID,
    providerSlug: 'openai',
    status: 'active',
    isByok: 'true',
    mode: 'byok',
    credentialId: null,
    allowSensitivePaths: false,
    allowOpaque: false,
    minted: null,
    rotation: null,
    lastUsedAt: null,
    createdAt: TIMESTAMP,
  };
  expect(created.body).toEqual({ account: { ...shown, agentId } });
  const { account } = created.body;
  const list = await owner.get(`/v1/providers/accounts?agentId=${agentId}`);
  expect(list.body).toMatchObject({ accounts: [shown], total: 1 });
  const twice = await owner.post('/v1/providers/accounts', { agentId, providerSlug: 'openai', credentials: KEY });
  expect(twice.status).toBe(409);
  const rotated = await owner.post(`/v1/providers/accounts/${account.id}/rotate`, {
    credentials: { apiKey: 'sk-the-next-one' },
  });
  expect([rotated.status, rotated.body]).toEqual([200, { account }]);
  for (const { body } of [created, list, twice, rotated]) expect(JSON.stringify(body)).not.toMatch(/sk-/);
  const removed = await owner.delete(`/v1/providers/accounts/${account.id}`);
  expect([removed.status, removed.body]).toEqual([200, { deleted: true }]);
  expect((await owner.get(`/v1/providers/accounts?agentId=${agentId}`)).body).toMatchObject({ accounts: [], total: 0 });
});

test.each([
  ['openai', { apiKey: 'sk-12345678', organization: 'org-1', project: 'proj-1' }],
  ['anthropic', { apiKey: 'sk-ant-12345678' }],
  ['vercel', { apiKey: 'vercel-12345678', teamId: 'team_1' }],
  ['resend', { apiKey: 're_12345678' }],
  ['s3', { accessKeyId: 'AKIA12345678', secretAccessKey: 'secret-12345678', region: 'eu-west-1' }],
])(
  'credentials of %s: its fields are taken; a wrong, missing or unknown one is 400 that names it',
  async (slug, credentials) => {
    const owner = await signUp(plane());
    const assign = async (given: unknown) => {
      const { id: agentId } = await createAgent(owner);
      return owner.post('/v1/providers/accounts', { agentId, providerSlug: slug, credentials: given });
    };
    expect((await assign(credentials)).status).toBe(201);
    const [required] = Object.keys(credentials);
    const secret = Object.keys(credentials).find((name) => /^(apiKey|secretAccessKey)$/.test(name))!;
    for (const [given, field] of [
      [{}, required],
      [{ ...credentials, surprise: 'x' }, 'surprise'],
      [{ ...credentials, [required!]: 7 }, required],
      [{ ...credentials, [required!]: '' }, required],
      [{ ...credentials, [secret]: 'short' }, secret],
      [{ ...credentials, [required!]: 'line\r\nbreak-in-it' }, required],
    ] as const) {
      const answer = await assign(given);
      expect([given, answer.status, answer.body.error]).toEqual([given, 400, expect.stringContaining(field!)]);
      for (const value of Object.values(given)) {
        if (String(value).length > 3) expect(answer.body.error).not.toContain(String(value));
      }
    }
  },
);

test('accounts of an unknown provider are 404, of a foreign agent 404, without credentials 400', async () => {
  const owner = await signUp(plane());
  const stranger = await signUp(plane());
  const { id: agentId } = await createAgent(owner);
  const { id: foreign } = await createAgent(stranger);
  const assign = (body: object) => owner.post('/v1/providers/accounts', body);
  expect((await assign({ agentId, providerSlug: 'unknown', credentials: KEY })).status).toBe(404);
  expect((await assign({ agentId: foreign, providerSlug: 'openai', credentials: KEY })).status).toBe(404);
  expect((await assign({ agentId, providerSlug: 'openai' })).body).toEqual({
    error: 'send either credentials or credentialId',
  });
});

test('API keys: a key, an agent or a project of another organization gets the 404 of an unknown one', async () => {
  const [owner, stranger] = [await signUp(plane()), await signUp(plane())];
  const { id: agentId } = await createAgent(owner);
  const { id: foreignAgent } = await createAgent(stranger);
  const foreignProject = await firstProjectId(stranger);
  const foreignKey: string = (await stranger.post('/v1/api-keys', { name: 'Theirs', agentId: foreignAgent })).body.key
    .id;
  const theirs = (await stranger.get('/v1/api-keys')).body;
  const answers = [
    await owner.get(`/v1/api-keys?projectId=${foreignProject}`),
    await owner.get(`/v1/api-keys?agentId=${foreignAgent}`),
    await owner.post('/v1/api-keys', { name: 'x', agentId: foreignAgent }),
    await owner.post('/v1/api-keys', { name: 'x', scope: 'project', projectId: foreignProject }),
    await owner.post('/v1/api-keys', { name: 'x', agentId, projectId: foreignProject }),
    await owner.patch(`/v1/api-keys/${foreignKey}`, { name: 'x' }),
    await owner.post(`/v1/api-keys/${foreignKey}/rotate`, {}),
    await owner.delete(`/v1/api-keys/${foreignKey}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  expect((await stranger.get('/v1/api-keys')).body).toEqual(theirs);
});

test('custom providers: created, listed beside the built-in ones, updated, softly deleted', async () => {
  const owner = await signUp(plane());
  const input = { slug: 'my-api', displayName: 'My API', baseUrl: 'http://127.0.0.1:9/v2', authType: 'bearer' };
  const created = await owner.post('/v1/custom-providers', input);
  expect(created.status).toBe(201);
  const view = {
    ...input,
    id: UUID,
    authName: null,
    authPrefix: null,
    usageFormat: null,
    sensitivePaths: [],
    credentialFields: [
      {
        name: 'apiKey',
        label: 'API key',
        required: true,
        secret: true,
        kind: 'text',
        placeholder: null,
        hint: null,
        looksLike: null,
        values: null,
      },
    ],
    category: null,
    docs: null,
    origins: ['default'],
    opaqueCalls: [],
    presets: [],
    methods: [],
    definition: null,
    builtIn: false,
    createdAt: TIMESTAMP,
  };
  expect(created.body).toEqual({ provider: view });
  const { id } = created.body.provider;
  const list = await owner.get('/v1/custom-providers?limit=100');
  expect(list.body).toMatchObject({ total: BUILT_IN_SLUGS.length + 1, limit: 100, offset: 0 });
  expect(list.body.providers[0]).toEqual(created.body.provider);
  expect(list.body.providers.filter((provider: { builtIn: boolean }) => provider.builtIn)).toHaveLength(
    BUILT_IN_SLUGS.length,
  );
  const updated = await owner.put(`/v1/custom-providers/${id}`, { displayName: 'Renamed' });
  expect([updated.status, updated.body]).toEqual([
    200,
    { provider: { ...created.body.provider, displayName: 'Renamed' } },
  ]);
  const renamed = await owner.put(`/v1/custom-providers/${id}`, { slug: 'other' });
  expect([renamed.status, renamed.body.provider.slug]).toEqual([200, 'other']);
  const deleted = await owner.delete(`/v1/custom-providers/${id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { deleted: true }]);
  expect((await owner.get('/v1/custom-providers')).body.total).toBe(BUILT_IN_SLUGS.length);
  const [row] = await plane().database.sql`select deleted_at from custom_providers where id = ${id}`;
  expect(row!.deleted_at).toBeInstanceOf(Date);
});

test('custom provider slugs: duplicates are 409 while live, built-in ones always; form checked', async () => {
  const owner = await signUp(plane());
  const create = (slug: string, of = owner) =>
    of.post('/v1/custom-providers', { slug, displayName: 'X', baseUrl: 'http://127.0.0.1:9', authType: 'none' });
  const first = await create('dup');
  expect(first.status).toBe(201);
  expect((await create('dup')).status).toBe(409);
  expect((await create('dup', await signUp(plane()))).status).toBe(201);
  await owner.delete(`/v1/custom-providers/${first.body.provider.id}`);
  expect((await create('dup')).status).toBe(201);
  expect((await create('openai')).status).toBe(409);
  for (const slug of ['A', 'Upper', 'a_b', 'x', 'x'.repeat(41), '../x']) {
    expect([slug, (await create(slug)).status]).toEqual([slug, 400]);
  }
  const race = await Promise.all(Array.from({ length: 10 }, () => create('race')));
  expect(race.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)]);
});

test.each([
  ['no http(s)', 'ftp://127.0.0.1/'],
  ['userinfo', 'http://user:pw@127.0.0.1/'],
  ['a private network', 'http://10.0.0.1/'],
  ['the link-local metadata address', 'http://169.254.169.254/latest'],
  ['a private IPv6 address', 'http://[fd00::1]/'],
  ['no URL', 'not a url'],
])('custom providers: a baseUrl with %s is 400 that names it', async (_name, baseUrl) => {
  const owner = await signUp(plane());
  const answer = await owner.post('/v1/custom-providers', {
    slug: 'bad-url',
    displayName: 'X',
    baseUrl,
    authType: 'none',
  });
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('baseUrl')]);
});

test('rotate: an account of another organization gets the 404 of an unknown one, with its own or a shared credential', async () => {
  const [owner, stranger] = [await signUp(plane()), await signUp(plane())];
  const { id: agentId } = await createAgent(owner);
  const body = { name: 'Team key', providerSlug: 'openai', credentials: KEY };
  const { credential } = (await owner.post('/v1/credentials', body)).body;
  const assign = async (fields: object): Promise<string> =>
    (await owner.post('/v1/providers/accounts', { agentId, ...fields })).body.account.id;
  const shared = await assign({ providerSlug: 'openai', credentialId: credential.id });
  const own = await assign({ providerSlug: 'anthropic', credentials: KEY });
  const rotate = async (by: typeof owner, id: string, credentials: object) => {
    const answer = await by.post(`/v1/providers/accounts/${id}/rotate`, { credentials });
    return [answer.status, answer.body.error];
  };
  // The error tells the owner what is wrong.
  expect(await rotate(owner, shared, KEY)).toEqual([409, expect.stringContaining(credential.id)]);
  expect(await rotate(owner, own, { unknownField: 'x' })).toEqual([400, expect.any(String)]);
  const unknown = await rotate(stranger, '00000000-0000-7000-8000-000000000000', KEY);
  expect(unknown[0]).toBe(404);
  expect(await rotate(stranger, shared, KEY)).toEqual(unknown);
  expect(await rotate(stranger, own, { unknownField: 'x' })).toEqual(unknown);
});

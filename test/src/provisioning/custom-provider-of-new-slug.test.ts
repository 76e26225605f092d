/**
 * An upgrade from commit 1822593, whose schema ended with migration 53: an organization had custom providers called
 * `github` and `groq`. Both slugs are built in now. Nothing of theirs changes until an admin renames or deletes them.
 */
import type { Injection, Upstream } from '@acg/dataplane/context/agent-context';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import type { TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';
import { createOldDatabase, insertOldTenant, type OldTenant } from './old-database-fixture.js';

const GITHUB = { slug: 'github', baseUrl: 'https://github.internal/api/v3', authType: 'header', usageFormat: null };
const GROQ = { slug: 'groq', baseUrl: 'https://api.groq.com/openai/v1', authType: 'bearer', usageFormat: 'openai' };

let database: TestDatabase;
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let tenant: OldTenant;
let owner: Member;

beforeAll(async () => {
  database = await createOldDatabase();
  tenant = await insertOldTenant(database, [GITHUB, GROQ]);
  plane = await startControlPlane({}, database);
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner', tenant.orgId);
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  await database?.drop();
});

async function call(method: string, path: string, body?: unknown, as = owner) {
  const answer = await as.call(method, path, body);
  expect({ path, status: answer.status, error: answer.body.error }).toMatchObject({
    status: expect.toSatisfy((status: number) => status === 200 || status === 201),
  });
  return answer.body;
}

/** The agent's upstreams once the invalidation of a change has removed the cached context. */
async function waitForUpstreams(isNew: (upstreams: ReadonlyMap<string, Upstream>) => boolean) {
  let upstreams: ReadonlyMap<string, Upstream> = new Map();
  await waitUntil('the cached context is replaced', async () => {
    upstreams = (await watched.resolve(tenant.secretKey)).context!.upstreams;
    return isNew(upstreams);
  });
  return upstreams;
}

const headerValueOf = (injection: Injection): string =>
  injection.kind === 'header' ? injection.value : injection.kind;
const slugsOf = (list: readonly { readonly slug: string }[]): string[] => list.map(({ slug }) => slug);

test('after the upgrade both keep address, credential, policy, breaker and prices', async () => {
  const { upstreams } = (await watched.resolve(tenant.secretKey)).context!;
  const github = upstreams.get('github')!;
  expect(github).toMatchObject({
    isCustom: true,
    publicSlug: 'custom',
    origin: 'https://github.internal',
    basePath: '/api/v3',
    isTenantAddress: true,
    circuitKey: `github|https://github.internal|${tenant.orgId}`,
    fleetKey: '',
    usageFormat: 'none',
    priceProvider: '',
    sensitiveCalls: [{ call: '* /admin/**', query: [], headers: [], harmlessValues: [] }],
    policy: { closed: false, calls: ['GET /repos/**'], models: null },
  });
  expect([github.injection, headerValueOf(github.injection)]).toMatchObject([{ name: 'x-token' }, 'own-github-key']);
  const groq = upstreams.get('groq')!;
  expect(groq).toMatchObject({ isCustom: true, basePath: '/openai/v1', usageFormat: 'openai', priceProvider: '' });
  expect(headerValueOf(groq.injection)).toBe('Bearer own-groq-key');
  expect(groq.policy?.models).toEqual({ allow: ['llama-*'], deny: [] });
  const { circuits } = await call('GET', '/v1/circuits');
  expect(circuits).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ providerSlug: 'github', displayName: 'Our github', builtIn: false }),
    ]),
  );
});

test('lists show the organization’s own providers of these slugs, and other organizations the built-in ones', async () => {
  const { providers } = await call('GET', '/v1/custom-providers?limit=100');
  const own = providers.filter(({ slug }: { slug: string }) => slug === 'github' || slug === 'groq');
  expect(own).toMatchObject([
    { slug: 'groq', id: tenant.providers.groq, builtIn: false, baseUrl: GROQ.baseUrl },
    { slug: 'github', id: tenant.providers.github, builtIn: false, baseUrl: GITHUB.baseUrl },
  ]);
  expect(slugsOf((await call('GET', '/v1/providers?limit=100')).providers)).not.toContain('github');
  expect((await owner.call('GET', '/v1/providers/github')).status).toBe(404);

  const stranger = await plane.createMember('owner');
  const listed = (await call('GET', '/v1/custom-providers?limit=100', undefined, stranger)).providers;
  expect(listed.find(({ slug }: { slug: string }) => slug === 'github')).toMatchObject({ builtIn: true, id: null });
  const body = { slug: 'github', displayName: 'X', baseUrl: 'https://127.0.0.1', authType: 'bearer' };
  expect((await stranger.call('POST', '/v1/custom-providers', body)).status).toBe(409);
});

test('new accounts, rotation and settings are those of the organization’s own provider', async () => {
  const { project } = await call('POST', '/v1/projects', { name: 'Q' });
  const { agent } = await call('POST', '/v1/agents', { projectId: project.id, name: 'Second' });
  const credentials = { apiKey: 'own-second-key' };
  const { account } = await call('POST', '/v1/providers/accounts', {
    agentId: agent.id,
    providerSlug: 'github',
    credentials,
  });
  const rows = await database.sql`select custom_provider_id as id from provider_accounts where id = ${account.id}`;
  expect(rows[0]!.id).toBe(tenant.providers.github);
  const path = `/v1/custom-providers/${tenant.providers.github}`;
  const sensitive = (upstreams: ReadonlyMap<string, Upstream>) =>
    upstreams.get('github')!.sensitiveCalls.map(({ call: pattern }) => pattern);
  expect(sensitive((await watched.resolve(tenant.secretKey)).context!.upstreams)).toEqual(['* /admin/**']);
  await call('PUT', path, { sensitivePaths: ['* /orgs/**'] });
  const upstreams = await waitForUpstreams((seen) => sensitive(seen)[0] !== '* /admin/**');
  expect(sensitive(upstreams)).toEqual(['* /orgs/**']);
});

test('renamed, it takes its accounts and policies along, and the slug is the built-in provider’s', async () => {
  const path = `/v1/custom-providers/${tenant.providers.github}`;
  const rename = await owner.call('PUT', path, { slug: 'groq' });
  expect([rename.status, rename.body.error]).toEqual([409, expect.stringContaining('groq')]);
  await call('PUT', path, { slug: 'github-internal' });
  const upstreams = await waitForUpstreams((seen) => !seen.has('github'));
  const renamed = upstreams.get('github-internal')!;
  expect(renamed).toMatchObject({
    origin: 'https://github.internal',
    circuitKey: `github-internal|https://github.internal|${tenant.orgId}`,
    policy: { calls: ['GET /repos/**'] },
  });
  expect(headerValueOf(renamed.injection)).toBe('own-github-key');
  expect((await call('GET', `/v1/agents/${tenant.agentId}`)).agent.policy).toEqual({
    'github-internal': { calls: ['GET /repos/**'] },
    groq: { models: { allow: ['llama-*'] } },
  });
  expect((await call('GET', '/v1/providers/github')).provider.slug).toBe('github');
  await call('POST', '/v1/providers/accounts', {
    agentId: tenant.agentId,
    providerSlug: 'github',
    credentials: { apiKey: 'github_pat_0123456789abcdefghij' },
  });
  const builtIn = await waitForUpstreams((seen) => seen.has('github'));
  expect(builtIn.get('github')).toMatchObject({
    isCustom: false,
    origin: 'https://api.github.com',
    publicSlug: 'github',
  });
  expect(builtIn.get('github')!.policy).toMatchObject({ closed: true });
  expect((await owner.call('PUT', path, { slug: 'github' })).status).toBe(409);
});

test('a deleted one leaves the slug to the built-in provider, without its accounts', async () => {
  await call('DELETE', `/v1/custom-providers/${tenant.providers.groq}`);
  await waitForUpstreams((seen) => !seen.has('groq'));
  const context = (await watched.resolve(tenant.secretKey)).context!;
  expect(context.builtInProviders.has('groq')).toBe(true);
  expect((await call('GET', '/v1/providers/groq')).provider.displayName).not.toBe('Our groq');
});

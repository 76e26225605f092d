/**
 * An upgrade from commit 1822593, whose schema ended with migration 53: an organization had custom providers called
 * `github` and `groq`. Both slugs are built in now. Nothing of theirs changes until an admin renames or deletes them.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { encryptCredentials } from '@acg/controlplane/provider-accounts/credential-encryption';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { BUILT_IN_DIRECTORY } from '@acg/controlplane/providers/catalogue/load-provider-files';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import type { Injection, Upstream } from '@acg/dataplane/context/agent-context';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import type { TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';

const LAST_MIGRATION = 53;
const MASTER_KEY = { id: 'test', key: new Secret(Buffer.alloc(32, 7)) };
const newId = (): string => uuidv7(Date.now());

const GITHUB = { slug: 'github', baseUrl: 'https://github.internal/api/v3', authType: 'header', usageFormat: null };
const GROQ = { slug: 'groq', baseUrl: 'https://api.groq.com/openai/v1', authType: 'bearer', usageFormat: 'openai' };

interface Tenant {
  readonly orgId: string;
  readonly agentId: string;
  readonly secretKey: string;
  /** Ids of the custom providers, by slug. */
  readonly providers: Readonly<Record<string, string>>;
}

let database: TestDatabase;
let directory: string;
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let tenant: Tenant;
let owner: Member;

async function createOldDatabase(): Promise<TestDatabase> {
  const server = inject('databaseServerUrl');
  const name = `old_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name}`);
  const url = new Secret(server.replace(/\/postgres$/, `/${name}`));
  const sql = openPool(url, { connectionsMax: 4, applicationName: 'test' });
  const folder = fileURLToPath(new URL('../../../controlplane/src/db/migrations', import.meta.url));
  await sql`create table schema_migrations (
    version integer primary key, name text not null, applied_at timestamptz not null default now())`;
  for (const file of readdirSync(folder).sort()) {
    const version = Number(file.slice(0, 4));
    if (version > LAST_MIGRATION) break;
    await sql.unsafe(readFileSync(join(folder, file), 'utf8'));
    await sql`insert into schema_migrations (version, name) values (${version}, ${file})`;
  }
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 });
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/** Rows as the old release wrote them. */
async function insertTenant({ sql }: TestDatabase): Promise<Tenant> {
  const [orgId, projectId, agentId] = [newId(), newId(), newId()];
  const secretKey = `acg_${randomBytes(32).toString('hex')}`;
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'Old', ${orgId})`;
  await sql`insert into projects (id, org_id, name, slug) values (${projectId}, ${orgId}, 'P', 'p')`;
  const policy = { github: { calls: ['GET /repos/**'] }, groq: { models: { allow: ['llama-*'] } } };
  await sql`
    insert into agents (id, org_id, project_id, name, slug, policy)
    values (${agentId}, ${orgId}, ${projectId}, 'Bot', 'bot', ${sql.json(policy)})`;
  await sql`
    insert into api_keys (id, org_id, agent_id, name, key_prefix, token_hash, scope)
    values (${newId()}, ${orgId}, ${agentId}, 'k', ${secretKey.slice(0, 12)},
            ${createHash('sha256').update(secretKey).digest()}, 'agent')`;
  const vault = new Vault([MASTER_KEY]);
  const providers: Record<string, string> = {};
  for (const { slug, baseUrl, authType, usageFormat } of [GITHUB, GROQ]) {
    const [providerId, accountId] = [newId(), newId()];
    providers[slug] = providerId;
    const sealed = encryptCredentials(
      vault,
      { purpose: 'account', orgId, id: accountId },
      { apiKey: `own-${slug}-key` },
    );
    await sql`
      insert into custom_providers (id, org_id, slug, display_name, base_url, auth_type, auth_name, usage_format,
                                    sensitive_paths)
      values (${providerId}, ${orgId}, ${slug}, ${`Our ${slug}`}, ${baseUrl}, ${authType},
              ${authType === 'header' ? 'X-Token' : null}, ${usageFormat}, ${['* /admin/**']}::text[])`;
    await sql`
      insert into provider_accounts (id, org_id, agent_id, provider_slug, custom_provider_id, key_id, nonce, ciphertext)
      values (${accountId}, ${orgId}, ${agentId}, ${slug}, ${providerId}, ${sealed.keyId}, ${sealed.nonce},
              ${sealed.ciphertext})`;
  }
  return { orgId, agentId, secretKey, providers };
}

/** Files of the two slugs, where the repository has none of them. */
function writeMissingFiles(folder: string): void {
  const known = new Catalogue();
  const openai = JSON.parse(readFileSync(join(BUILT_IN_DIRECTORY, 'openai.json'), 'utf8'));
  for (const [slug, host] of Object.entries({ github: 'https://api.github.com', groq: 'https://api.groq.com' })) {
    if (known.get(slug) !== null) continue;
    const file = { ...openai, slug, name: slug, prices: 'groq', origins: { default: host } };
    writeFileSync(join(folder, `${slug}.json`), JSON.stringify(file));
  }
}

beforeAll(async () => {
  database = await createOldDatabase();
  tenant = await insertTenant(database);
  directory = mkdtempSync(join(tmpdir(), 'acg-new-slugs-'));
  writeMissingFiles(directory);
  plane = await startControlPlane({ PROVIDERS_DIR: directory }, database);
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner', tenant.orgId);
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
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

/** A change made through one control-plane instance reaches data planes connected to another one. */
import { createLogger } from '@acg/base/log';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { InvalidationFeed } from '@acg/controlplane/watch/invalidation-feed';
import { BUDGET_ROW, LIMIT_TABLE, RPM_ROW, UNLIMITED } from '@acg/dataplane/limits/limit-table';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from './connected-context-cache.js';

let database: TestDatabase;
let api: TestControlPlane;
let other: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;
let projectId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startControlPlane({}, database);
  other = await startControlPlane({}, database);
  watched = connectContextCache([other.grpcAddress], other.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await api.createMember('owner');
  projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
});
afterAll(async () => {
  watched?.stop();
  await api?.stop();
  await other?.stop();
  await database?.drop();
});

async function callApi(method: string, path: string, body?: unknown) {
  const answer = await owner.call(method, path, body);
  expect({ path, status: answer.status, error: answer.body.error }).toMatchObject({
    status: expect.toSatisfy((status: number) => status === 200 || status === 201),
  });
  return answer.body;
}

const newAgent = async (name = 'A'): Promise<{ id: string; slug: string }> =>
  (await callApi('POST', '/v1/agents', { projectId, name })).agent;
const newKey = (fields: object) => callApi('POST', '/v1/api-keys', { name: 'k', ...fields });
const newAccount = async (agentId: string, providerSlug: string, credentials: object): Promise<string> =>
  (await callApi('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials })).account.id;

/** Waits until the cache has dropped the entry, then resolves again. */
async function resolveAfterPush(token: string, change: () => Promise<unknown>) {
  await watched.resolve(token);
  const seen = watched.cache.seenRevision;
  await change();
  await waitUntil('the invalidation has arrived', () => watched.cache.seenRevision > seen);
  return watched.resolve(token);
}

test('push: propagates a revoked key and a paused, changed or deleted agent', async () => {
  const agent = await newAgent();
  const { secretKey, key } = await newKey({ agentId: agent.id });
  expect((await watched.resolve(secretKey)).context).toMatchObject({
    keyId: key.id,
    agentLimits: { byRow: LIMIT_TABLE.map((row) => row.default ?? UNLIMITED) },
  });
  const limited = await resolveAfterPush(secretKey, () =>
    callApi('PATCH', `/v1/agents/${agent.id}`, { rpmLimit: 5, budgetCentsMonthly: 100 }),
  );
  expect(limited.context?.agentLimits.byRow[RPM_ROW]).toBe(5);
  expect(limited.context?.agentLimits.byRow[BUDGET_ROW]).toBe(100 * NANOS_PER_CENT);
  const paused = await resolveAfterPush(secretKey, () =>
    callApi('PATCH', `/v1/agents/${agent.id}/status`, { status: 'paused' }),
  );
  expect(paused.context!.agentStatus).toBe('paused');
  expect(watched.ended).toContain(`agent ${agent.id}`);
  const resumed = await resolveAfterPush(secretKey, () =>
    callApi('PATCH', `/v1/agents/${agent.id}/status`, { status: 'active' }),
  );
  expect(resumed.context!.agentStatus).toBe('active');
  const revoked = await resolveAfterPush(secretKey, () => callApi('DELETE', `/v1/api-keys/${key.id}`));
  expect(revoked.rejection).toBe('unknown_token');
  expect(watched.ended).toContain(`key ${key.id}`);
  const second = await newKey({ agentId: agent.id });
  expect((await resolveAfterPush(second.secretKey, () => callApi('DELETE', `/v1/agents/${agent.id}`))).rejection).toBe(
    'unknown_token',
  );
});

test('push: ids in upper case reach the data plane', async () => {
  const agent = await newAgent();
  const { secretKey, key } = await newKey({ agentId: agent.id.toUpperCase() });
  const status = `/v1/agents/${agent.id.toUpperCase()}/status`;
  const paused = await resolveAfterPush(secretKey, () => callApi('PATCH', status, { status: 'paused' }));
  expect(paused.context!.agentStatus).toBe('paused');
  expect(watched.ended).toContain(`agent ${agent.id}`);
  await resolveAfterPush(secretKey, () => callApi('PATCH', status, { status: 'active' }));
  const revoked = await resolveAfterPush(secretKey, () => callApi('DELETE', `/v1/api-keys/${key.id.toUpperCase()}`));
  expect(revoked.rejection).toBe('unknown_token');
  expect(watched.ended).toContain(`key ${key.id}`);
});

test('push: propagates added, rotated and removed accounts with the newest secret', async () => {
  const agent = await newAgent();
  const { secretKey } = await newKey({ agentId: agent.id });
  const bare = await watched.resolve(secretKey);
  expect(bare.context!.upstreams.size).toBe(0);
  expect([...bare.context!.builtInProviders].sort()).toEqual(
    expect.arrayContaining(['anthropic', 'openai', 'resend', 's3', 'supabase', 'vercel']),
  );
  let id = '';
  const added = await resolveAfterPush(secretKey, async () => {
    id = await newAccount(agent.id, 'openai', { apiKey: 'sk-first-0123456789', organization: 'org-1' });
  });
  expect(added.context!.upstreams.get('openai')).toMatchObject({
    origin: 'https://api.openai.com',
    isTenantAddress: false,
    injection: {
      kind: 'header',
      value: 'Bearer sk-first-0123456789',
      extraHeaders: [['openai-organization', 'org-1']],
    },
  });
  const rotated = await resolveAfterPush(secretKey, () =>
    callApi('POST', `/v1/providers/accounts/${id}/rotate`, { credentials: { apiKey: 'sk-second-0123456789' } }),
  );
  expect(rotated.context!.upstreams.get('openai')!.injection).toMatchObject({ value: 'Bearer sk-second-0123456789' });
  const removed = await resolveAfterPush(secretKey, () => callApi('DELETE', `/v1/providers/accounts/${id}`));
  expect(removed.context!.upstreams.has('openai')).toBe(false);
  expect(watched.ended).toContain(`account ${agent.id}/${id}`);
});

test('push: propagates a custom provider that is created, moved to another origin and deleted', async () => {
  const agent = await newAgent();
  const { secretKey } = await newKey({ agentId: agent.id });
  let id = '';
  const created = await resolveAfterPush(secretKey, async () => {
    const { provider } = await callApi('POST', '/v1/custom-providers', {
      slug: 'inhouse',
      displayName: 'In-house',
      baseUrl: 'http://127.0.0.1:9/api/',
      authType: 'header',
      authName: 'X-Token',
      authPrefix: 'Token ',
    });
    id = provider.id;
  });
  expect(created.context!.unassignedProviders.has('inhouse')).toBe(true);
  let account = '';
  const assigned = await resolveAfterPush(secretKey, async () => {
    account = await newAccount(agent.id, 'inhouse', { apiKey: 'key-0123456789' });
  });
  expect(assigned.context!.upstreams.get('inhouse')).toMatchObject({
    isCustom: true,
    publicSlug: 'custom',
    origin: 'http://127.0.0.1:9',
    basePath: '/api',
    isTenantAddress: true,
    injection: { kind: 'header', name: 'x-token', value: 'Token key-0123456789' },
  });
  const sameOrigin = await resolveAfterPush(secretKey, () =>
    callApi('PUT', `/v1/custom-providers/${id}`, { baseUrl: 'http://127.0.0.1:9/v2' }),
  );
  expect(sameOrigin.context!.upstreams.get('inhouse')).toMatchObject({ basePath: '/v2', accountStatus: 'active' });
  const moved = await resolveAfterPush(secretKey, () =>
    callApi('PUT', `/v1/custom-providers/${id}`, { baseUrl: 'http://127.0.0.2:9' }),
  );
  expect(moved.context!.upstreams.get('inhouse')).toMatchObject({
    origin: 'http://127.0.0.2:9',
    accountStatus: 'needs_credentials',
    injection: { kind: 'none' },
  });
  const given = await resolveAfterPush(secretKey, () =>
    callApi('POST', `/v1/providers/accounts/${account}/rotate`, { credentials: { apiKey: 'key-9876543210' } }),
  );
  expect(given.context!.upstreams.get('inhouse')).toMatchObject({ accountStatus: 'active' });
  const deleted = await resolveAfterPush(secretKey, () => callApi('DELETE', `/v1/custom-providers/${id}`));
  expect(deleted.context!.upstreams.has('inhouse')).toBe(false);
  expect(deleted.context!.unassignedProviders.has('inhouse')).toBe(false);
  expect(await database.sql`select 1 from provider_accounts where id = ${account}`).toHaveLength(0); // and the credential is deleted
});

test('scopes: a token may name only the agents of its scope', async () => {
  const agent = await newAgent('Twin');
  const elsewhere = (await callApi('POST', '/v1/projects', { name: 'Elsewhere' })).project.id;
  const twin = (await callApi('POST', '/v1/agents', { projectId: elsewhere, name: 'Twin' })).agent;
  expect(twin.slug).toBe(agent.slug);
  const own = (await newKey({ agentId: agent.id })).secretKey;
  const project = (await newKey({ scope: 'project', projectId })).secretKey;
  const org = (await newKey({ scope: 'org' })).secretKey;
  const stranger = await api.createMember('owner');
  const foreignProject = (await stranger.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const foreign = (await stranger.call('POST', '/v1/agents', { projectId: foreignProject, name: 'F' })).body.agent;
  const outcome = async (token: string, ref: string) => {
    const { context, rejection } = await watched.resolve(token, ref);
    return context?.agentId ?? rejection;
  };
  expect(await outcome(own, '')).toBe(agent.id);
  expect(await outcome(own, agent.id.toUpperCase())).toBe(agent.id);
  expect(await outcome(own, agent.slug)).toBe(agent.id);
  expect(await outcome(own, twin.id)).toBe('agent_out_of_scope');
  expect(await outcome(project, '')).toBe('agent_required');
  expect(await outcome(project, agent.slug)).toBe(agent.id);
  expect(await outcome(project, twin.id)).toBe('agent_out_of_scope');
  expect(await outcome(org, agent.slug)).toBe('agent_ambiguous');
  expect(await outcome(org, twin.id)).toBe(twin.id);
  expect(await outcome(org, foreign.id)).toBe('agent_out_of_scope');
  expect(await outcome(org, 'no such agent')).toBe('agent_out_of_scope');
  expect(await outcome(org, "' or 1=1 --")).toBe('agent_out_of_scope');
  expect(await outcome(`acg_${'0'.repeat(64)}`, '')).toBe('unknown_token');
});

test('scopes: a unique, cached slug is ambiguous as soon as another agent has it', async () => {
  const agent = await newAgent('Unique So Far');
  const { secretKey } = await newKey({ scope: 'org' });
  expect((await watched.resolve(secretKey, agent.slug)).context!.agentId).toBe(agent.id);
  const second = (await callApi('POST', '/v1/projects', { name: 'Second' })).project.id;
  const twin = (await callApi('POST', '/v1/agents', { projectId: second, name: 'Unique So Far' })).agent;
  expect(twin.slug).toBe(agent.slug);
  await waitUntil(
    'the cached one is gone',
    async () => (await watched.resolve(secretKey, agent.slug)).context === null,
  );
  expect((await watched.resolve(secretKey, agent.slug)).rejection).toBe('agent_ambiguous');
});

test('scopes: more agents with one name than are listed cost one invalidation, and the name is ambiguous', async () => {
  const agent = await newAgent('Crowded');
  const { secretKey } = await newKey({ scope: 'org' });
  const crowd = (count: number) => database.sql`
    with p as (insert into projects (id, org_id, name, slug)
      select gen_random_uuid(), ${owner.orgId}, 'crowd', 'crowd-' || gen_random_uuid() from generate_series(1, ${count}) returning id)
    insert into agents (id, org_id, project_id, name, slug)
    select gen_random_uuid(), ${owner.orgId}, id, 'Crowded', 'crowded' from p`;
  const revision = async () => (await database.sql`select max(revision)::int as n from invalidations`)[0]!.n;
  const addTwin = async (): Promise<number> => {
    const { project } = await callApi('POST', '/v1/projects', { name: 'Twin' });
    const before = await revision();
    await callApi('POST', '/v1/agents', { projectId: project.id, name: 'Crowded' });
    return (await revision()) - before;
  };
  expect((await watched.resolve(secretKey, agent.slug)).context!.agentId).toBe(agent.id);
  await crowd(199);
  expect(await addTwin()).toBe(200);
  expect(await addTwin()).toBe(1);
  await waitUntil(
    'the cached one is gone',
    async () => (await watched.resolve(secretKey, agent.slug)).context === null,
  );
  expect((await watched.resolve(secretKey, agent.slug)).rejection).toBe('agent_ambiguous');
});

test('expiry: an expired token is rejected, also when it was cached', async () => {
  const agent = await newAgent();
  const { secretKey, key } = await newKey({
    agentId: agent.id,
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
  expect((await watched.resolve(secretKey)).context!.keyExpiresAtMs).toBeGreaterThan(Date.now());
  await database.sql`update api_keys set expires_at = now() - interval '1 second' where id = ${key.id}`;
  watched.cache.reset(watched.cache.seenRevision);
  expect((await watched.resolve(secretKey)).rejection).toBe('unknown_token');
});

test('resync: missed invalidations are replayed one by one; if some were pruned, the cache is cleared', async () => {
  const { id } = await newAgent();
  const change = () => callApi('PATCH', `/v1/agents/${id}`, { description: String(Math.random()) });
  await change();
  const [row] = await database.sql<{ revision: number }[]>`select max(revision)::int as revision from invalidations`;
  const { revision } = row!;
  await change();
  await change();
  const feed = new InvalidationFeed(database.sql, createLogger('control', 'silent'), {
    onRows: () => undefined,
    onHistoryLost: () => undefined,
  });
  const rows = await feed.replay(revision, '', revision + 2);
  expect(rows?.map((row) => row.revision)).toEqual([revision + 1, revision + 2]);
  expect(await feed.replay(revision + 3, '', revision + 2)).toBeNull(); // the data plane's revision is from a newer state of the database
  await database.sql`delete from invalidations where revision = ${revision}`;
  expect(await feed.replay(revision, '', revision + 2)).toBeNull(); // and perhaps other revisions after it
});

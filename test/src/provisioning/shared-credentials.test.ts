/**
 * One stored credential for the accounts of many agents: rotated once, rejected once, and unusable outside its project.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@acg/base/secret';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import { reencryptAll } from '@acg/controlplane/vault/reencrypt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';

const receivedRequests: IncomingMessage[] = [];
const rejectedKeys = new Set<string>();
const provider = createServer((request, response) => {
  receivedRequests.push(request);
  response.writeHead(rejectedKeys.has(request.headers.authorization ?? '') ? 401 : 200).end('{}');
});
let origin: string;

const plane = useControlPlane();
let cache: ConnectedContextCache;
let admin: Member;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  cache = connectContextCache([plane().grpcAddress], plane().config.link);
  await waitUntil('it watches', async () => cache.source.isUp);
  admin = await plane().createMember('admin');
  const custom = { slug: 'own', displayName: 'Own', authType: 'bearer', baseUrl: origin };
  expect((await admin.call('POST', '/v1/custom-providers', custom)).status).toBe(201);
});
afterAll(() => {
  cache.stop();
  provider.closeAllConnections();
  provider.close();
});

async function createProject(): Promise<string> {
  return (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
}

/** An agent with an account on the shared credential, and its token. */
async function createAgentOnCredential(credentialId: string, projectId: string) {
  const { id } = (await admin.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent;
  const made = await admin.call('POST', '/v1/providers/accounts', { agentId: id, providerSlug: 'own', credentialId });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  expect(made.body.account).toMatchObject({ credentialId, status: 'active' });
  const { secretKey } = (await admin.call('POST', '/v1/api-keys', { name: 'k', agentId: id })).body;
  return { id, secretKey, accountId: made.body.account.id as string };
}

const createSharedCredential = async (fields: object = {}) => {
  const body = { name: 'Team key', providerSlug: 'own', credentials: { apiKey: 'key-first-0123456789' }, ...fields };
  const answer = await admin.call('POST', '/v1/credentials', body);
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body.credential.id as string;
};

/** What the agent's calls to the provider would carry. */
const injectedCredential = async (secretKey: string) => {
  const { context } = await cache.resolve(secretKey);
  const upstream = context!.upstreams.get('own')!;
  return upstream.accountStatus === 'active' ? JSON.stringify(upstream.injection) : upstream.accountStatus;
};

test('shared: one rotation applies to every account, and no response contains the value', async () => {
  const id = await createSharedCredential();
  const projectId = await createProject();
  const agents = await Promise.all([
    createAgentOnCredential(id, projectId),
    createAgentOnCredential(id, await createProject()),
  ]);
  for (const { secretKey } of agents) expect(await injectedCredential(secretKey)).toContain('key-first-0123456789');
  await createAgentOnCredential(await createSharedCredential(), projectId);
  const users = (await admin.call('GET', `/v1/providers/accounts?credentialId=${id}`)).body;
  expect(users.total).toBe(2);
  expect(users.accounts.map(({ agentId }: { agentId: string }) => agentId).sort()).toEqual(
    agents.map((agent) => agent.id).sort(),
  );
  const rotated = await admin.call('POST', `/v1/credentials/${id}/rotate`, {
    credentials: { apiKey: 'key-second-0123456789' },
  });
  expect(rotated.body.credential).toMatchObject({
    id,
    name: 'Team key',
    accounts: 2,
    status: 'active',
    projectId: null,
  });
  for (const { secretKey } of agents) {
    await waitUntil('the new one is sent', async () =>
      (await injectedCredential(secretKey)).includes('key-second-0123456789'),
    );
  }
  for (const path of ['/v1/credentials', `/v1/credentials/${id}`, '/v1/providers/accounts', '/v1/audit']) {
    expect(JSON.stringify((await admin.call('GET', path)).body)).not.toMatch(/key-(first|second)/);
  }
  const own = await admin.call('POST', `/v1/providers/accounts/${agents[0]!.accountId}/rotate`, {
    credentials: { apiKey: 'key-third-0123456789' },
  });
  expect([own.status, own.body.error]).toEqual([409, expect.stringContaining(id)]);
});

test('shared: in use it cannot be deleted', async () => {
  const id = await createSharedCredential();
  const { accountId } = await createAgentOnCredential(id, await createProject());
  expect((await admin.call('DELETE', `/v1/credentials/${id}`)).status).toBe(409);
  await admin.call('DELETE', `/v1/providers/accounts/${accountId}`);
  expect((await admin.call('DELETE', `/v1/credentials/${id}`)).body).toEqual({ deleted: true });
  expect((await admin.call('GET', `/v1/credentials/${id}`)).status).toBe(404);
});

test('shared: a project’s credential is usable by that project’s agents only, and never by another organization', async () => {
  const [mine, other] = [await createProject(), await createProject()];
  const id = await createSharedCredential({ projectId: mine });
  await createAgentOnCredential(id, mine);
  const agentId = (await admin.call('POST', '/v1/agents', { projectId: other, name: 'B' })).body.agent.id;
  const assign = (by: Member, agent: string, fields: object) =>
    by.call('POST', '/v1/providers/accounts', { agentId: agent, providerSlug: 'own', ...fields });
  expect((await assign(admin, agentId, { credentialId: id })).status).toBe(400);
  expect((await assign(admin, agentId, {})).status).toBe(400);
  expect((await assign(admin, agentId, { credentialId: id, credentials: { apiKey: 'key-0123456789' } })).status).toBe(
    400,
  );
  const openai = { agentId, providerSlug: 'openai', credentialId: await createSharedCredential() };
  expect((await admin.call('POST', '/v1/providers/accounts', openai)).status).toBe(400);

  const stranger = await plane().createMember('owner');
  const project2 = (await stranger.call('POST', '/v1/projects', { name: 'S' })).body.project.id;
  const theirs = (await stranger.call('POST', '/v1/agents', { projectId: project2, name: 'S' })).body.agent.id;
  await stranger.call('POST', '/v1/custom-providers', {
    slug: 'own',
    displayName: 'O',
    authType: 'bearer',
    baseUrl: origin,
  });
  expect((await assign(stranger, theirs, { credentialId: id })).status).toBe(404);
});

test('shared: a token of one project uses that project’s credentials only, not those of another or of the organization', async () => {
  const [mine, other] = [await createProject(), await createProject()];
  const ids = {
    mine: await createSharedCredential({ projectId: mine }),
    other: await createSharedCredential({ projectId: other }),
    all: await createSharedCredential(),
  };
  const made = await admin.call('POST', '/v1/management-tokens', { name: 't', role: 'admin', projectId: mine });
  const call = (method: string, path: string, body?: unknown) =>
    plane().call(method, path, { token: made.body.secretToken, body });
  expect((await call('GET', '/v1/credentials')).body).toMatchObject({ total: 1, credentials: [{ id: ids.mine }] });
  const agentId = (await call('POST', '/v1/agents', { projectId: mine, name: 'C' })).body.agent.id;
  for (const id of [ids.other, ids.all]) {
    for (const [method, action, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'x' }],
      ['POST', '/rotate', { credentials: { apiKey: 'key-evil-0123456789' } }],
      ['POST', '/test', undefined],
      ['DELETE', '', undefined],
    ] as const) {
      expect([method, action, (await call(method, `/v1/credentials/${id}${action}`, body)).status]).toEqual([
        method,
        action,
        404,
      ]);
    }
    const assigned = await call('POST', '/v1/providers/accounts', { agentId, providerSlug: 'own', credentialId: id });
    expect(assigned.status).toBe(404);
  }
  const orgWide = { name: 'x', providerSlug: 'own', credentials: { apiKey: 'key-0123456789' } };
  expect((await call('POST', '/v1/credentials', orgWide)).status).toBe(403);
  const assigned = await call('POST', '/v1/providers/accounts', {
    agentId,
    providerSlug: 'own',
    credentialId: ids.mine,
  });
  expect(assigned.status).toBe(201);
});

test('shared: a rejected credential is disabled and enabled for all its accounts, with one event each', async () => {
  const key = 'key-refused-0123456789';
  const id = await createSharedCredential({ credentials: { apiKey: key } });
  const projectId = await createProject();
  const agents = [await createAgentOnCredential(id, projectId), await createAgentOnCredential(id, projectId)];
  rejectedKeys.add(`Bearer ${key}`);
  expect((await admin.call('POST', `/v1/providers/accounts/${agents[0]!.accountId}/test`)).body.ok).toBe(false);
  for (const { secretKey } of agents) {
    await waitUntil('it is out of use', async () => (await injectedCredential(secretKey)) === 'needs_credentials');
  }
  expect((await admin.call('GET', `/v1/providers/accounts?agentId=${agents[1]!.id}`)).body.accounts[0].status).toBe(
    'needs_credentials',
  );
  rejectedKeys.clear();
  expect((await admin.call('POST', `/v1/credentials/${id}/test`)).body.ok).toBe(true);
  for (const { secretKey } of agents)
    await waitUntil('it is back', async () => (await injectedCredential(secretKey)).includes(key));
  const { events } = (await admin.call('GET', '/v1/events')).body;
  const told = events.filter(({ data }: { data: { credentialId?: string } }) => data.credentialId === id);
  expect(told.map((one: { event: string }) => one.event)).toEqual(['credential.accepted', 'credential.refused']);
});

test('shared: it is never sent to another host of its provider', async () => {
  const custom = { slug: 'moves', displayName: 'M', authType: 'bearer', baseUrl: origin };
  const providerId = (await admin.call('POST', '/v1/custom-providers', custom)).body.provider.id;
  const id = await createSharedCredential({ providerSlug: 'moves' });
  await admin.call('PUT', `/v1/custom-providers/${providerId}`, { baseUrl: origin.replace('127.0.0.1', '127.0.0.2') });
  expect((await admin.call('GET', `/v1/credentials/${id}`)).body.credential.status).toBe('needs_credentials');
  const before = receivedRequests.length;
  expect((await admin.call('POST', `/v1/credentials/${id}/test`)).body).toMatchObject({ ok: false, status: null });
  expect(receivedRequests.length).toBe(before);
  expect((await admin.call('DELETE', `/v1/custom-providers/${providerId}`)).status).toBe(200);
  expect((await admin.call('GET', `/v1/credentials/${id}`)).status).toBe(404);
});

test('shared: the rotation of the master key covers it, and its ciphertext cannot be decrypted in another row', async () => {
  const id = await createSharedCredential();
  const { secretKey } = await createAgentOnCredential(id, await createProject());
  const { sql } = plane().database;
  const old = plane().config.masterKeys[0]!;
  const fresh = { id: 'fresh', key: new Secret(Buffer.alloc(32, 9)) };
  const { written, unreadable } = await reencryptAll(sql, new Vault([fresh, old]));
  expect([written.credentials! > 0, unreadable]).toEqual([true, []]);
  const [row] = await sql`select key_id from credentials where id = ${id}`;
  expect(row!.key_id).toBe('fresh');
  await reencryptAll(sql, new Vault([old, fresh]));
  cache.cache.reset(cache.cache.seenRevision);
  expect(await injectedCredential(secretKey)).toContain('key-first-0123456789');
  // Manipulated in the database: another row's ciphertext is unreadable, so it cannot become another tenant's key.
  await sql`update credentials set ciphertext = o.ciphertext, nonce = o.nonce from credentials o
             where credentials.id = ${id} and o.id = (select id from credentials where id <> ${id} limit 1)`;
  cache.cache.reset(cache.cache.seenRevision);
  expect(await injectedCredential(secretKey)).toBe('needs_credentials');
});

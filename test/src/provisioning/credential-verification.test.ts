/**
 * Tests whether a provider accepts a credential: on request of a member, and by the gateway when agents' calls are
 * rejected.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Catalogue } from '@acg/controlplane/providers/catalogue/catalogue';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { createTestDatabase, type TestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const GOOD = 'key-good-0123456789';
const BAD = 'key-bad-0123456789';
/** Keys that the provider no longer accepts. */
const rejectedKeys = new Set([BAD]);
const receivedRequests: IncomingMessage[] = [];
/** Requests to `/held` wait here for their response. */
const pendingRequests: ServerResponse[] = [];

/** Responses of real providers; agents may provoke a 401 on `/provoked`. */
const provider = createServer((request, response) => {
  receivedRequests.push(request);
  const { url = '', headers } = request;
  const text = JSON.stringify(headers);
  const isBad = [...rejectedKeys].some(
    (key) => text.includes(key) || text.includes(Buffer.from(`user:${key}`).toString('base64')),
  );
  const answer = (status: number, body: string): void => void response.writeHead(status).end(body);
  if (url === '/provoked') answer(401, '{}');
  else if (url.startsWith('/hang')) return;
  else if (url.startsWith('/held')) pendingRequests.push(response);
  else if (url.startsWith('/failing')) answer(503, '');
  else if (!isBad) answer(200, '{"data":[]}');
  else if (url === '/v2/user') answer(403, '{"error":{"code":"forbidden","invalidToken":true}}');
  else if (url === '/domains') answer(403, '{"statusCode":403,"name":"invalid_api_key"}');
  else if (url === '/') answer(403, '<Error><Code>InvalidAccessKeyId</Code></Error>');
  else answer(401, '{}');
});

let database: TestDatabase;
let stack: Stack;
let dataPlane: string;
let tenant: Tenant;
let origin: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  database = await createTestDatabase();
  const providers = Object.fromEntries(new Catalogue().slugs.map((slug) => [slug, origin]));
  stack = await Stack.start({ database, providers });
  dataPlane = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
});
afterAll(async () => {
  // First what hangs, which the control plane would wait for.
  provider.closeAllConnections();
  provider.close();
  await stack?.stop();
});

const testCredential = (providerSlug: string, credentials: object) =>
  tenant.call('POST', '/v1/providers/accounts/test', { providerSlug, credentials });

const s3 = (accessKeyId: string) => ({ accessKeyId, secretAccessKey: 'x'.repeat(40), region: 'us-east-1' });
const supabase = (apiKey: string) => ({ apiKey, url: 'https://project.example.com' });

test.each([
  ['openai', { apiKey: GOOD }, { apiKey: BAD }, 'GET /v1/models'],
  ['anthropic', { apiKey: GOOD }, { apiKey: BAD }, 'GET /v1/models?limit=1'],
  ['vercel', { apiKey: GOOD, teamId: 'team_1' }, { apiKey: BAD }, 'GET /v2/user?teamId=team_1'],
  ['resend', { apiKey: GOOD }, { apiKey: BAD }, 'GET /domains'],
  ['supabase', supabase(GOOD), supabase(BAD), 'GET /rest/v1/'],
  ['s3', s3('AKIAGOOD'), s3(BAD), 'GET /'],
])('test: %s takes a good credential and refuses another', async (slug, good, bad, line) => {
  const before = receivedRequests.length;
  const taken = await testCredential(slug, good);
  expect(taken).toMatchObject({ status: 200, body: { ok: true, status: 200, hint: null } });
  expect(`${receivedRequests[before]!.method} ${receivedRequests[before]!.url}`).toBe(line);
  const not = (await testCredential(slug, bad)).body;
  expect([not.ok, typeof not.hint]).toEqual([false, 'string']);
  expect(JSON.stringify(not)).not.toContain(BAD);
});

test('test: custom providers, an address that is not allowed, a wrong field, a provider that is away', async () => {
  const basic = { displayName: 'B', authType: 'basic', baseUrl: `${origin}/base` };
  await tenant.call('POST', '/v1/custom-providers', { slug: 'basic', ...basic });
  const credentials = { username: 'user', password: GOOD };
  expect((await testCredential('basic', credentials)).body).toMatchObject({ ok: true, status: 200 });
  expect((await testCredential('basic', { ...credentials, password: BAD })).body).toMatchObject({
    ok: false,
    status: 401,
  });
  await tenant.call('POST', '/v1/custom-providers', { slug: 'away', ...basic, baseUrl: 'http://127.0.0.1:9' });
  expect((await testCredential('away', credentials)).body).toMatchObject({ ok: false, status: null });
  await tenant.call('POST', '/v1/custom-providers', { slug: 'failing', ...basic, baseUrl: `${origin}/failing` });
  expect((await testCredential('failing', credentials)).body).toMatchObject({ ok: false, status: 503 });
  expect((await testCredential('openai', { key: GOOD })).status).toBe(400);
  expect((await testCredential('nobody', {})).status).toBe(404);
});

test('test: a provider that never responds delays only its own organization’s tests', async () => {
  const hostile = await stack.signUpTenant();
  const hang = { displayName: 'Hang', baseUrl: `${origin}/hang`, authType: 'bearer', usageFormat: 'openai' };
  expect((await hostile.call('POST', '/v1/custom-providers', { slug: 'hang', ...hang })).status).toBe(201);
  const body = { providerSlug: 'hang', credentials: { apiKey: GOOD } };
  const hanging = Array.from({ length: 12 }, () => hostile.call('POST', '/v1/providers/accounts/test', body));
  await waitUntil('four tests hang', () => receivedRequests.filter(({ url }) => url?.startsWith('/hang')).length >= 4);
  expect((await testCredential('openai', { apiKey: GOOD })).body).toMatchObject({ ok: true });
  expect(receivedRequests.filter(({ url }) => url?.startsWith('/hang')).length).toBe(4);
  provider.closeAllConnections();
  const timer = setInterval(() => provider.closeAllConnections(), 50);
  const statuses = (await Promise.all(hanging)).map(({ status }) => status);
  clearInterval(timer);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('test: an Idempotency-Key is ignored, because it would hold a database connection during the request to the provider', async () => {
  const headers = {
    authorization: `Bearer ${tenant.session}`,
    'content-type': 'application/json',
    'idempotency-key': 'one key for all',
  };
  const oks: boolean[] = [];
  for (const apiKey of [GOOD, BAD]) {
    const body = JSON.stringify({ providerSlug: 'openai', credentials: { apiKey } });
    const answer = await fetch(`${stack.apiUrl}/v1/providers/accounts/test`, { method: 'POST', headers, body });
    oks.push(((await answer.json()) as { ok: boolean }).ok);
  }
  expect(oks).toEqual([true, false]);
  const { id } = await tenant.createAgent();
  const account = await tenant.createAccount(id, 'openai', { apiKey: GOOD });
  const url = `${stack.apiUrl}/v1/providers/accounts/${account}/test`;
  const { authorization } = headers;
  await fetch(url, { method: 'POST', headers: { authorization, 'idempotency-key': 'another key' } });
  const given = { name: 'shared', providerSlug: 'openai', credentials: { apiKey: GOOD } };
  const { id: shared } = (await tenant.call('POST', '/v1/credentials', given)).body.credential;
  const sharedUrl = `${stack.apiUrl}/v1/credentials/${shared}/test`;
  await fetch(sharedUrl, { method: 'POST', headers: { authorization, 'idempotency-key': 'a third key' } });
  expect(await database.sql`select body from idempotency_keys`).toEqual([]);
});

async function readAccount(agentId: string) {
  return (await tenant.call('GET', `/v1/providers/accounts?agentId=${agentId}`)).body.accounts[0];
}

test('test: an account with a rejected credential is disabled, and enabled when it is accepted', async () => {
  const agent = await tenant.createAgent();
  const key = 'key-turns-bad-0123456789';
  const id = await tenant.createAccount(agent.id, 'openai', { apiKey: key });
  const run = async () => (await tenant.call('POST', `/v1/providers/accounts/${id}/test`)).body;
  expect(await run()).toMatchObject({ ok: true });
  rejectedKeys.add(key);
  expect(await run()).toMatchObject({ ok: false, status: 401 });
  expect(await readAccount(agent.id)).toMatchObject({ status: 'needs_credentials' });
  rejectedKeys.delete(key);
  expect(await run()).toMatchObject({ ok: true });
  expect(await readAccount(agent.id)).toMatchObject({ status: 'active' });
  const { events } = (await tenant.call('GET', `/v1/events?agentId=${agent.id}`)).body;
  const told = { providerSlug: 'openai', accountId: id, credentialId: null, agentId: agent.id, orgId: tenant.orgId };
  expect(events.slice(0, 2)).toMatchObject([
    { event: 'credential.accepted', data: told },
    { event: 'credential.refused', data: told },
  ]);
  const stranger = await stack.signUpTenant();
  expect((await stranger.call('POST', `/v1/providers/accounts/${id}/test`)).status).toBe(404);
});

test.each([
  ['refused', 401, 'active'],
  ['taken', 200, 'needs_credentials'],
] as const)(
  'test: a credential that is %s after it was replaced says nothing of the new one',
  async (word, status, stays) => {
    const agent = await tenant.createAgent();
    const slow = { slug: `held-${word}`, displayName: 'H', authType: 'bearer', baseUrl: `${origin}/held` };
    await tenant.call('POST', '/v1/custom-providers', slow);
    const id = await tenant.createAccount(agent.id, slow.slug, { apiKey: GOOD });
    const running = tenant.call('POST', `/v1/providers/accounts/${id}/test`);
    await waitUntil('the provider is asked', () => pendingRequests.length === 1);
    await tenant.call('POST', `/v1/providers/accounts/${id}/rotate`, { credentials: { apiKey: `${GOOD}-new` } });
    if (stays === 'needs_credentials') {
      await database.sql`update provider_accounts set status = ${stays}, refused_at = now() where id = ${id}`;
    }
    pendingRequests.pop()!.writeHead(status).end('{}');
    expect((await running).body).toMatchObject({ ok: status === 200, status });
    expect(await readAccount(agent.id)).toMatchObject({ status: stays });
  },
);

test('test: a credential is never sent to another host of its provider', async () => {
  const agent = await tenant.createAgent();
  const made = { slug: 'moves', displayName: 'M', authType: 'bearer', baseUrl: `${origin}/here` };
  const { id: providerId } = (await tenant.call('POST', '/v1/custom-providers', made)).body.provider;
  const id = await tenant.createAccount(agent.id, 'moves', { apiKey: BAD });
  const path = `/v1/providers/accounts/${id}/test`;
  expect((await tenant.call('POST', path)).body).toMatchObject({ ok: false, status: 401 });
  const moved = { baseUrl: origin.replace('127.0.0.1', '127.0.0.2') };
  expect((await tenant.call('PUT', `/v1/custom-providers/${providerId}`, moved)).status).toBe(200);
  const [row] = await database.sql`select refused_at from provider_accounts where id = ${id}`;
  expect(row!.refused_at).toBeNull(); // so it is not tested again in an hour
  const before = receivedRequests.length;
  expect((await tenant.call('POST', path)).body).toMatchObject({ ok: false, status: null });
  expect(receivedRequests.length).toBe(before);
});

test('test: nor does it where the provider moves while the test begins', async () => {
  const made = { slug: 'moves-now', displayName: 'M', authType: 'bearer', baseUrl: `${origin}/here` };
  const { id: providerId } = (await tenant.call('POST', '/v1/custom-providers', made)).body.provider;
  const given = { name: 'shared', providerSlug: 'moves-now', credentials: { apiKey: GOOD } };
  const shared = (await tenant.call('POST', '/v1/credentials', given)).body.credential.id;
  const account = await tenant.createAccount((await tenant.createAgent()).id, 'moves-now', { apiKey: GOOD });
  const before = receivedRequests.length;
  const release = await holdPostgresLock(
    database.sql,
    (tx) => tx`select pg_advisory_xact_lock(hashtext('invalidations'))`,
  );
  const moved = { baseUrl: `${origin.replace('127.0.0.1', '127.0.0.2')}/there` };
  const move = tenant.call('PUT', `/v1/custom-providers/${providerId}`, moved);
  await waitUntil('the move waits for its end', async () => (await countLockWaiters(database.sql)) === 1);
  const tests = [`/v1/providers/accounts/${account}/test`, `/v1/credentials/${shared}/test`].map((path) =>
    tenant.call('POST', path),
  );
  await waitUntil('so do the tests', async () => (await countLockWaiters(database.sql)) === 3);
  await release();
  expect((await move).status).toBe(200);
  for (const { body } of await Promise.all(tests)) {
    expect(body).toMatchObject({ ok: false, status: null, hint: 'The account needs its credentials set again.' });
  }
  expect(receivedRequests.length).toBe(before);
});

test('rejected calls make the gateway test the credential; only its own test counts; it repeats after an hour', async () => {
  const agent = await tenant.createAgent();
  const key = 'key-expires-0123456789';
  await tenant.createAccount(agent.id, 'openai', { apiKey: key });
  const token = await tenant.createToken(agent.id);
  const call = async (path: string): Promise<number> => {
    const answer = await fetch(`${dataPlane}/v1/proxy/openai${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const asked = () =>
    receivedRequests.filter(({ headers }) => headers['user-agent'] === 'agent-credential-gateway').length;
  const before = asked();
  expect(await call('/provoked')).toBe(401);
  await waitUntil('the gateway has asked', () => asked() > before);
  expect(await readAccount(agent.id)).toMatchObject({ status: 'active' });
  // Repeats, because the result of a running test reports the credential as accepted.
  const anHourPasses = () =>
    database.sql`update provider_accounts set refused_at = now() - interval '2 hours' where agent_id = ${agent.id}`;
  rejectedKeys.add(key);
  await waitUntil('the account is out of use', async () => {
    await anHourPasses();
    return (await readAccount(agent.id)).status === 'needs_credentials';
  });
  await waitUntil('agents hear of it', async () => (await call('/v1/models')) === 403);
  rejectedKeys.delete(key);
  await anHourPasses();
  await waitUntil('it is back', async () => (await call('/v1/models')) === 200);
});

test('an hour later: an organization with many hanging providers does not delay other credentials', async () => {
  const [hostile, other] = [await stack.signUpTenant(), await stack.signUpTenant()];
  const hanging = { slug: 'hanging', displayName: 'H', baseUrl: `${origin}/hang-often`, authType: 'bearer' };
  expect((await hostile.call('POST', '/v1/custom-providers', hanging)).status).toBe(201);
  for (let n = 0; n < 24; n++)
    await hostile.createAccount((await hostile.createAgent()).id, 'hanging', { apiKey: GOOD });
  const agent = await other.createAgent();
  await other.createAccount(agent.id, 'openai', { apiKey: 'key-others-0123456789' });
  const isHers = ({ url = '' }: IncomingMessage): boolean => url.startsWith('/hang-often');
  const isTheirs = ({ headers }: IncomingMessage): boolean => headers.authorization === 'Bearer key-others-0123456789';
  await database.sql`update provider_accounts set refused_at = now() - interval '3 hours' + interval '1 hour' * (org_id = ${other.orgId})::int
    where org_id in (${hostile.orgId}, ${other.orgId})`;
  await waitUntil('theirs is tested', () => receivedRequests.some(isTheirs));
  const before = receivedRequests.slice(0, receivedRequests.findIndex(isTheirs)).filter(isHers).length;
  expect(before).toBeLessThanOrEqual(4);
});

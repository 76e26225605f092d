/** Whether a provider takes a credential: asked by a person, and by the gateway when agents' calls are refused. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BUILT_IN_SLUGS } from '@acg/controlplane/providers/catalogue/catalogue';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdLock, lockWaiters } from '../held-lock.js';
import { Stack, type Tenant } from '../stack.js';
import { createTestDatabase, type TestDatabase } from '../test-database.js';
import { until } from '../until.js';

const GOOD = 'key-good-0123456789';
const BAD = 'key-bad-0123456789';
/** Keys that the provider does not know any more. */
const refused = new Set([BAD]);
const seen: IncomingMessage[] = [];
/** Questions on `/held` wait here for their answer. */
const held: ServerResponse[] = [];

/** Answers as the providers do; agents may provoke a 401 on `/provoked`. */
const provider = createServer((request, response) => {
  seen.push(request);
  const { url = '', headers } = request;
  const text = JSON.stringify(headers);
  const isBad = [...refused].some(
    (key) => text.includes(key) || text.includes(Buffer.from(`user:${key}`).toString('base64')),
  );
  const answer = (status: number, body: string): void => void response.writeHead(status).end(body);
  if (url === '/provoked') answer(401, '{}');
  else if (url.startsWith('/hang')) return;
  else if (url.startsWith('/held')) held.push(response);
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
  const providers = Object.fromEntries(Array.from(BUILT_IN_SLUGS, (slug) => [slug, origin]));
  stack = await Stack.start({ database, providers });
  dataPlane = (await stack.addDataPlane()).url;
  tenant = await stack.tenant();
});
afterAll(async () => {
  // First what hangs, which the control plane would wait for.
  provider.closeAllConnections();
  provider.close();
  await stack?.stop();
});

const ask = (providerSlug: string, credentials: object) =>
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
  const before = seen.length;
  const taken = await ask(slug, good);
  expect(taken).toMatchObject({ status: 200, body: { ok: true, status: 200, hint: null } });
  expect(`${seen[before]!.method} ${seen[before]!.url}`).toBe(line);
  const not = (await ask(slug, bad)).body;
  expect([not.ok, typeof not.hint]).toEqual([false, 'string']);
  expect(JSON.stringify(not)).not.toContain(BAD);
});

test('test: custom providers, an address that is not allowed, a wrong field, a provider that is away', async () => {
  const basic = { displayName: 'B', authType: 'basic', baseUrl: `${origin}/base` };
  await tenant.call('POST', '/v1/custom-providers', { slug: 'basic', ...basic });
  const credentials = { username: 'user', password: GOOD };
  expect((await ask('basic', credentials)).body).toMatchObject({ ok: true, status: 200 });
  expect((await ask('basic', { ...credentials, password: BAD })).body).toMatchObject({ ok: false, status: 401 });
  await tenant.call('POST', '/v1/custom-providers', { slug: 'away', ...basic, baseUrl: 'http://127.0.0.1:9' });
  expect((await ask('away', credentials)).body).toMatchObject({ ok: false, status: null });
  await tenant.call('POST', '/v1/custom-providers', { slug: 'failing', ...basic, baseUrl: `${origin}/failing` });
  expect((await ask('failing', credentials)).body).toMatchObject({ ok: false, status: 503 });
  expect((await ask('openai', { key: GOOD })).status).toBe(400);
  expect((await ask('nobody', {})).status).toBe(404);
});

test('test: one whose provider never answers keeps only its own organization’s tests waiting', async () => {
  const hostile = await stack.tenant();
  const hang = { displayName: 'Hang', baseUrl: `${origin}/hang`, authType: 'bearer', usageFormat: 'openai' };
  expect((await hostile.call('POST', '/v1/custom-providers', { slug: 'hang', ...hang })).status).toBe(201);
  const body = { providerSlug: 'hang', credentials: { apiKey: GOOD } };
  const hanging = Array.from({ length: 12 }, () => hostile.call('POST', '/v1/providers/accounts/test', body));
  await until('four tests hang', () => seen.filter(({ url }) => url?.startsWith('/hang')).length >= 4);
  expect((await ask('openai', { apiKey: GOOD })).body).toMatchObject({ ok: true });
  expect(seen.filter(({ url }) => url?.startsWith('/hang')).length).toBe(4);
  provider.closeAllConnections();
  const timer = setInterval(() => provider.closeAllConnections(), 50);
  const statuses = (await Promise.all(hanging)).map(({ status }) => status);
  clearInterval(timer);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('test: an Idempotency-Key is taken no notice of, which would hold a connection while the provider is asked', async () => {
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
  const { id } = await tenant.agent();
  const account = await tenant.account(id, 'openai', { apiKey: GOOD });
  const url = `${stack.apiUrl}/v1/providers/accounts/${account}/test`;
  const { authorization } = headers;
  await fetch(url, { method: 'POST', headers: { authorization, 'idempotency-key': 'another key' } });
  const given = { name: 'shared', providerSlug: 'openai', credentials: { apiKey: GOOD } };
  const { id: shared } = (await tenant.call('POST', '/v1/credentials', given)).body.credential;
  const sharedUrl = `${stack.apiUrl}/v1/credentials/${shared}/test`;
  await fetch(sharedUrl, { method: 'POST', headers: { authorization, 'idempotency-key': 'a third key' } });
  expect(await database.sql`select body from idempotency_keys`).toEqual([]);
});

async function accountOf(agentId: string) {
  return (await tenant.call('GET', `/v1/providers/accounts?agentId=${agentId}`)).body.accounts[0];
}

test('test: an account whose credential is refused is taken out of use, and comes back when it is taken', async () => {
  const agent = await tenant.agent();
  const key = 'key-turns-bad-0123456789';
  const id = await tenant.account(agent.id, 'openai', { apiKey: key });
  const run = async () => (await tenant.call('POST', `/v1/providers/accounts/${id}/test`)).body;
  expect(await run()).toMatchObject({ ok: true });
  refused.add(key);
  expect(await run()).toMatchObject({ ok: false, status: 401 });
  expect(await accountOf(agent.id)).toMatchObject({ status: 'needs_credentials' });
  refused.delete(key);
  expect(await run()).toMatchObject({ ok: true });
  expect(await accountOf(agent.id)).toMatchObject({ status: 'active' });
  const { events } = (await tenant.call('GET', `/v1/events?agentId=${agent.id}`)).body;
  const told = { providerSlug: 'openai', accountId: id, credentialId: null, agentId: agent.id, orgId: tenant.orgId };
  expect(events.slice(0, 2)).toMatchObject([
    { event: 'credential.accepted', data: told },
    { event: 'credential.refused', data: told },
  ]);
  const stranger = await stack.tenant();
  expect((await stranger.call('POST', `/v1/providers/accounts/${id}/test`)).status).toBe(404);
});

test.each([
  ['refused', 401, 'active'],
  ['taken', 200, 'needs_credentials'],
] as const)(
  'test: a credential that is %s after it was replaced says nothing of the new one',
  async (word, status, stays) => {
    const agent = await tenant.agent();
    const slow = { slug: `held-${word}`, displayName: 'H', authType: 'bearer', baseUrl: `${origin}/held` };
    await tenant.call('POST', '/v1/custom-providers', slow);
    const id = await tenant.account(agent.id, slow.slug, { apiKey: GOOD });
    const running = tenant.call('POST', `/v1/providers/accounts/${id}/test`);
    await until('the provider is asked', () => held.length === 1);
    await tenant.call('POST', `/v1/providers/accounts/${id}/rotate`, { credentials: { apiKey: `${GOOD}-new` } });
    if (stays === 'needs_credentials') {
      await database.sql`update provider_accounts set status = ${stays}, refused_at = now() where id = ${id}`;
    }
    held.pop()!.writeHead(status).end('{}');
    expect((await running).body).toMatchObject({ ok: status === 200, status });
    expect(await accountOf(agent.id)).toMatchObject({ status: stays });
  },
);

test('test: a credential never follows its provider to another host', async () => {
  const agent = await tenant.agent();
  const made = { slug: 'moves', displayName: 'M', authType: 'bearer', baseUrl: `${origin}/here` };
  const { id: providerId } = (await tenant.call('POST', '/v1/custom-providers', made)).body.provider;
  const id = await tenant.account(agent.id, 'moves', { apiKey: BAD });
  const path = `/v1/providers/accounts/${id}/test`;
  expect((await tenant.call('POST', path)).body).toMatchObject({ ok: false, status: 401 });
  const moved = { baseUrl: origin.replace('127.0.0.1', '127.0.0.2') };
  expect((await tenant.call('PUT', `/v1/custom-providers/${providerId}`, moved)).status).toBe(200);
  const [row] = await database.sql`select refused_at from provider_accounts where id = ${id}`;
  expect(row!.refused_at).toBeNull(); // so nobody tests it again in an hour
  const before = seen.length;
  expect((await tenant.call('POST', path)).body).toMatchObject({ ok: false, status: null });
  expect(seen.length).toBe(before);
});

test('test: nor does it where the provider moves while the test begins', async () => {
  const made = { slug: 'moves-now', displayName: 'M', authType: 'bearer', baseUrl: `${origin}/here` };
  const { id: providerId } = (await tenant.call('POST', '/v1/custom-providers', made)).body.provider;
  const given = { name: 'shared', providerSlug: 'moves-now', credentials: { apiKey: GOOD } };
  const shared = (await tenant.call('POST', '/v1/credentials', given)).body.credential.id;
  const account = await tenant.account((await tenant.agent()).id, 'moves-now', { apiKey: GOOD });
  const before = seen.length;
  const release = await holdLock(database.sql, (tx) => tx`select pg_advisory_xact_lock(hashtext('invalidations'))`);
  const moved = { baseUrl: `${origin.replace('127.0.0.1', '127.0.0.2')}/there` };
  const move = tenant.call('PUT', `/v1/custom-providers/${providerId}`, moved);
  await until('the move waits for its end', async () => (await lockWaiters(database.sql)) === 1);
  const tests = [`/v1/providers/accounts/${account}/test`, `/v1/credentials/${shared}/test`].map((path) =>
    tenant.call('POST', path),
  );
  await until('so do the tests', async () => (await lockWaiters(database.sql)) === 3);
  await release();
  expect((await move).status).toBe(200);
  for (const { body } of await Promise.all(tests)) {
    expect(body).toMatchObject({ ok: false, status: null, hint: 'The account needs its credentials set again.' });
  }
  expect(seen.length).toBe(before);
});

test('calls that are refused make the gateway ask; only its own question counts; an hour later it asks again', async () => {
  const agent = await tenant.agent();
  const key = 'key-expires-0123456789';
  await tenant.account(agent.id, 'openai', { apiKey: key });
  const token = await tenant.token(agent.id);
  const call = async (path: string): Promise<number> => {
    const answer = await fetch(`${dataPlane}/v1/proxy/openai${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const asked = () => seen.filter(({ headers }) => headers['user-agent'] === 'agent-credential-gateway').length;
  const before = asked();
  expect(await call('/provoked')).toBe(401);
  await until('the gateway has asked', () => asked() > before);
  expect(await accountOf(agent.id)).toMatchObject({ status: 'active' });
  // Once more each time: the end of a question that is under way says that the credential is taken.
  const anHourPasses = () =>
    database.sql`update provider_accounts set refused_at = now() - interval '2 hours' where agent_id = ${agent.id}`;
  refused.add(key);
  await until('the account is out of use', async () => {
    await anHourPasses();
    return (await accountOf(agent.id)).status === 'needs_credentials';
  });
  await until('agents hear of it', async () => (await call('/v1/models')) === 403);
  refused.delete(key);
  await anHourPasses();
  await until('it is back', async () => (await call('/v1/models')) === 200);
});

test('an hour later: one whose many providers hang keeps nobody else’s credential waiting', async () => {
  const [hostile, other] = [await stack.tenant(), await stack.tenant()];
  const hanging = { slug: 'hanging', displayName: 'H', baseUrl: `${origin}/hang-often`, authType: 'bearer' };
  expect((await hostile.call('POST', '/v1/custom-providers', hanging)).status).toBe(201);
  for (let n = 0; n < 24; n++) await hostile.account((await hostile.agent()).id, 'hanging', { apiKey: GOOD });
  const agent = await other.agent();
  await other.account(agent.id, 'openai', { apiKey: 'key-others-0123456789' });
  const isHers = ({ url = '' }: IncomingMessage): boolean => url.startsWith('/hang-often');
  const isTheirs = ({ headers }: IncomingMessage): boolean => headers.authorization === 'Bearer key-others-0123456789';
  await database.sql`update provider_accounts set refused_at = now() - interval '3 hours' + interval '1 hour' * (org_id = ${other.orgId})::int
    where org_id in (${hostile.orgId}, ${other.orgId})`;
  await until('theirs is tested', () => seen.some(isTheirs));
  const before = seen.slice(0, seen.findIndex(isTheirs)).filter(isHers).length;
  expect(before).toBeLessThanOrEqual(4);
});

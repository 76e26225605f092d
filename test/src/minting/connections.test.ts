/** Accounts that a person connects at the provider: authorization, callback, refresh, and who may not finish it. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';
import type { TokenRequest } from '../stand-in-providers/token-endpoint.js';
import { TokenEndpoint } from '../stand-in-providers/token-endpoint.js';

const PUBLIC_URL = 'http://127.0.0.1:8080';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const CLIENT_SECRET = 'app-secret-0123456789';
const endpoint = new TokenEndpoint();
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;
let projectId: string;
/** Refresh token → whether it was used. */
const refreshTokens = new Map<string, boolean>();
let lifetimeS = 3_600;
let rotates = true;

/** RFC 6749 §4.1.3 and §6, RFC 7636 §4.6. */
function grant({ parameters, authorization }: TokenRequest) {
  const pair = Buffer.from((authorization ?? '').slice(6), 'base64').toString();
  if (decodeURIComponent(pair) !== `app-1:${CLIENT_SECRET}`) return { status: 401, body: { error: 'invalid_client' } };
  const tokens = () => {
    const refresh = `rt-${refreshTokens.size}-${'y'.repeat(20)}`;
    refreshTokens.set(refresh, false);
    return { access_token: endpoint.issue(), token_type: 'Bearer', expires_in: lifetimeS, refresh_token: refresh };
  };
  if (parameters.get('grant_type') === 'authorization_code') {
    const [challenge, redirectUri] = codes.get(parameters.get('code') ?? '') ?? [];
    codes.delete(parameters.get('code') ?? '');
    const proof = createHash('sha256')
      .update(parameters.get('code_verifier') ?? '')
      .digest('base64url');
    const isValid = challenge === proof && redirectUri === parameters.get('redirect_uri');
    return isValid ? { body: { ...tokens(), scope: 'read write' } } : { status: 400, body: { error: 'invalid_grant' } };
  }
  const used = refreshTokens.get(parameters.get('refresh_token') ?? '');
  if (parameters.get('grant_type') !== 'refresh_token' || used !== false)
    return { status: 400, body: { error: 'invalid_grant' } };
  if (!rotates) return { body: { access_token: endpoint.issue(), token_type: 'Bearer', expires_in: lifetimeS } };
  refreshTokens.set(parameters.get('refresh_token')!, true);
  return { body: tokens() };
}

/** Code → challenge and redirect URI of its request. */
const codes = new Map<string, readonly [string, string]>();
/** What a person does at the provider: agrees. Returns the address of the callback. */
function agree(address: string): URL {
  const { searchParams } = new URL(address);
  const code = `code-${codes.size}-${Math.random()}`;
  expect(searchParams.get('code_challenge_method')).toBe('S256');
  codes.set(code, [searchParams.get('code_challenge')!, searchParams.get('redirect_uri')!]);
  const callback = new URL(searchParams.get('redirect_uri')!);
  callback.searchParams.set('state', searchParams.get('state')!);
  callback.searchParams.set('code', code);
  return callback;
}

beforeAll(async () => {
  await endpoint.start();
  plane = await startControlPlane({ PUBLIC_URL, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  endpoint.stop();
});
beforeEach(() => {
  endpoint.respond = grant;
  endpoint.requests.length = 0;
  lifetimeS = 3_600;
  rotates = true;
});

let created = 0;
async function createAccount(token: object = {}) {
  const slug = `app-${created++}`;
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [],
      methods: [
        {
          name: 'connect',
          label: 'Connect',
          kind: 'oauth2_authorization_code',
          fields: [
            { name: 'clientId', label: 'Client id', secret: false, required: true },
            { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
          ],
          token: {
            url: endpoint.url,
            authorizationUrl: 'https://login.example.com/authorize',
            authorizationParameters: { access_type: 'offline' },
            clientId: '{clientId}',
            clientSecret: '{clientSecret}',
            scope: 'read write',
            ...token,
          },
          inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
        },
      ],
    },
    origins: { default: 'https://api.example.com' },
    inject: [],
    usage: { format: 'none' },
  };
  const made = await owner.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const agentId = (await owner.call('POST', '/v1/agents', { projectId, name: slug })).body.agent.id;
  const credentials = { method: 'connect', clientId: 'app-1', clientSecret: CLIENT_SECRET };
  const account = await owner.call('POST', '/v1/providers/accounts', { agentId, providerSlug: slug, credentials });
  expect([account.status, account.body.error]).toEqual([201, undefined]);
  const { secretKey } = (await owner.call('POST', '/v1/api-keys', { name: slug, agentId })).body;
  const id: string = account.body.account.id;
  const upstream = async () => (await watched.resolve(secretKey)).context!.upstreams.get(slug)!;
  return { slug, id, agentId, secretKey, upstream };
}

async function begin(id: string, member = owner) {
  const started = await member.call('POST', `/v1/providers/accounts/${id}/connect`, undefined, OWN_PAGE);
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? '';
  return { ...started, cookie };
}

const finish = (callback: URL, cookie: string, member = owner, more: object = {}) => {
  const body = { redirectPath: callback.pathname, ...Object.fromEntries(callback.searchParams), ...more };
  const headers = { ...OWN_PAGE, cookie, 'idempotency-key': randomUUID() };
  return plane.call('POST', '/v1/connections', { token: member.token, body, headers });
};

async function connect(id: string): Promise<void> {
  const { body, cookie } = await begin(id);
  const finished = await finish(agree(body.url), cookie);
  expect([finished.status, finished.body.error]).toEqual([200, undefined]);
}

const stateOf = async (id: string) => {
  const [row] = await plane.database.sql<{ failure: string | null; generation: number; failures: number }[]>`
    select failure, generation, failures from minted_credentials where account_id = ${id}`;
  return row!;
};
/** Makes the refresh due, as if time had passed. */
const makeDue = (id: string) => plane.database.sql`
  update minted_credentials set refresh_at = now(), used = true, next_attempt_at = '-infinity' where account_id = ${id}`;
const expire = (id: string) => plane.database.sql`
  update minted_credentials set refresh_at = now(), expires_at = now() + interval '5 seconds', used = true,
         next_attempt_at = '-infinity' where account_id = ${id}`;

test('a connected account sends the access token; the request names PKCE, state and the provider’s own redirect URI', async () => {
  const { id, slug, upstream } = await createAccount();
  expect((await upstream()).injection.kind).toBe('none');
  const { body, cookie, headers } = await begin(id);
  expect(headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
  const { searchParams, origin } = new URL(body.url);
  expect(origin).toBe('https://login.example.com');
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'app-1',
    scope: 'read write',
    access_type: 'offline',
    redirect_uri: `${PUBLIC_URL}/connect/${owner.orgId}/${slug}/callback`,
  });
  expect((await finish(agree(body.url), cookie)).status).toBe(200);
  await waitUntil('the data plane has the token', async () => (await upstream()).injection.kind === 'header');
  expect((await upstream()).injection).toMatchObject({ value: `Bearer ${endpoint.issued.at(-1)}` });
  const [dump] = await plane.database.sql<{ text: string }[]>`
    select json_agg(g)::text || (select json_agg(m)::text from minted_credentials m) as text from oauth_grants g`;
  expect(dump!.text).not.toMatch(/rt-\d|at-\d/);
});

test('the page of the callback posts the answer to its own origin and stores nothing', async () => {
  const { slug, id } = await createAccount();
  const { body } = await begin(id);
  const { pathname, search } = agree(body.url);
  const page = await plane.call('GET', `${pathname}${search}`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'");
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.body).not.toContain('code-');
  expect(pathname).toBe(`/connect/${owner.orgId}/${slug}/callback`);
  expect(endpoint.requests).toEqual([]);
});

test('an answer counts once, in the browser, for the user, the organization and the provider that began it', async () => {
  const { id } = await createAccount();
  const { id: otherId } = await createAccount();
  const other = await plane.createMember('owner');
  const colleague = await plane.createMember('admin', owner.orgId);
  const { body, cookie } = await begin(id);
  const callback = agree(body.url);
  const otherPath = agree((await begin(otherId)).body.url).pathname;
  const rejected = [
    await finish(callback, ''),
    await finish(callback, `acg_connect=${'A'.repeat(43)}`),
    await finish(callback, cookie, other),
    await finish(callback, cookie, colleague),
    await finish(callback, cookie, owner, { redirectPath: otherPath }),
    await finish(callback, cookie, owner, { state: 'another-state' }),
  ];
  expect(rejected.map(({ status }) => status)).toEqual(Array(6).fill(400));
  const crossSite = await plane.call('POST', '/v1/connections', {
    token: owner.token,
    body: { redirectPath: callback.pathname, state: 'x' },
    headers: { cookie },
  });
  expect(crossSite.status).toBe(403);
  expect(endpoint.requests).toEqual([]);
  expect((await finish(callback, cookie)).status).toBe(200);
  expect((await finish(callback, cookie)).status).toBe(400);
  expect((await begin(id, other)).status).toBe(404);
});

test('an answer to a connection under way that has expired connects nothing', async () => {
  const { id } = await createAccount();
  const { body, cookie } = await begin(id);
  const rows = await plane.database.sql<{ seconds: number }[]>`
    select extract(epoch from expires_at - now())::int as seconds from oauth_connects where account_id = ${id}`;
  expect(rows).toHaveLength(1);
  expect(rows[0]!.seconds).toBeGreaterThan(590);
  expect(rows[0]!.seconds).toBeLessThanOrEqual(600);
  await plane.database.sql`
    update oauth_connects set expires_at = now() - interval '1 second' where account_id = ${id}`;
  expect((await finish(agree(body.url), cookie)).status).toBe(400);
  expect(endpoint.requests).toEqual([]);
});

test('where the provider announces its issuer, an answer without it or of another one is rejected', async () => {
  const { id } = await createAccount({ issuer: 'https://login.example.com' });
  for (const iss of [undefined, 'https://evil.example.com']) {
    const { body, cookie } = await begin(id);
    const callback = agree(body.url);
    expect((await finish(callback, cookie, owner, iss === undefined ? {} : { iss })).body.error).toContain('issuer');
  }
  const { body, cookie } = await begin(id);
  expect((await finish(agree(body.url), cookie, owner, { iss: 'https://login.example.com' })).status).toBe(200);
});

test('consent that lacks a scope, and a person who does not agree, connect nothing', async () => {
  const { id } = await createAccount({ scope: 'read write admin' });
  const first = await begin(id);
  expect((await finish(agree(first.body.url), first.cookie)).body.error).toContain('lacks a scope');
  const second = await begin(id);
  const denied = await finish(agree(second.body.url), second.cookie, owner, { error: 'access_denied' });
  expect([denied.status, denied.body.error]).toEqual([
    400,
    'consent was declined at the provider (access_denied): connect again to give it',
  ]);
});

test('refresh tokens that rotate are stored before their access token is used', async () => {
  const { id } = await createAccount({ rotation: 'grace' });
  await connect(id);
  for (let i = 0; i < 3; i++) {
    const { generation } = await stateOf(id);
    await makeDue(id);
    await waitUntil('the token is refreshed', async () => (await stateOf(id)).generation > generation);
  }
  expect(endpoint.requests.map(({ parameters }) => parameters.get('grant_type'))).toEqual([
    'authorization_code',
    ...Array(3).fill('refresh_token'),
  ]);
});

test('refresh tokens that do not rotate serve again', async () => {
  rotates = false;
  const { id } = await createAccount();
  await connect(id);
  for (let i = 0; i < 2; i++) {
    const { generation } = await stateOf(id);
    await makeDue(id);
    await waitUntil('the token is refreshed', async () => (await stateOf(id)).generation > generation);
  }
});

test('a lost answer: strict grants wait until the token is about to expire, others are tried again', async () => {
  for (const rotation of ['strict', 'grace'] as const) {
    const { id } = await createAccount({ rotation });
    await connect(id);
    endpoint.respond = () => ({ status: 502, body: '' });
    await makeDue(id);
    await waitUntil('the refresh has failed', async () => (await stateOf(id)).failure === 'server_error');
    const [row] = await plane.database.sql<{ seconds: number }[]>`
      select extract(epoch from next_attempt_at - now())::int as seconds from minted_credentials where account_id = ${id}`;
    if (rotation === 'strict') expect(row!.seconds).toBeGreaterThan(3_400);
    else expect(row!.seconds).toBeLessThan(6);
    endpoint.respond = grant;
  }
});

test('a control plane that dies during a strict refresh: no other one repeats it before the last moment', async () => {
  const { id } = await createAccount({ rotation: 'strict' });
  await connect(id);
  const { generation } = await stateOf(id);
  const before = endpoint.requests.length;
  // What is left of a process that was killed after its request: a lease that ends.
  await plane.database.sql`
    update minted_credentials set lease_until = now() - interval '1 second', fence = 99, refresh_at = now(), used = true
     where account_id = ${id}`;
  const other = await createAccount();
  await connect(other.id);
  await makeDue(other.id);
  const { generation: otherGeneration } = await stateOf(other.id);
  await waitUntil('others are refreshed', async () => (await stateOf(other.id)).generation > otherGeneration);
  expect((await stateOf(id)).generation).toBe(generation);
  await expire(id);
  await waitUntil('it is refreshed at last', async () => (await stateOf(id)).generation > generation);
  expect(endpoint.requests.length).toBeGreaterThan(before);
});

test('a database that cannot store a new refresh token at once: it is stored later, and nothing is exchanged twice', async () => {
  const { sql } = plane.database;
  const { id } = await createAccount({ rotation: 'strict' });
  await connect(id);
  const { generation } = await stateOf(id);
  await sql.unsafe(`
    create sequence refused_writes;
    create function refuse_write() returns trigger language plpgsql as $$ begin
      perform nextval('refused_writes'); raise exception 'away'; end $$;
    create trigger refuse_write before update on oauth_grants for each row execute function refuse_write();`);
  const [refreshToken] = [...refreshTokens.keys()].slice(-1);
  await makeDue(id);
  await waitUntil('a write was refused', async () => {
    const [row] = await sql`select is_called from refused_writes`;
    return row!.is_called;
  });
  await sql.unsafe('drop function refuse_write cascade; drop sequence refused_writes');
  await waitUntil('it is stored', async () => (await stateOf(id)).generation > generation);
  const uses = endpoint.requests.filter(({ parameters }) => parameters.get('refresh_token') === refreshToken);
  expect([uses.length, (await stateOf(id)).failure]).toEqual([1, null]);
});

test('a revoked grant: an event, no further attempt, 403 for calls until a person connects again', async () => {
  const { id, upstream } = await createAccount();
  await connect(id);
  for (const token of refreshTokens.keys()) refreshTokens.set(token, true);
  await expire(id);
  await waitUntil('the refresh has failed', async () => (await stateOf(id)).failure === 'invalid_grant');
  const requests = endpoint.requests.length;
  const { body } = await owner.call('GET', '/v1/events?event=credential.refresh_failed&limit=100');
  // Accounts of the tests before may fail at the same time.
  const events = body.events.filter(({ data }: { data: { accountId: string } }) => data.accountId === id);
  expect(events).toMatchObject([{ data: { reason: 'invalid_grant' } }]);
  await plane.database.sql`update minted_credentials set expires_at = now() where account_id = ${id}`;
  await owner.call('PATCH', `/v1/providers/accounts/${id}`, { allowOpaque: true });
  await waitUntil('the account is out of use', async () => (await upstream()).accountStatus === 'needs_credentials');
  expect(endpoint.requests).toHaveLength(requests);
  await connect(id);
  await waitUntil('the account is in use', async () => (await upstream()).injection.kind === 'header');
});

test('disconnect forgets the grant; a rotation of the client does, too', async () => {
  const { id, upstream } = await createAccount();
  await connect(id);
  await waitUntil('the account is in use', async () => (await upstream()).injection.kind === 'header');
  const ended = await owner.call('POST', `/v1/providers/accounts/${id}/disconnect`, {}, { 'idempotency-key': 'once' });
  expect([ended.status, ended.body.error]).toEqual([200, undefined]);
  await waitUntil('the token is gone', async () => (await upstream()).injection.kind === 'none');
  await connect(id);
  const credentials = { method: 'connect', clientId: 'app-1', clientSecret: 'another-secret-0123' };
  expect((await owner.call('POST', `/v1/providers/accounts/${id}/rotate`, { credentials })).status).toBe(200);
  const rows = await plane.database.sql`select from oauth_grants where account_id = ${id}`;
  expect(rows).toHaveLength(0);
});

test('a client that was replaced while a person agreed connects nothing', async () => {
  const { id } = await createAccount();
  const { body, cookie } = await begin(id);
  const callback = agree(body.url);
  endpoint.respond = async (request) => {
    const credentials = { method: 'connect', clientId: 'app-1', clientSecret: CLIENT_SECRET };
    await owner.call('POST', `/v1/providers/accounts/${id}/rotate`, { credentials });
    return grant(request);
  };
  expect((await finish(callback, cookie)).body.error).toContain('replaced meanwhile');
});

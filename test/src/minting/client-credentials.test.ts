/** Accounts whose credential the gateway mints with client credentials, from the token endpoint to the provider. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { TokenEndpoint } from '../stand-in-providers/token-endpoint.js';

const CLIENT_ID = 'client:with/odd+characters';
const SECRET = 'se:cret+with/odd%characters';

/** Accepts the newest token of the endpoint, and earlier ones that a test has not withdrawn. */
const withdrawn = new Set<string>();
const received: IncomingMessage[] = [];
const provider = createServer((request, response) => {
  received.push(request);
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const isValid = endpoint.issued.includes(token) && !withdrawn.has(token) && request.url !== '/forbidden';
  response.writeHead(isValid ? 200 : 401, { 'content-type': 'application/json' }).end('{"ok":true}');
});
const endpoint = new TokenEndpoint();
let stack: Stack;
let dataPlane: string;
let tenant: Tenant;
let sql: postgres.Sql;
let origin: string;

beforeAll(async () => {
  await endpoint.start();
  endpoint.secrets.set(CLIENT_ID, SECRET);
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  stack = await Stack.start({ env: { EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } });
  dataPlane = (await stack.addDataPlane()).url;
  tenant = await stack.signUpTenant();
  sql = postgres(stack.database.url.reveal(), { max: 1 });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  slow = await createMintedAccount({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/token` });
  // Its 10 seconds pass during the other tests.
  expect((await slow.call()).status).toBe(503);
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await sql?.end();
  provider.closeAllConnections();
  provider.close();
  endpoint.stop();
  await stack?.stop();
});
beforeEach(() => {
  endpoint.respond = null;
  endpoint.lifetimeS = 3_600;
  endpoint.requests.length = 0;
});

const definition = (token: object, fields: readonly object[] = []) => ({
  credentials: {
    kind: 'api_key',
    fields: [{ name: 'apiKey', label: 'Key', secret: true, required: true }],
    methods: [
      {
        name: 'oauth',
        label: 'OAuth client',
        kind: 'oauth2_client_credentials',
        fields: [
          { name: 'clientId', label: 'Client id', secret: false, required: true },
          { name: 'clientSecret', label: 'Client secret', secret: true, required: false },
          { name: 'scope', label: 'Scope', secret: false, required: false },
          ...fields,
        ],
        token: {
          url: endpoint.url,
          clientId: '{clientId}',
          clientSecret: '{clientSecret}',
          scope: '{scope}',
          ...token,
        },
        inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
      },
    ],
  },
  origins: { default: origin },
  inject: [{ header: 'authorization', value: 'Bearer {apiKey}' }],
  usage: { format: 'none' },
  probe: { path: '/me', refused: [{ status: 401 }] },
});

let created = 0;
/** A custom provider, an agent with an account of it, and a gateway token. */
async function createMintedAccount(token: object = {}, credentials: object = {}, fields: readonly object[] = []) {
  const slug = `minted-${created++}`;
  const made = await tenant.call('POST', '/v1/custom-providers', {
    slug,
    displayName: slug,
    definition: definition(token, fields),
  });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const agent = await tenant.createAgent({ rpmLimit: 100_000 });
  const given = { method: 'oauth', clientId: CLIENT_ID, clientSecret: SECRET, ...credentials };
  const accountId = await tenant.createAccount(agent.id, slug, given as Record<string, string>);
  const gatewayToken = await tenant.createToken(agent.id);
  const call = (path = 'me', init: RequestInit = {}) =>
    fetch(`${dataPlane}/v1/proxy/${slug}/${path}`, { ...init, headers: { authorization: `Bearer ${gatewayToken}` } });
  return { slug, agentId: agent.id, accountId, call };
}

/** What the account's page shows. */
async function mintedOf(accountId: string) {
  const { body } = await tenant.call('GET', `/v1/providers/accounts/${accountId}`);
  return body.account.minted;
}

async function eventsOf(accountId: string) {
  const { body } = await tenant.call('GET', '/v1/events?event=credential.refresh_failed&limit=100');
  return body.events.filter(({ data }: { data: { accountId: string } }) => data.accountId === accountId);
}

/** An endpoint that accepts requests and never answers, and one at which nothing listens. */
const silent = createServer(() => {});
let slow: Awaited<ReturnType<typeof createMintedAccount>>;

test('the first call waits for its credential, and further calls share it', async () => {
  const { call } = await createMintedAccount({}, { scope: 'read write' });
  const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(endpoint.requests).toHaveLength(1);
  expect(endpoint.requests[0]!.parameters.get('scope')).toBe('read write');
  expect(received.at(-1)!.headers.authorization).toBe(`Bearer ${endpoint.issued.at(-1)}`);
});

test.each([
  ['rsa', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ['ec', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
])('a client authenticates with an assertion signed by its %s key', async (name, generate) => {
  const pem = generate().privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  endpoint.trust(`key-${name}`, pem);
  const field = { name: 'privateKey', label: 'Private key', kind: 'private_key', secret: true, required: true };
  const { call } = await createMintedAccount(
    { clientAuthentication: 'private_key_jwt', privateKey: '{privateKey}' },
    { clientId: `key-${name}`, privateKey: pem },
    [field],
  );
  expect((await call()).status).toBe(200);
  expect(endpoint.requests[0]!.authorization).toBeNull();
  expect(endpoint.requests[0]!.parameters.has('client_secret')).toBe(false);
});

test('a token is refreshed before it expires, once for each generation', async () => {
  endpoint.lifetimeS = 60;
  const { call, accountId } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  const [first] = endpoint.issued.slice(-1);
  await waitUntil('the data plane has received it', async () => {
    const [row] = await sql`select used from minted_credentials where account_id = ${accountId}`;
    return row!.used;
  });
  // A life of 60 seconds is used for 45, and refreshed after 50 to 80 % of these.
  const [row] = await sql`
    select extract(epoch from expires_at - minted_at)::float8 as life,
           extract(epoch from refresh_at - minted_at)::float8 as due
      from minted_credentials where account_id = ${accountId}`;
  expect(row!.life).toBeGreaterThan(40);
  expect(row!.life).toBeLessThanOrEqual(45);
  expect(row!.due / row!.life).toBeGreaterThan(0.4);
  expect(row!.due / row!.life).toBeLessThanOrEqual(0.8);
  await sql`update minted_credentials set refresh_at = now() where account_id = ${accountId}`;
  await waitUntil('the token is refreshed', () => endpoint.requests.length === 2);
  await waitUntil('the data plane sends the new one', async () => {
    expect((await call()).status).toBe(200);
    return received.at(-1)!.headers.authorization !== `Bearer ${first}`;
  });
  expect(endpoint.requests).toHaveLength(2);
  expect((await tenant.call('DELETE', `/v1/providers/accounts/${accountId}`)).status).toBe(200);
});

test.each([
  ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }, 'redirect'],
  ['a huge answer', { body: ' '.repeat(70_000) }, 'too_large'],
  ['no JSON', { body: '<html>' }, 'not_json'],
  ['a list', { body: [] }, 'not_json'],
  ['no token', { body: { token_type: 'Bearer', expires_in: 3600 } }, 'bad_answer'],
  ['a short token', { body: { access_token: 'short', token_type: 'Bearer', expires_in: 3600 } }, 'bad_token'],
  [
    'a token with a line break',
    { body: { access_token: 'abcdefgh\r\nx: y', token_type: 'Bearer', expires_in: 60 } },
    'bad_token',
  ],
  ['a huge token', { body: { access_token: 'x'.repeat(9_000), token_type: 'Bearer', expires_in: 60 } }, 'bad_token'],
  ['a MAC token', { body: { access_token: 'abcdefghij', token_type: 'mac', expires_in: 3600 } }, 'token_type'],
  ['expires_in 0', { body: { access_token: 'abcdefghij', token_type: 'Bearer', expires_in: 0 } }, 'bad_lifetime'],
  ['expires_in -1', { body: { access_token: 'abcdefghij', token_type: 'Bearer', expires_in: -1 } }, 'bad_lifetime'],
  ['no expires_in', { body: { access_token: 'abcdefghij', token_type: 'Bearer' } }, 'bad_lifetime'],
  [
    'a lesser scope',
    { body: { access_token: 'abcdefghij', token_type: 'Bearer', expires_in: 60, scope: 'read' } },
    'missing_scope',
  ],
  ['a wrong secret', { status: 401, body: { error: 'invalid_client' } }, 'invalid_client'],
  ['a revoked grant', { status: 400, body: { error: 'invalid_grant', error_description: SECRET } }, 'invalid_client'],
  [
    'an error in the format of the vendor',
    { status: 401, body: { type: 'error', error: { type: 'authentication_error', message: SECRET } } },
    'rejected',
  ],
  ['a server error', { status: 503, body: '', headers: { 'retry-after': '120' } }, 'server_error'],
  ['a rate limit', { status: 429, body: '{}' }, 'rate_limited'],
])('%s: 503 with Retry-After, state and event that name the cause, and one attempt', async (_name, answer, reason) => {
  const { call, accountId } = await createMintedAccount({}, { scope: 'read write' });
  endpoint.respond = () => answer;
  const answers = await Promise.all(Array.from({ length: 10 }, () => call()));
  for (let i = 0; i < 10; i++) answers.push(await call());
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(503));
  expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(endpoint.requests).toHaveLength(1);
  await expectFailure(accountId, reason);
});

/** State, text and event of an account whose exchanges fail. */
async function expectFailure(accountId: string, reason: string): Promise<void> {
  const minted = await mintedOf(accountId);
  expect(minted).toMatchObject({ state: 'failing', expiresAt: null, failure: { reason } });
  expect(minted.failure.cause.length).toBeGreaterThan(20);
  expect(minted.failure.remedy.length).toBeGreaterThan(5);
  expect(Date.parse(minted.failure.nextAttemptAt)).toBeGreaterThan(Date.parse(minted.failure.at));
  const events = await eventsOf(accountId);
  expect(events.map(({ data }: { data: object }) => data)).toMatchObject([{ accountId, reason }]);
  expect(JSON.stringify([minted, events])).not.toContain(SECRET);
}

test('an endpoint at which nothing listens: the same', async () => {
  const { call, accountId } = await createMintedAccount({ url: 'http://127.0.0.1:1/token' });
  expect((await Promise.all(Array.from({ length: 10 }, () => call()))).map(({ status }) => status)).toEqual(
    Array(10).fill(503),
  );
  await expectFailure(accountId, 'unreachable');
});

test('a year counts as a day', async () => {
  endpoint.lifetimeS = 31_536_000;
  const { call, accountId } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  const tested = await tenant.call('POST', `/v1/providers/accounts/${accountId}/test`);
  expect(tested.body).toMatchObject({ ok: true, steps: [{ ok: true, message: 'expires in 86400 s' }, { ok: true }] });
});

test('a silent endpoint: the call gets 503 after 3 seconds, and its agent can be served later', async () => {
  const { call } = await createMintedAccount();
  let release: (() => void) | null = null;
  endpoint.respond = () =>
    new Promise((resolve) => {
      release = () => resolve({ body: { access_token: endpoint.issue(), token_type: 'Bearer', expires_in: 3_600 } });
    });
  expect((await call()).status).toBe(503);
  expect(endpoint.requests).toHaveLength(1);
  release!();
  await waitUntil('the call passes', async () => (await call()).status === 200);
  expect(endpoint.requests).toHaveLength(1);
});

test('a token that the provider withdraws early is exchanged once, and no call fails', async () => {
  const { call } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  withdrawn.add(endpoint.issued.at(-1)!);
  const answers = await Promise.all([...Array(20)].map(() => call('me', { method: 'POST', body: '{}' })));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(endpoint.requests).toHaveLength(2);
});

test('an agent that provokes 401s causes one exchange and one repetition', async () => {
  const { call } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  const before = received.length;
  for (let i = 0; i < 20; i++) expect((await call('forbidden')).status).toBe(401);
  expect([endpoint.requests.length, received.length - before]).toEqual([2, 21]);
  expect((await call()).status).toBe(200);
});

test('an endpoint that does not answer within 10 seconds: state, text and event, and one request at a time', async () => {
  expect((await slow.call()).status).toBe(503);
  await waitUntil('the exchange has failed', async () => (await mintedOf(slow.accountId)).state === 'failing');
  await expectFailure(slow.accountId, 'timeout');
});

test('after a rotation the former client gives no more credentials', async () => {
  const { call, accountId } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  const rotated = await tenant.call('POST', `/v1/providers/accounts/${accountId}/rotate`, {
    credentials: { method: 'oauth', clientId: CLIENT_ID, clientSecret: 'wrong-secret' },
  });
  expect([rotated.status, rotated.body.error]).toEqual([200, undefined]);
  await waitUntil('calls are rejected', async () => (await call()).status === 503);
});

test('a tenant whose token endpoint changes must enter its credentials again', async () => {
  const { call, slug } = await createMintedAccount();
  expect((await call()).status).toBe(200);
  const { body } = await tenant.call('GET', '/v1/custom-providers');
  const { id } = body.providers.find((one: { slug: string }) => one.slug === slug);
  const other = { ...definition({ url: `${origin}/collect` }) };
  expect((await tenant.call('PUT', `/v1/custom-providers/${id}`, { definition: other })).status).toBe(200);
  // A call in flight is cut when its account loses the credential.
  const statusOf = async (): Promise<number | null> =>
    call().then(
      ({ status }) => status,
      () => null,
    );
  await waitUntil('the account needs its credentials', async () => (await statusOf()) === 403);
  expect(received.some(({ url }) => url === '/collect')).toBe(false);
});

test('a definition that sends the client secret to the provider is rejected', async () => {
  const leaking = definition({});
  leaking.credentials.methods[0]!.inject = [{ header: 'authorization', value: 'Bearer {clientSecret}' }];
  const made = await tenant.call('POST', '/v1/custom-providers', {
    slug: 'leak',
    displayName: 'L',
    definition: leaking,
  });
  expect(made.status).toBe(400);
  expect(made.body.error).toContain('sends clientSecret to the provider');
});

/**
 * MCP servers whose authorization server is found by discovery: documents and registrations of the gateway, resource
 * indicators, issuers, and servers whose metadata attacks.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type ConnectedContextCache, connectContextCache } from '../plane-link/connected-context-cache.js';
import { AuthorizationServer } from '../stand-in-providers/authorization-server.js';

const PUBLIC_URL = 'https://gateway.example.com';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const RESOURCE_PATH = '/.well-known/oauth-protected-resource/mcp';
const SERVER_PATH = '/.well-known/oauth-authorization-server';
/** Serves the MCP endpoint and its metadata. */
const mcp = new AuthorizationServer();
const server = new AuthorizationServer();
let plane: TestControlPlane;
let watched: ConnectedContextCache;
let owner: Member;
/** The account that hostile servers get. */
let victim: { readonly id: string };
/** Addresses that were requested at the MCP server. */
const requested: string[] = [];

beforeAll(async () => {
  await Promise.all([mcp.start(), server.start()]);
  plane = await startControlPlane({ PUBLIC_URL, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });
  watched = connectContextCache([plane.grpcAddress], plane.config.link);
  await waitUntil('the watch is up', () => watched.source.isUp);
  owner = await plane.createMember('owner');
  victim = await createAccount();
});
afterAll(async () => {
  watched?.stop();
  await plane?.stop();
  mcp.stop();
  server.stop();
});
beforeEach(() => {
  mcp.reset();
  server.reset();
  requested.length = 0;
  mcp.routes.set('/mcp', ({ method, headers }, _body, response) => {
    requested.push(`${method} ${headers.authorization ?? 'no credential'}`);
    challenge(response, `Bearer resource_metadata="${mcp.origin}${RESOURCE_PATH}", scope="read write"`);
  });
  mcp.serve(RESOURCE_PATH, { resource: `${mcp.origin}/mcp`, authorization_servers: [server.origin] });
  server.serve(SERVER_PATH, server.metadata);
});

const challenge = (response: ServerResponse, value: string) =>
  void response.writeHead(401, { 'www-authenticate': value }).end();

interface Options {
  readonly member?: Member;
  readonly credentials?: object;
  readonly token?: object;
}

async function createAccount({ member = owner, credentials = {}, token = {} }: Options = {}) {
  const slug = `mcp-${randomUUID().slice(0, 8)}`;
  const field = (name: string, secret: boolean) => ({ name, label: name, secret, required: false });
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [],
      methods: [
        {
          name: 'connect',
          label: 'Connect',
          kind: 'oauth2_authorization_code',
          fields: [field('clientId', false), field('clientSecret', true)],
          token: { discover: '/mcp', clientId: '{clientId}', clientSecret: '{clientSecret}', ...token },
          inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
        },
      ],
    },
    origins: { default: mcp.origin },
    inject: [],
    usage: { format: 'mcp' },
  };
  const made = await member.call('POST', '/v1/custom-providers', { slug, displayName: 'Our tools', definition });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const projectId = (await member.call('GET', '/v1/projects')).body.projects[0]?.id;
  const project = projectId ?? (await member.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId = (await member.call('POST', '/v1/agents', { projectId: project, name: slug })).body.agent.id;
  const body = { agentId, providerSlug: slug, credentials: { method: 'connect', ...credentials } };
  const account = await member.call('POST', '/v1/providers/accounts', body);
  expect([account.status, account.body.error]).toEqual([201, undefined]);
  const { secretKey } = (await member.call('POST', '/v1/api-keys', { name: slug, agentId })).body;
  const upstream = async () => (await watched.resolve(secretKey)).context!.upstreams.get(slug)!;
  return { slug, id: account.body.account.id as string, upstream };
}

async function begin(id: string, member = owner) {
  const { status, body, headers } = await member.call(
    'POST',
    `/v1/providers/accounts/${id}/connect`,
    undefined,
    OWN_PAGE,
  );
  return { status, body, cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
}

/** What a person does at the authorization server. Returns the address of the callback. */
async function agree(address: string): Promise<URL> {
  const consent = await fetch(address);
  expect([consent.status, await consent.text()]).toEqual([200, expect.stringContaining('Consent')]);
  const url = new URL(address);
  url.pathname = '/consent';
  url.searchParams.set('choice', 'allow');
  return new URL((await fetch(url, { redirect: 'manual' })).headers.get('location')!);
}

const finish = (callback: URL, cookie: string, more: object = {}) =>
  plane.call('POST', '/v1/connections', {
    token: owner.token,
    body: { redirectPath: callback.pathname, ...Object.fromEntries(callback.searchParams), ...more },
    headers: { ...OWN_PAGE, cookie, 'idempotency-key': randomUUID() },
  });

async function connect(id: string): Promise<URL> {
  const { status, body, cookie } = await begin(id);
  expect([status, body.error]).toEqual([200, undefined]);
  const finished = await finish(await agree(body.url), cookie);
  expect([finished.status, finished.body.error]).toEqual([200, undefined]);
  return new URL(body.url);
}

const failureOf = async (id: string): Promise<string> => {
  const { status, body } = await begin(id);
  expect(status).toBe(400);
  return body.error;
};

const makeDue = (id: string) => plane.database.sql`
  update minted_credentials set refresh_at = now(), used = true, next_attempt_at = '-infinity' where account_id = ${id}`;
const generationOf = async (id: string) =>
  (
    await plane.database.sql<{ generation: number }[]>`
    select generation from minted_credentials where account_id = ${id}`
  )[0]!.generation;

test('a server with documents: the gateway’s own document is the client, and requests name the resource', async () => {
  server.statesIssuer = true;
  server.fetchDocument = async (url) => {
    expect(url.startsWith(PUBLIC_URL)).toBe(true);
    const document = await plane.call('GET', url.slice(PUBLIC_URL.length));
    expect([document.status, document.headers.get('content-type')]).toEqual([200, expect.stringContaining('json')]);
    return JSON.stringify(document.body);
  };
  server.serve(SERVER_PATH, server.metadata);
  const { id, slug, upstream } = await createAccount();
  const { searchParams, origin, pathname } = await connect(id);
  expect(origin + pathname).toBe(`${server.origin}/authorize`);
  const base = `${PUBLIC_URL}/connect/${owner.orgId}/${slug}`;
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: `${base}/client.json`,
    redirect_uri: `${base}/callback`,
    resource: `${mcp.origin}/mcp`,
    scope: 'read write',
    code_challenge_method: 'S256',
  });
  expect(server.registrations).toEqual([]);
  expect(requested).toEqual(['POST no credential']);
  await waitUntil('the data plane has the token', async () => (await upstream()).injection.kind === 'header');
  const [accessToken] = server.accessTokens;
  expect((await upstream()).injection).toMatchObject({ value: `Bearer ${accessToken}` });
});

test('documents exist for built-in providers and organizations alike, and say nothing about which there are', async () => {
  const path = '/connect/gateway/linear-mcp/client.json';
  const built = await plane.call('GET', path);
  expect(built.body).toMatchObject({
    client_id: PUBLIC_URL + path,
    redirect_uris: [`${PUBLIC_URL}/connect/gateway/linear-mcp/callback`],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  expect((await plane.call('GET', `/connect/${randomUUID()}/some-slug/client.json`)).status).toBe(200);
  for (const wrong of ['/connect/Gateway/linear-mcp/client.json', '/connect/gateway/%22%3E/client.json'])
    expect((await plane.call('GET', wrong)).status).toBe(404);
});

test('a server without documents: the gateway registers once for an organization, and refreshes name the resource', async () => {
  const { id, slug, upstream } = await createAccount();
  await begin(id);
  await connect(id);
  expect(server.registrations).toEqual([
    expect.objectContaining({
      redirect_uris: [`${PUBLIC_URL}/connect/${owner.orgId}/${slug}/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      application_type: 'web',
    }),
  ]);
  // What the metadata says later does not matter: the grant belongs to the server that gave it.
  mcp.serve(RESOURCE_PATH, { resource: `${mcp.origin}/mcp`, authorization_servers: ['https://other.example.com'] });
  const generation = await generationOf(id);
  await makeDue(id);
  await waitUntil('the token is refreshed', async () => (await generationOf(id)) > generation);
  expect(server.tokenRequests.map((one) => [one.get('grant_type'), one.get('resource')])).toEqual([
    ['authorization_code', `${mcp.origin}/mcp`],
    ['refresh_token', `${mcp.origin}/mcp`],
  ]);
  await waitUntil('the data plane has it', async () => {
    const { injection } = await upstream();
    return injection.kind === 'header' && injection.value === `Bearer ${[...server.accessTokens].at(-1)}`;
  });
  await owner.call('POST', `/v1/providers/accounts/${id}/disconnect`, {});
  await waitUntil('the grant is revoked', () => server.revoked.length === 1);
  expect(server.revoked[0]).toMatch(/^rt-/);
  const { body } = await owner.call('GET', '/v1/audit?action=account.connect');
  const entry = body.entries.find((one: { action: string }) => one.action === 'account.connect');
  expect(entry.changes).toMatchObject({ issuer: [null, server.origin] });
});

test('registered secrets are sealed, used at their issuer, and not shared between organizations', async () => {
  for (const authentication of ['client_secret_post', 'client_secret_basic'] as const) {
    server.registeredAuthentication = authentication;
    server.serve(SERVER_PATH, server.metadata);
    await connect((await createAccount()).id);
  }
  const other = await plane.createMember('owner');
  await begin((await createAccount({ member: other })).id, other);
  expect(server.registrations).toHaveLength(3);
  const secrets = [...server.clients.values()].filter((one) => one !== null);
  expect(secrets).toHaveLength(3);
  const [dump] = await plane.database.sql<{ text: string }[]>`
    select (select json_agg(c)::text from oauth_clients c) || (select json_agg(g)::text from oauth_grants g) as text`;
  for (const secret of secrets) {
    expect(dump!.text).not.toContain(secret);
    expect(dump!.text).not.toContain(Buffer.from(secret).toString('hex'));
  }
});

test('a client whose secret is about to expire is registered again', async () => {
  server.registeredAuthentication = 'client_secret_post';
  server.serve(SERVER_PATH, server.metadata);
  const { id } = await createAccount();
  await begin(id);
  await begin(id);
  expect(server.registrations).toHaveLength(1);
  await plane.database.sql`
    update oauth_clients set secret_expires_at = now() + interval '5 minutes' where issuer = ${server.origin}`;
  await begin(id);
  expect(server.registrations).toHaveLength(2);
});

test('unused clients are pruned after a day, and a client of a grant stays', async () => {
  const kept = await createAccount();
  await connect(kept.id);
  await begin((await createAccount()).id);
  const { sql } = plane.database;
  await sql`update oauth_clients set created_at = now() - interval '25 hours'`;
  await sql`delete from oauth_connects`;
  const { pruneClients } = await import('@acg/controlplane/minting/oauth-client-store');
  await pruneClients(sql);
  const rows =
    await sql`select c.id from oauth_clients c left join oauth_grants g on g.registration_id = c.id where g.id is null`;
  expect(rows).toHaveLength(0);
  expect(
    await sql`select from oauth_grants where account_id = ${kept.id} and registration_id is not null`,
  ).toHaveLength(1);
});

test('an own client comes first, and never goes to another authorization server', async () => {
  server.clients.set('own-client', 'own-secret-0123456789');
  const { id } = await createAccount({
    credentials: { clientId: 'own-client', clientSecret: 'own-secret-0123456789' },
  });
  const { searchParams } = await connect(id);
  expect(searchParams.get('client_id')).toBe('own-client');
  expect(server.registrations).toEqual([]);
  const other = await new AuthorizationServer().start();
  try {
    other.serve(SERVER_PATH, other.metadata);
    mcp.serve(RESOURCE_PATH, { resource: `${mcp.origin}/mcp`, authorization_servers: [other.origin] });
    expect(await failureOf(id)).toContain('belongs to');
    expect(other.tokenRequests).toEqual([]);
  } finally {
    other.stop();
  }
});

test('an earlier server without metadata of its own is its own authorization server', async () => {
  mcp.routes.set('/mcp', (_request, _body, response) => challenge(response, 'Bearer error="invalid_token"'));
  mcp.routes.delete(RESOURCE_PATH);
  mcp.serve(SERVER_PATH, mcp.metadata);
  const { id } = await createAccount();
  const { origin, searchParams } = await connect(id);
  expect([origin, searchParams.get('resource'), searchParams.get('scope')]).toEqual([
    mcp.origin,
    `${mcp.origin}/mcp`,
    null,
  ]);
});

test('metadata at the root, of an issuer with a path, and OpenID Connect Discovery are found', async () => {
  mcp.routes.set('/mcp', (_request, _body, response) => challenge(response, 'Basic realm="x", Bearer scope="a"'));
  mcp.routes.delete(RESOURCE_PATH);
  const issuer = `${server.origin}/tenant`;
  const resource = { resource: mcp.origin, authorization_servers: [issuer], scopes_supported: ['b'] };
  mcp.serve('/.well-known/oauth-protected-resource', resource);
  server.routes.delete(SERVER_PATH);
  server.serve('/tenant/.well-known/openid-configuration', {
    ...server.metadata,
    issuer,
    scopes_supported: ['offline_access'],
  });
  const { searchParams } = await connect((await createAccount()).id);
  expect([searchParams.get('resource'), searchParams.get('scope')]).toEqual([mcp.origin, 'a offline_access']);
});

test('answers of another issuer, and without the announced one, are rejected before the code is sent', async () => {
  for (const [announced, iss, works] of [
    [true, undefined, false],
    [true, 'https://evil.example.com', false],
    [false, 'https://evil.example.com', false],
    [false, undefined, true],
  ] as const) {
    server.statesIssuer = announced;
    server.serve(SERVER_PATH, server.metadata);
    const { body, cookie } = await begin((await createAccount()).id);
    const callback = await agree(body.url);
    callback.searchParams.delete('iss');
    const before = server.tokenRequests.length;
    // The error of another issuer is neither shown nor acted on.
    const error = works ? {} : { error: 'access_denied' };
    const finished = await finish(callback, cookie, iss === undefined ? error : { iss, ...error });
    if (works) expect(finished.status).toBe(200);
    else {
      expect([finished.status, finished.body.error]).toEqual([400, expect.stringContaining('another issuer')]);
      expect(server.tokenRequests).toHaveLength(before);
    }
  }
});

const redirect = (to: string) => (_request: unknown, _body: string, response: ServerResponse) =>
  void response.writeHead(302, { location: to }).end();
const answer = (text: string | Buffer, headers: Record<string, string> = {}) => {
  return (_request: unknown, _body: string, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
};
const resourceWith = (change: object) =>
  mcp.serve(RESOURCE_PATH, { resource: `${mcp.origin}/mcp`, authorization_servers: [server.origin], ...change });
const serverWith = (change: object) => server.serve(SERVER_PATH, { ...server.metadata, ...change });

const HOSTILE: readonly (readonly [what: string, prepare: () => void, error: RegExp])[] = [
  ['metadata of another resource', () => resourceWith({ resource: 'https://mcp.example.com/mcp' }), /another resource/],
  ['metadata of a sibling path', () => resourceWith({ resource: `${mcp.origin}/mcp2` }), /another resource/],
  ['no authorization server', () => resourceWith({ authorization_servers: [] }), /no authorization server/],
  [
    'an authorization server at a private address',
    () => resourceWith({ authorization_servers: ['http://10.0.0.1'] }),
    /private network/,
  ],
  [
    'the address of cloud metadata',
    () => resourceWith({ authorization_servers: ['http://169.254.169.254/'] }),
    /private network/,
  ],
  ['an issuer that is no URL', () => resourceWith({ authorization_servers: ['file:///etc/passwd'] }), /not a URL/],
  ['a redirect', () => mcp.routes.set(RESOURCE_PATH, redirect('http://10.0.0.1/')), /redirect/],
  ['a huge document', () => mcp.routes.set(RESOURCE_PATH, answer(`{"a":"${'x'.repeat(100_000)}"}`)), /64 KiB/],
  [
    'a compressed document that grows',
    () => mcp.routes.set(RESOURCE_PATH, answer(gzipSync('x'.repeat(20_000_000)), { 'content-encoding': 'gzip' })),
    /64 KiB/,
  ],
  ['text', () => mcp.routes.set(RESOURCE_PATH, answer('<html>')), /JSON/],
  ['a list', () => mcp.routes.set(RESOURCE_PATH, answer('[]')), /JSON/],
  ['metadata of another issuer', () => serverWith({ issuer: 'https://login.example.com' }), /another issuer/],
  ['no metadata of the issuer', () => server.routes.delete(SERVER_PATH), /has no metadata/],
  ['a redirect of the issuer', () => server.routes.set(SERVER_PATH, redirect(`${mcp.origin}/`)), /redirect/],
  ['no PKCE', () => serverWith({ code_challenge_methods_supported: undefined }), /PKCE/],
  ['PKCE without S256', () => serverWith({ code_challenge_methods_supported: ['plain'] }), /PKCE/],
  ['no codes', () => serverWith({ response_types_supported: ['token'] }), /authorization codes/],
  ['a page that is a script', () => serverWith({ authorization_endpoint: 'javascript:alert(1)' }), /not a URL/],
  ['a page with a user name', () => serverWith({ authorization_endpoint: 'https://a@b.example.com/' }), /not a URL/],
  ['no token endpoint', () => serverWith({ token_endpoint: null }), /token_endpoint/],
  [
    'a registration at a private address',
    () => serverWith({ registration_endpoint: 'http://10.0.0.1/register' }),
    /private network/,
  ],
  ['no registration', () => serverWith({ registration_endpoint: undefined }), /enter its client ID/],
  [
    'a rejected registration',
    () =>
      server.routes.set(
        '/register',
        (_r, _b, response) => void response.writeHead(403).end('{"error":"access_denied"}'),
      ),
    /rejects the registration.*403 \(access_denied\)/,
  ],
  ['a client without an id', () => server.routes.set('/register', answer('{}')), /unusable client/],
  [
    'a client with an unknown authentication',
    () => server.routes.set('/register', answer('{"client_id":"a","token_endpoint_auth_method":"tls_client_auth"}')),
    /unusable client/,
  ],
];

test.each(HOSTILE)('attack: %s connects nothing and says why', async (_what, prepare, error) => {
  const { id } = victim;
  prepare();
  expect(await failureOf(id)).toMatch(error);
  expect(server.tokenRequests).toEqual([]);
  expect(await plane.database.sql`select from oauth_connects where account_id = ${id}`).toHaveLength(0);
});

test('attack: a challenge that names a document elsewhere sends the gateway nowhere', async () => {
  const elsewhere = await new AuthorizationServer().start();
  try {
    let calls = 0;
    elsewhere.routes.set('/metadata', (_request, _body, response) => {
      calls++;
      response.end('{}');
    });
    mcp.routes.set('/mcp', (_request, _body, response) =>
      challenge(response, `Bearer resource_metadata="${elsewhere.origin}/metadata"`),
    );
    await connect((await createAccount()).id);
    expect(calls).toBe(0);
  } finally {
    elsewhere.stop();
  }
});

test('attack: a token endpoint at a private address gets no code', async () => {
  serverWith({ token_endpoint: 'http://10.0.0.1/token' });
  const { body, cookie } = await begin((await createAccount()).id);
  expect((await finish(await agree(body.url), cookie)).body.error).toContain('private network');
});

test('attack: no other organization connects the account, or finishes what was begun', async () => {
  const { id } = await createAccount();
  const other = await plane.createMember('owner');
  expect((await begin(id, other)).status).toBe(404);
  const { body, cookie } = await begin(id);
  const callback = await agree(body.url);
  const answered = await plane.call('POST', '/v1/connections', {
    token: other.token,
    body: { redirectPath: callback.pathname, ...Object.fromEntries(callback.searchParams) },
    headers: { ...OWN_PAGE, cookie, 'idempotency-key': randomUUID() },
  });
  expect([answered.status, server.tokenRequests]).toEqual([400, []]);
});

test('definitions: discovery goes with an authorization code only, and without endpoints of its own', async () => {
  const define = (kind: string, token: object) =>
    owner.call('POST', '/v1/custom-providers', {
      slug: `mcp-${randomUUID().slice(0, 8)}`,
      displayName: 'x',
      definition: {
        credentials: {
          kind: 'api_key',
          fields: [],
          methods: [
            {
              name: 'm',
              label: 'M',
              kind,
              fields: [],
              token,
              inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
            },
          ],
        },
        origins: { default: 'https://mcp.example.com' },
        inject: [],
        usage: { format: 'mcp' },
      },
    });
  expect((await define('oauth2_authorization_code', { discover: '/mcp' })).status).toBe(201);
  for (const [kind, token, error] of [
    ['oauth2_client_credentials', { discover: '/mcp' }, 'authorization_code only'],
    [
      'oauth2_authorization_code',
      { discover: '/mcp', url: 'https://a.example.com/token' },
      'does not go with discover',
    ],
    ['oauth2_authorization_code', { discover: '/mcp', issuer: 'https://a.example.com' }, 'does not go with discover'],
    [
      'oauth2_authorization_code',
      { authorizationUrl: 'https://a.example.com/', clientId: 'a', clientSecret: 'b' },
      'needs url',
    ],
    ['oauth2_authorization_code', { discover: '//evil.example.com/mcp' }, ''],
  ] as const) {
    const { status, body } = await define(kind, token);
    expect([status, body.error]).toEqual([400, expect.stringContaining(error)]);
  }
});

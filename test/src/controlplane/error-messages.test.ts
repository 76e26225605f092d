/** Error messages for wrong input and for an unavailable database. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { freePort } from '../fixtures/free-port.js';
import { TcpProxy } from '../fixtures/tcp-proxy.js';
import { createTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();
const own = { displayName: 'Own', baseUrl: 'http://127.0.0.1:9/base', authType: 'bearer' };

test.each<[string, string, string, Record<string, unknown> | undefined, string]>([
  [
    'a role',
    'POST',
    '/v1/members',
    { email: 'a@example.com', role: 'boss' },
    'role must be one of viewer, member, admin, owner',
  ],
  ['a limit', 'PATCH', '/v1/agents/:id', { rpmLimit: 'many' }, 'rpmLimit must be a whole number or null'],
  [
    'a usage format',
    'POST',
    '/v1/custom-providers',
    { ...own, slug: 'own', usageFormat: 'cohere' },
    'usageFormat must be one of openai, anthropic, null',
  ],
  [
    'a slug of one letter',
    'POST',
    '/v1/custom-providers',
    { ...own, slug: 'a' },
    'slug must NOT have fewer than 2 characters',
  ],
  [
    'a slug with a blank',
    'POST',
    '/v1/custom-providers',
    { ...own, slug: 'a b' },
    'slug must hold nothing but a-z, 0-9 and -',
  ],
  ['a name', 'POST', '/v1/projects', { name: 7 }, 'name must be a string'],
  ['a change', 'PATCH', '/v1/agents/:id', {}, 'the body must have at least one field'],
  ['a day', 'GET', '/v1/audit?start=yesterday', undefined, 'start must be a day, YYYY-MM-DD'],
  ['a month', 'GET', '/v1/audit?end=2026-13-01', undefined, 'end must be a day, YYYY-MM-DD'],
])('a mistake in %s is said in words that help', async (_what, method, path, body, error) => {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'x' })).body.project.id;
  const { id } = (await owner.call('POST', '/v1/agents', { projectId, name: 'x' })).body.agent;
  const answer = await owner.call(method, path.replace(':id', id), body);
  expect([answer.status, answer.body]).toEqual([400, { error }]);
});

const HIDDEN_TEXT =
  'must not be blank, and must not contain control characters or characters that hide or reorder text';
test.each([
  ['a zero-width space', 'pro\u200bd'],
  ['a joiner behind a Latin letter', 'pro\u200dd'],
  ['only a joiner', '\u200d'],
  ['a soft hyphen', 'pro\u00add'],
  ['a word joiner', 'pro\u2060d'],
  ['a byte order mark', '\ufeffprod'],
  ['an override of the direction', 'agent \u202egpj.exe'],
  ['an isolate', 'a\u2066b'],
  ['an Arabic letter mark', 'a\u061cb'],
  ['a line separator', 'a\u2028b'],
])('names with %s are 400 everywhere', async (_what, name) => {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'x' })).body.project.id;
  const { id } = (await owner.call('POST', '/v1/agents', { projectId, name: 'x' })).body.agent;
  const keyId = (await owner.call('POST', '/v1/api-keys', { projectId, agentId: id, name: 'x' })).body.key.id;
  for (const [method, path, body] of [
    ['POST', '/v1/projects', {}],
    ['PATCH', `/v1/projects/${projectId}`, {}],
    ['POST', '/v1/agents', { projectId }],
    ['PATCH', `/v1/agents/${id}`, {}],
    ['POST', '/v1/api-keys', { projectId, agentId: id }],
    ['PATCH', `/v1/api-keys/${keyId}`, {}],
    ['POST', '/v1/management-tokens', { role: 'viewer' }],
  ] as const) {
    const answer = await owner.call(method, path, { ...body, name });
    expect([path, answer.status, answer.body]).toEqual([path, 400, { error: `name ${HIDDEN_TEXT}` }]);
  }
  const renamed = await owner.call('PATCH', '/v1/me', { name });
  expect([renamed.status, renamed.body.error]).toEqual([
    400,
    'name must not be blank, and must not contain web addresses or control characters',
  ]);
});

test.each(['SEO-Bot №7 (β) 🚀', '👩\u200d💻 on call', 'می\u200cخواهم', 'क्\u200dष'])(
  'the name %s is accepted',
  async (name) => {
    const owner = await plane().createMember('owner');
    const { project } = (await owner.call('POST', '/v1/projects', { name })).body;
    expect(project.name).toBe(name);
  },
);

test('a slug spells a name without its accents', async () => {
  const owner = await plane().createMember('owner');
  for (const [name, slug] of [
    ['Müller Café', 'muller-cafe'],
    ['Straße 7', 'strasse-7'],
    ['Žluťoučký kůň', 'zlutoucky-kun'],
    ['日本', 'project'],
  ]) {
    expect((await owner.call('POST', '/v1/projects', { name })).body.project.slug).toBe(slug);
  }
});

test.each([
  ['JSON', '{"a":1}', 'application/json'],
  ['broken JSON', '{"a":', 'application/json'],
  ['text', 'hello', 'text/plain'],
  ['nothing', undefined, undefined],
])('an unknown route is 404, whatever the body: %s', async (_name, body, type) => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const response = await fetch(`${plane().url}/v1/nowhere?x=1`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': type! } }),
    });
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: `no such endpoint: ${method} /v1/nowhere` },
    ]);
  }
});

test('an unknown query parameter is 400 on every route, by its name', async () => {
  const owner = await plane().createMember('owner');
  for (const { method, url } of plane().service.app.routeTable) {
    const path = url.replace(/:[A-Za-z]+/g, '01890000-0000-7000-8000-000000000000');
    const { status, body } = await owner.call(method, `${path}?surprise=1`);
    const refusal =
      /^(?:unknown query parameter ["']surprise["']|.* is required|the body is empty.*|a call with the session.*)$/;
    expect([method, url, status, body.error_description ?? body.error]).toEqual([
      method,
      url,
      expect.any(Number),
      expect.stringMatching(refusal),
    ]);
    expect([method, url, status]).toEqual([method, url, status === 403 ? 403 : 400]);
  }
  const listed = await owner.call('GET', '/v1/projects?limt=1');
  expect([listed.status, listed.body]).toEqual([400, { error: 'unknown query parameter "limt"' }]);
});

test.each(['password1234', 'qwertyuiop', 'Welcome2024!'])(
  'the password %s is refused wherever one is set',
  async (password) => {
    const email = `${randomBytes(5).toString('hex')}@example.com`;
    const signup = (given: string) =>
      plane().call('POST', '/v1/auth/signup', { body: { email, password: given, name: 'Ada', orgName: 'Own' } });
    const refusal = { status: 400, body: { error: expect.stringContaining('too common') } };
    expect(await signup(password)).toMatchObject(refusal);
    const { token } = (await signup('correct horse battery')).body;
    const change = { currentPassword: 'correct horse battery', newPassword: password };
    expect(await plane().call('POST', '/v1/auth/change-password', { token, body: change })).toMatchObject(refusal);
    await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
    const reset = { token: (await plane().waitForMail(email, 'new password')).token, password };
    expect(await plane().call('POST', '/v1/auth/reset-password', { body: reset })).toMatchObject(refusal);
    const owner = await plane().createMember('owner');
    const guest = `${randomBytes(5).toString('hex')}@example.com`;
    await owner.call('POST', '/v1/members', { email: guest, role: 'viewer' });
    const accept = { token: (await plane().waitForMail(guest, 'Invitation')).token, name: 'Guest', password };
    expect(await plane().call('POST', '/v1/invitations/accept', { body: accept })).toMatchObject(refusal);
  },
);

test('while the database is away everything that needs it is 503 with Retry-After, and works again when it is back', async () => {
  const database = await createTestDatabase();
  const { port } = new URL(database.url.reveal());
  let proxy = await TcpProxy.start(Number(port), await freePort());
  const address = new URL(database.url.reveal());
  address.port = String(proxy.port);
  const away = await startControlPlane({ DATABASE_URL: address.href }, database);
  const member = await away.createMember('owner');
  const ask = () => member.call('GET', '/v1/projects');
  expect((await ask()).status).toBe(200);
  const listening = proxy.port;
  await proxy.stop();
  const login = { email: 'a@example.com', password: 'correct horse battery' };
  for (const answer of [await ask(), await ask(), await away.call('POST', '/v1/auth/login', { body: login })]) {
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: 'the database is unavailable. Retry in a few seconds.' },
    ]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  proxy = await TcpProxy.start(Number(port), listening);
  await waitUntil('the database is reached again', async () => (await ask()).status === 200);
  await away.stop();
  await proxy.stop();
  await database.drop();
});

test('a database that accepts no connections counts as unavailable', async () => {
  const database = await createTestDatabase();
  const away = await startControlPlane({}, database);
  const member = await away.createMember('owner');
  const name = new URL(database.url.reveal()).pathname.slice(1);
  const server = plane().database.sql;
  await server`alter database ${server(name)} allow_connections false`;
  await server`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  await waitUntil('nobody is connected', async () => {
    const rows = await server`
      select 1 from pg_stat_activity where datname = ${name} and backend_type = 'client backend'`;
    return rows.length === 0;
  });
  for (let i = 0; i < 3; i++) {
    const answer = await member.call('GET', '/v1/projects');
    expect([answer.status, answer.body]).toEqual([
      503,
      { error: 'the database is unavailable. Retry in a few seconds.' },
    ]);
  }
  await server`alter database ${server(name)} allow_connections true`;
  await waitUntil('it takes some', async () => (await member.call('GET', '/v1/projects')).status === 200);
  await away.stop();
  await database.drop();
});

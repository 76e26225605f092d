/** Sessions, and what concerns every endpoint, sentence by sentence, from outside (docs/contract.md#management-api). */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { inviteMember, newEmail, PASSWORD, signUp, TIMESTAMP, UUID } from './api-user.js';

const plane = useControlPlane();
const post = (path: string, body?: unknown, token: string | null = null) => plane().call('POST', path, { body, token });
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
const DAY_S = 86_400;

test('signup creates a user, an organization and a session token together', async () => {
  const email = newEmail();
  const { status, body } = await post('/v1/auth/signup', {
    email,
    password: PASSWORD,
    name: 'Ada',
    orgName: 'Engines',
  });
  expect(status).toBe(201);
  expect(body).toEqual({
    token: expect.any(String),
    user: { id: UUID, email, name: 'Ada' },
    org: { id: UUID, name: 'Engines', slug: expect.stringMatching(/^engines/) },
  });
});

test('login returns token, user, orgId and orgs with the role owner', async () => {
  const owner = await signUp(plane(), 'Login Org');
  const { status, body } = await post('/v1/auth/login', { email: owner.email, password: PASSWORD });
  expect(status).toBe(200);
  expect(body).toEqual({
    token: expect.any(String),
    user: { id: owner.userId, email: owner.email, name: 'Tester' },
    orgId: owner.orgId,
    orgs: [{ id: owner.orgId, name: 'Login Org', slug: expect.any(String), role: 'owner' }],
  });
});

test('a JWT expires 7 days after issue; refresh returns a new one', async () => {
  const owner = await signUp(plane());
  const claims = claimsOf(owner.token);
  expect(claims.exp - claims.iat).toBe(7 * DAY_S);
  expect(claims).not.toHaveProperty('role');
  const { status, body } = await post('/v1/auth/refresh', undefined, owner.token);
  expect([status, body]).toEqual([200, { token: expect.any(String) }]);
  expect(body.token).not.toBe(owner.token);
  const renewed = claimsOf(body.token);
  expect(renewed.exp - renewed.iat).toBe(7 * DAY_S);
  expect((await plane().call('GET', '/v1/me', { token: body.token })).status).toBe(200);
});

test('login returns all organizations with a role each; switch-org changes the active one', async () => {
  const host = await signUp(plane(), 'Host');
  const guest = await signUp(plane(), 'Own');
  await post('/v1/auth/verify-email', { token: (await plane().waitForMail(guest.email, 'Confirm')).token });
  await host.post('/v1/members', { email: guest.email, role: 'member' });
  const { token } = await plane().waitForMail(guest.email, 'Invitation');
  await post('/v1/invitations/accept', { token, password: PASSWORD });
  const login = await post('/v1/auth/login', { email: guest.email, password: PASSWORD });
  const roles = Object.fromEntries(login.body.orgs.map((org: { id: string; role: string }) => [org.id, org.role]));
  expect(roles).toEqual({ [guest.orgId]: 'owner', [host.orgId]: 'member' });
  for (const orgId of [guest.orgId, host.orgId]) {
    const switched = await post('/v1/auth/switch-org', { orgId }, login.body.token);
    expect([switched.status, switched.body]).toEqual([200, { token: expect.any(String), orgId }]);
    const me = await plane().call('GET', '/v1/me', { token: switched.body.token });
    expect(me.body).toMatchObject({ orgId, role: roles[orgId] });
  }
});

test('forgot-password is always 200; reset-password and verify-email accept the token of the e-mail', async () => {
  const owner = await signUp(plane());
  for (const email of [owner.email, newEmail()]) {
    const answer = await post('/v1/auth/forgot-password', { email });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
  }
  const verify = await post('/v1/auth/verify-email', {
    token: (await plane().waitForMail(owner.email, 'Confirm')).token,
  });
  expect([verify.status, verify.body]).toEqual([200, { ok: true }]);
  const { token } = await plane().waitForMail(owner.email, 'new password');
  const reset = await post('/v1/auth/reset-password', { token, password: 'another good password' });
  expect([reset.status, reset.body]).toEqual([200, { ok: true }]);
  expect((await post('/v1/auth/login', { email: owner.email, password: 'another good password' })).status).toBe(200);
  expect((await owner.get('/v1/me')).status).toBe(401);
});

test('every endpoint but auth, status and the contract is 401 without a valid token', async () => {
  const open = plane()
    .service.app.routeTable.filter((route) => route.access === 'public')
    .map((route) => `${route.method} ${route.url}`);
  expect(open.filter((name) => !name.startsWith('POST /v1/auth/')).sort()).toEqual(
    [
      'GET /v1/config',
      'GET /v1/openapi.json',
      'GET /v1/status',
      'POST /v1/invitations/accept',
      'POST /v1/invitations/lookup',
      'POST /v1/session',
      'POST /v1/sso/link',
      'POST /v1/sso/start',
      'POST /v1/token',
    ].filter((name) => open.includes(name)),
  );
  for (const route of plane().service.app.routeTable) {
    if (route.access === 'public') continue;
    const path = route.url.replace(/:[A-Za-z]+/g, '01890000-0000-7000-8000-000000000000');
    for (const token of [null, 'nonsense', 'a.b.c']) {
      const answer = await plane().call(route.method, path, { token });
      const seen = { route: `${route.method} ${route.url}`, status: answer.status, body: answer.body };
      expect(seen).toEqual({ ...seen, status: 401, body: { error: expect.any(String) } });
    }
  }
});

test('a member and a viewer receive 403 with a body { error }; reading is open to both', async () => {
  const owner = await signUp(plane());
  for (const role of ['member', 'viewer'] as const) {
    const caller = await inviteMember(plane(), owner, role);
    const answer = await caller.post('/v1/projects', { name: 'x' });
    expect([answer.status, answer.body]).toEqual([403, { error: expect.stringContaining(role) }]);
    expect((await caller.get('/v1/projects')).status).toBe(200);
  }
});

test('identifiers are UUID strings, timestamps ISO 8601 UTC with milliseconds', async () => {
  const owner = await signUp(plane());
  const { body } = await owner.get('/v1/projects');
  expect(body.projects).toMatchObject([{ id: UUID, name: 'Default', slug: 'default', createdAt: TIMESTAMP }]);
});

test('pagination: limit defaults to 50 and is at most 100, offset defaults to 0; lists return a total', async () => {
  const owner = await signUp(plane());
  await Promise.all(Array.from({ length: 60 }, (_, n) => owner.post('/v1/projects', { name: `P ${n}` })));
  const { body } = await owner.get('/v1/projects');
  expect([body.projects.length, body.total, body.limit, body.offset]).toEqual([50, 61, 50, 0]);
  const rest = await owner.get('/v1/projects?offset=50');
  const ids = [...body.projects, ...rest.body.projects].map((project: { id: string }) => project.id);
  expect(new Set(ids).size).toBe(61);
  expect((await owner.get('/v1/projects?limit=100')).body.projects).toHaveLength(61);
  expect((await owner.get('/v1/projects?limit=101')).status).toBe(400);
});

test.each([
  ['400 validation error', 'POST', '/v1/projects', {}, 400],
  ['404 resource not found', 'GET', '/v1/projects/01890000-0000-7000-8000-000000000000', undefined, 404],
  ['404 unknown path', 'GET', '/v1/unknown', undefined, 404],
])('%s has the body { error: <message> }', async (_name, method, path, body, status) => {
  const owner = await signUp(plane());
  const answer = await plane().call(method, path, { token: owner.token, body });
  expect([answer.status, answer.body]).toEqual([status, { error: expect.any(String) }]);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
});

test('409 conflict: an e-mail that has an account already', async () => {
  const owner = await signUp(plane());
  const body = { email: owner.email, password: PASSWORD, name: 'x', orgName: 'x' };
  const answer = await post('/v1/auth/signup', body);
  expect([answer.status, answer.body]).toEqual([409, { error: expect.any(String) }]);
});

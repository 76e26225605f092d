/** The session of a browser: a cookie that scripts cannot read, good only for calls of the service's own pages. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane({ PUBLIC_URL: 'http://gateway.example:8080/sub' });
const PASSWORD = 'correct horse battery';
const sql = () => plane().database.sql;
const SAME_ORIGIN_HEADERS = { 'sec-fetch-site': 'same-origin' };
type Headers = Record<string, string>;

async function signup(at = plane()) {
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Engines' };
  const answer = await at.call('POST', '/v1/auth/signup', { body });
  return { email, token: answer.body.token as string, user: answer.body.user, org: answer.body.org };
}

async function logInBrowser(email: string, at = plane()) {
  const answer = await at.call('POST', '/v1/session', {
    body: { email, password: PASSWORD },
    headers: SAME_ORIGIN_HEADERS,
  });
  expect(answer.status).toBe(200);
  const setCookie = answer.headers.get('set-cookie')!;
  return { body: answer.body, setCookie, cookie: setCookie.split(';')[0]! };
}

const get = (cookie: string, path = '/v1/me') => plane().call('GET', path, { headers: { cookie } });
const post = (cookie: string, headers: Headers, path = '/v1/projects') =>
  plane().call('POST', path, { headers: { cookie, ...headers }, body: { name: 'by cookie' } });

test('POST /v1/session: returns the user and sets an HttpOnly, SameSite cookie', async () => {
  const { email, user, org } = await signup();
  const { body, setCookie, cookie } = await logInBrowser(email);
  expect(body).toEqual({
    user: { ...user, emailVerified: false },
    orgId: org.id,
    role: 'owner',
    orgs: [{ ...org, role: 'owner' }],
  });
  expect(setCookie).toMatch(/^acg_session=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await get(cookie)).body).toEqual({ ...body, token: null });
  const [row] = await sql()`select secret_hash from sessions where user_id = ${user.id} and kind = 'browser'`;
  expect(Buffer.from(row!.secret_hash).toString('base64url')).not.toBe(cookie.split('=')[1]);
  for (const [given, status] of [
    [{ email, password: 'wrong' }, 401],
    [{ email }, 400],
    [{ password: PASSWORD }, 400],
    [{}, 401],
    [undefined, 401],
  ] as const) {
    const answer = await plane().call('POST', '/v1/session', { body: given, headers: SAME_ORIGIN_HEADERS });
    expect([given, answer.status, answer.headers.get('set-cookie')]).toEqual([given, status, null]);
  }
});

test('over https the cookie is Secure and bound to the host, and the cookie name of plain http is ignored', async () => {
  const https = await startControlPlane({ PUBLIC_URL: 'https://gateway.example' }, plane().database);
  const { setCookie, cookie } = await logInBrowser((await signup()).email, https);
  expect(setCookie).toMatch(/^__Host-acg_session=\S+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
  const status = async (of: string) => (await https.call('GET', '/v1/me', { headers: { cookie: of } })).status;
  expect([await status(cookie), await status(cookie.replace('__Host-', ''))]).toEqual([200, 401]);
  await https.stop();
});

test('a bearer token is exchanged for a cookie and revoked', async () => {
  const { token, user } = await signup();
  const renewed = (await plane().call('POST', '/v1/auth/refresh', { token })).body.token;
  const answer = await plane().call('POST', '/v1/session', { token: renewed, headers: SAME_ORIGIN_HEADERS });
  expect([answer.status, answer.body.user.id]).toEqual([200, user.id]);
  expect((await plane().call('GET', '/v1/me', { token: renewed })).status).toBe(401);
  expect((await plane().call('POST', '/v1/auth/refresh', { token: renewed })).status).toBe(401);
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  expect((await get(cookie)).status).toBe(200);
  expect((await get(cookie, '/v1/sessions')).body.sessions).toMatchObject([{ kind: 'browser', current: true }]);
});

test.each<[string, Headers, number]>([
  ['a page of this service', { 'sec-fetch-site': 'same-origin' }, 201],
  ['another port of this host', { 'sec-fetch-site': 'same-site', origin: 'http://gateway.example:8080' }, 403],
  ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['nobody', { 'sec-fetch-site': 'none' }, 403],
  ['an old browser on a page of this service', { origin: 'http://gateway.example:8080' }, 201],
  ['an old browser on another port', { origin: 'http://gateway.example:8081' }, 403],
  ['an old browser on the default port', { origin: 'http://gateway.example' }, 403],
  ['an old browser over https', { origin: 'https://gateway.example:8080' }, 403],
  ['an opaque origin', { origin: 'null' }, 403],
  ['nothing that says from where', {}, 403],
])('a write with the cookie, sent by %s', async (_name, headers, status) => {
  const { email } = await signup();
  const { cookie } = await logInBrowser(email);
  expect((await post(cookie, headers)).status).toBe(status);
  const login = { email, password: PASSWORD };
  const again = await plane().call('POST', '/v1/session', { headers, body: login });
  expect([again.status, again.headers.has('set-cookie')]).toEqual(status === 201 ? [200, true] : [403, false]);
  expect((await get(cookie)).status).toBe(200);
});

test('an Authorization header overrides the cookie, even with an invalid value', async () => {
  const { email } = await signup();
  const other = await signup();
  const { cookie } = await logInBrowser(email);
  const asked = await plane().call('GET', '/v1/me', { token: other.token, headers: { cookie } });
  expect(asked.body.user.id).toBe(other.user.id);
  for (const authorization of ['Bearer nonsense', 'Basic xyz', 'Bearer']) {
    expect((await plane().call('GET', '/v1/me', { headers: { cookie, authorization } })).status).toBe(401);
  }
});

test('PATCH /v1/session: switches the organization of the cookie; a foreign one is 404', async () => {
  const { email, user } = await signup();
  const { cookie } = await logInBrowser(email);
  const other = await plane().createMember('owner');
  const move = () =>
    plane().call('PATCH', '/v1/session', { body: { orgId: other.orgId }, headers: { cookie, ...SAME_ORIGIN_HEADERS } });
  expect((await move()).status).toBe(404);
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${user.id}, 'viewer')`;
  expect(await move()).toMatchObject({ status: 200, body: { orgId: other.orgId, role: 'viewer' } });
  expect((await get(cookie)).body).toMatchObject({ orgId: other.orgId, role: 'viewer' });
  expect((await post(cookie, SAME_ORIGIN_HEADERS)).status).toBe(403);
  await sql()`delete from memberships where user_id = ${user.id} and org_id = ${other.orgId}`;
  expect((await get(cookie)).status).toBe(401);
});

test('DELETE /v1/session: revokes the session and clears the cookie', async () => {
  const { email } = await signup();
  const { cookie } = await logInBrowser(email);
  const answer = await plane().call('DELETE', '/v1/session', { headers: { cookie, ...SAME_ORIGIN_HEADERS } });
  expect([answer.status, answer.body]).toEqual([200, { deleted: true }]);
  expect(answer.headers.get('set-cookie')).toMatch(/^acg_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await get(cookie)).status).toBe(401);
});

test.each([
  ['idle for more than 12 hours', `last_seen_at = now() - interval '12 hours 1 second'`, 401],
  ['idle for almost 12 hours', `last_seen_at = now() - interval '11 hours 59 minutes'`, 200],
  ['older than 7 days', `expires_at = now()`, 401],
])('a browser session %s', async (_name, change, status) => {
  const { email, user } = await signup();
  const { cookie } = await logInBrowser(email);
  await sql().unsafe(`update sessions set ${change} where user_id = $1 and kind = 'browser'`, [user.id]);
  expect((await get(cookie)).status).toBe(status);
  const [row] = await sql()<{ idle: boolean }[]>`
    select last_seen_at < now() - interval '1 hour' as idle from sessions where user_id = ${user.id} and kind = 'browser'`;
  expect(row!.idle).toBe(status === 401 && change.includes('last_seen')); // use is written down
});

test('use is written down at most once a minute', async () => {
  const { email, user } = await signup();
  const { cookie } = await logInBrowser(email);
  const seen = async () =>
    (
      await sql()`select last_seen_at, xmin::text as version from sessions where user_id = ${user.id} and kind = 'browser'`
    )[0];
  const before = await seen();
  for (let n = 0; n < 3; n++) await get(cookie);
  expect(await seen()).toEqual(before);
  // Of two sessions that have been idle, only the one that is used.
  await logInBrowser(email);
  await sql()`update sessions set last_seen_at = now() - interval '60 seconds' where user_id = ${user.id}`;
  await get(cookie);
  const used = await sql()`
    select kind from sessions where user_id = ${user.id} and last_seen_at > now() - interval '1 minute'`;
  expect(used).toEqual([{ kind: 'browser' }]);
});

test.each(['', 'acg_session=', 'acg_session=x', `acg_session=${'A'.repeat(43)}`, 'other=1', 'acg_session', ';;=;'])(
  'the cookie header %j is nobody',
  async (cookie) => {
    expect((await get(cookie)).status).toBe(401);
  },
);

test('two browsers of one user are two sessions; a cookie is no bearer token', async () => {
  const { email } = await signup();
  const [one, two] = [await logInBrowser(email), await logInBrowser(email)];
  await plane().call('DELETE', '/v1/session', { headers: { cookie: one.cookie, ...SAME_ORIGIN_HEADERS } });
  expect([(await get(one.cookie)).status, (await get(two.cookie)).status]).toEqual([401, 200]);
  expect((await plane().call('GET', '/v1/me', { token: two.cookie.split('=')[1]! })).status).toBe(401);
});

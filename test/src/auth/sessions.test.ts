/** Sessions end by logout, by revocation, by a new password, and token by token through refresh. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { SessionJwts } from '@acg/controlplane/auth/sessions/session-jwt';
import { createSigner } from 'fast-jwt';
import { expect, test } from 'vitest';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const PASSWORD = 'correct horse battery';
const sql = () => plane().database.sql;

async function signup() {
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Engines' };
  const answer = await plane().call('POST', '/v1/auth/signup', { body });
  return { email, token: answer.body.token as string, user: answer.body.user, org: answer.body.org };
}

async function login(email: string, password = PASSWORD): Promise<string> {
  const answer = await plane().call('POST', '/v1/auth/login', { body: { email, password } });
  expect(answer.status).toBe(200);
  return answer.body.token;
}

const call = (token: string, method: string, path: string, body?: unknown) =>
  plane().call(method, path, { token, body });
const me = async (token: string) => (await call(token, 'GET', '/v1/me')).status;
const refresh = (token: string) => call(token, 'POST', '/v1/auth/refresh');
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
/** A token as it was signed before sessions were rows. */
const oldToken = (userId: string, orgId: string) =>
  createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), algorithm: 'HS256', expiresIn: 60_000 })({
    sub: userId,
    org: orgId,
    ver: 1,
    jti: randomUUID(),
  });

test('logout: revokes the session and all its tokens; other sessions stay', async () => {
  const { email, token } = await signup();
  const other = await login(email);
  const renewed = (await refresh(token)).body.token;
  expect((await call(renewed, 'POST', '/v1/auth/logout')).body).toEqual({ ok: true });
  for (const ended of [token, renewed]) {
    expect([await me(ended), (await refresh(ended)).status]).toEqual([401, 401]);
  }
  expect(await me(other)).toBe(200);
});

test('sessions: listed newest first with their origin; other users can neither see nor revoke them', async () => {
  const ada = await signup();
  const second = await login(ada.email);
  const { body } = await call(second, 'GET', '/v1/sessions');
  expect(body).toMatchObject({ total: 2, limit: 50, offset: 0 });
  expect(body.sessions.map((session: { current: boolean }) => session.current)).toEqual([true, false]);
  expect(body.sessions[1]).toEqual({
    id: claimsOf(ada.token).sid,
    kind: 'api',
    current: false,
    orgId: ada.org.id,
    roleMax: null,
    ip: '127.0.0.1',
    userAgent: expect.any(String),
    createdAt: expect.stringMatching(/Z$/),
    lastSeenAt: expect.stringMatching(/Z$/),
    expiresAt: expect.stringMatching(/Z$/),
  });
  const eve = await signup();
  const id = claimsOf(ada.token).sid;
  expect((await call(eve.token, 'DELETE', `/v1/sessions/${id}`)).status).toBe(404);
  expect((await call(eve.token, 'DELETE', '/v1/sessions')).status).toBe(200);
  expect(await me(ada.token)).toBe(200);
  expect((await call(second, 'DELETE', `/v1/sessions/${id}`)).body).toEqual({ deleted: true });
  expect([await me(ada.token), (await refresh(ada.token)).status, await me(second)]).toEqual([401, 401, 200]);
  expect((await call(second, 'DELETE', `/v1/sessions/${id}`)).status).toBe(404);
});

test('sessions: revoking all others works at once, also for tokens without a session row', async () => {
  const { email, token, user, org } = await signup();
  const old = oldToken(user.id, org.id);
  const others = [await login(email), await login(email)];
  expect(await me(old)).toBe(200);
  expect((await call(token, 'DELETE', '/v1/sessions')).body).toEqual({ deleted: true });
  for (const ended of [...others, old]) expect([await me(ended), (await refresh(ended)).status]).toEqual([401, 401]);
  expect(await me(token)).toBe(200);
  expect((await call(token, 'GET', '/v1/sessions')).body.total).toBe(1);
});

test('a token without a session row is valid by its version, and a refresh gives it a row', async () => {
  const { user, org } = await signup();
  const old = oldToken(user.id, org.id);
  const renewed = (await refresh(old)).body.token;
  expect(claimsOf(renewed)).toMatchObject({ sid: expect.any(String), gen: 1 });
  expect([await me(old), await me(renewed)]).toEqual([200, 200]);
  expect((await call(old, 'POST', '/v1/auth/logout')).status).toBe(200);
  expect([await me(old), await me(renewed)]).toEqual([401, 401]); // it cannot be revoked alone
});

test('a token names one organization: without a membership there its user has no rights', async () => {
  const { token, user, org } = await signup();
  const { token: strangers, user: stranger, org: other } = await signup();
  await sql()`
    insert into memberships (org_id, user_id, role)
    values (${other.id}, ${user.id}, 'viewer'), (${org.id}, ${stranger.id}, 'owner')`;
  const old = oldToken(user.id, org.id);
  expect([await me(token), await me(old), await me(oldToken(user.id, other.id))]).toEqual([200, 200, 200]);
  await sql()`delete from memberships where org_id = ${org.id} and user_id = ${user.id}`;
  for (const ended of [token, old]) expect([await me(ended), (await refresh(ended)).status]).toEqual([401, 401]);
  expect(await me(strangers)).toBe(200);
});

test('refresh: the old token stays valid for a minute and gets the newest token once more', async () => {
  const { token } = await signup();
  const second = (await refresh(token)).body.token;
  expect(claimsOf(second)).toMatchObject({ sid: claimsOf(token).sid, gen: claimsOf(token).gen + 1 });
  const [session] = await sql()`
    select extract(epoch from previous_until - last_seen_at)::int as "overlapS" from sessions where id = ${claimsOf(token).sid}`;
  expect(session).toEqual({ overlapS: 60 });
  expect(await me(token)).toBe(200);
  const tab = (await refresh(token)).body.token; // another tab with the previous token
  expect(claimsOf(tab).gen).toBe(claimsOf(second).gen);
  expect([await me(token), await me(second), await me(tab)]).toEqual([200, 200, 200]);
});

const overlapEnds = (token: string) => sql()`
  update sessions set previous_until = now() where id = ${claimsOf(token).sid}`;
const ends = async (userId: string) =>
  (await sql()`select 1 from audit_entries where action = 'session.end_reused' and actor_user_id = ${userId}`).length;

test.each(['a refresh', 'any call'])(
  'refresh: a thief who refreshed first loses the session when the owner comes back with %s',
  async (how) => {
    const { token, user } = await signup();
    const thief = (await refresh(token)).body.token;
    await overlapEnds(token);
    expect(how === 'a refresh' ? (await refresh(token)).status : await me(token)).toBe(401);
    expect([await me(thief), (await refresh(thief)).status]).toEqual([401, 401]);
    expect(await ends(user.id)).toBe(1);
  },
);

test('refresh: two generations on, the minute does not matter', async () => {
  const { token } = await signup();
  const second = (await refresh(token)).body.token;
  const third = (await refresh(second)).body.token;
  expect([await me(second), await me(third)]).toEqual([200, 200]);
  expect([await me(token), await me(third)]).toEqual([401, 401]);
});

test('refresh: within the minute, the older token from another network is rejected and the session is revoked', async () => {
  const { token, user } = await signup();
  const mine = (await refresh(token)).body.token;
  await sql()`update sessions set refreshed_from = '203.0.113.9' where id = ${claimsOf(token).sid}`;
  expect(await me(token)).toBe(200); // a call that was on its way
  expect((await refresh(token)).status).toBe(401);
  expect([await me(mine), await me(token), await ends(user.id)]).toEqual([401, 401, 1]);
});

test('refresh: a session that was refreshed before its network was recorded keeps its overlap', async () => {
  const { token } = await signup();
  await refresh(token);
  await sql()`update sessions set refreshed_from = null where id = ${claimsOf(token).sid}`;
  expect((await refresh(token)).status).toBe(200);
});

test('cookie: a thief who turned the token into a cookie loses it when the owner returns', async () => {
  const { token, user } = await signup();
  const headers = { 'sec-fetch-site': 'same-origin' };
  const exchanged = await plane().call('POST', '/v1/session', { token, body: {}, headers });
  const cookie = exchanged.headers.get('set-cookie')!.split(';')[0]!;
  const seen = async () => (await plane().call('GET', '/v1/me', { headers: { cookie } })).status;
  expect([await me(token), await seen()]).toEqual([401, 200]); // in flight: nothing is revoked
  await overlapEnds(token);
  expect([await me(token), await seen(), await ends(user.id)]).toEqual([401, 401, 1]);
});

test('refresh: a session expires 30 days after the login, regardless of refreshes', async () => {
  const { token } = await signup();
  const { sid } = claimsOf(token);
  const age = (days: number) => sql()`
    update sessions set created_at = now() - make_interval(days => ${days}) where id = ${sid}`;
  await age(29);
  const next = (await refresh(token)).body.token;
  const [row] = await sql()<{ leftH: number }[]>`
    select round(extract(epoch from expires_at - now()) / 3600)::int as "leftH" from sessions where id = ${sid}`;
  expect([await me(next), row!.leftH]).toEqual([200, 24]);
  await age(30);
  expect([await me(next), (await refresh(next)).status]).toEqual([401, 401]);
});

test('refresh: the minute is a minute', async () => {
  const { token } = await signup();
  await refresh(token);
  const [row] = await sql()<{ leftS: number }[]>`
    select extract(epoch from previous_until - last_seen_at)::float8 as "leftS" from sessions
     where id = ${claimsOf(token).sid}`;
  expect(row!.leftS).toBe(60);
});

test('refresh: two concurrent tabs end with one token generation', async () => {
  const { token } = await signup();
  const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(token)));
  expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
  expect(new Set(answers.map((answer) => claimsOf(answer.body.token).gen))).toEqual(new Set([2]));
  for (const answer of answers) expect(await me(answer.body.token)).toBe(200);
});

test.each([
  ['another session', (claims: object) => ({ ...claims, sid: randomUUID() })],
  ['a generation to come', (claims: { gen: number }) => ({ ...claims, gen: claims.gen + 1 })],
  ['no generation', (claims: object) => ({ ...claims, gen: undefined })],
  ['a session that is no id', (claims: object) => ({ ...claims, sid: 'x' })],
  ['a user that is no id', (claims: object) => ({ ...claims, sub: 'x' })],
  ['an organization that is no id', (claims: object) => ({ ...claims, org: 'x' })],
  ['a version that is no number', (claims: object) => ({ ...claims, ver: 'x' })],
])('a token that names %s is 401', async (_name, change) => {
  const { token } = await signup();
  const sign = createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), algorithm: 'HS256' });
  const forged = sign(change(claimsOf(token)) as never);
  expect([await me(forged), (await refresh(forged)).status]).toEqual([401, 401]);
});

test('a token that names the session of another user is 401', async () => {
  const [ada, eve] = [await signup(), await signup()];
  const sign = createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), algorithm: 'HS256' });
  const { sid } = claimsOf(eve.token);
  for (const gen of [claimsOf(ada.token).gen, 0]) {
    const forged = sign({ ...claimsOf(ada.token), sid, gen });
    expect([await me(forged), (await refresh(forged)).status]).toEqual([401, 401]);
  }
  expect([await me(ada.token), await me(eve.token)]).toEqual([200, 200]);
});

test('change-password: requires the current one, revokes all other sessions and the pending e-mails', async () => {
  const { email, token } = await signup();
  const other = await login(email);
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const mail = await plane().waitForMail(email, 'new password');
  const change = (currentPassword: string, newPassword = 'a whole new password') =>
    call(token, 'POST', '/v1/auth/change-password', { currentPassword, newPassword });
  expect(await change('not the password')).toMatchObject({
    status: 403,
    body: { error: expect.stringContaining('currentPassword') },
  });
  expect((await change(PASSWORD, 'short')).status).toBe(400);
  expect((await change(PASSWORD)).body).toEqual({ ok: true });
  expect([await me(token), await me(other), (await refresh(other)).status]).toEqual([200, 401, 401]);
  expect((await plane().call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).status).toBe(401);
  await login(email, 'a whole new password');
  const reset = { token: mail.token, password: 'by the old mail' };
  expect((await plane().call('POST', '/v1/auth/reset-password', { body: reset })).status).toBe(400);
  const { body } = await call(token, 'GET', '/v1/audit?action=user.password_change');
  expect(body.entries).toMatchObject([{ changes: { password: ['[secret]', '[secret]'] } }]);
});

test('change-password: wrong guesses by a stolen session count as failed logins', async () => {
  const { token } = await signup();
  const guess = (n: number) =>
    call(token, 'POST', '/v1/auth/change-password', {
      currentPassword: `guess ${n}`,
      newPassword: 'the thief was here',
    });
  for (let n = 0; n < 10; n++) expect((await guess(n)).status).toBe(403);
  expect((await guess(10)).status).toBe(429);
});

test('reset: revokes all sessions of every kind', async () => {
  const { email, token, user, org } = await signup();
  const tokens = [token, await login(email), oldToken(user.id, org.id)];
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const mail = await plane().waitForMail(email, 'new password');
  const reset = { token: mail.token, password: 'a whole new password' };
  expect((await plane().call('POST', '/v1/auth/reset-password', { body: reset })).status).toBe(200);
  for (const ended of tokens) expect([await me(ended), (await refresh(ended)).status]).toEqual([401, 401]);
  expect((await sql()`select 1 from sessions where user_id = ${user.id}`).length).toBe(0);
});

test('a login that was under way while the password was reset opens no session', async () => {
  const { user, org } = await signup();
  const { insertSessionIfVersionCurrent: insertSession } = await import(
    '@acg/controlplane/auth/sessions/session-store'
  );
  await sql()`update users set session_version = session_version + 1 where id = ${user.id}`;
  const session = { id: randomUUID(), userId: user.id, orgId: org.id, version: 1, kind: 'api' as const };
  const rest = {
    secretHash: null,
    roleMax: null,
    authenticated: true,
    factorVerified: false,
    sso: false,
    ip: '',
    userAgent: '',
  };
  expect(await sql().begin((tx) => insertSession(tx, { ...session, ...rest }))).toBe(false);
});

test('sessions: a user has at most 100; the least recently seen one is revoked', async () => {
  const { token, user, org } = await signup();
  await sql()`
    insert into sessions (id, user_id, org_id, kind, ip, user_agent, last_seen_at, expires_at)
    select gen_random_uuid(), ${user.id}, ${org.id}, 'api', '', '', now() - make_interval(hours => n), now() + interval '1 day'
      from generate_series(1, 99) as n`;
  const second = claimsOf((await call(token, 'GET', '/v1/me')) && (await login(user.email))).sid;
  const rows = await sql()<{ id: string; ageH: number }[]>`
    select id, round(extract(epoch from now() - last_seen_at) / 3600)::int as "ageH" from sessions where user_id = ${user.id}`;
  expect(rows).toHaveLength(100);
  expect(rows.map((row) => row.id)).toEqual(expect.arrayContaining([claimsOf(token).sid, second]));
  expect(Math.max(...rows.map((row) => row.ageH))).toBe(98);
});

test('sessions: what can neither be used nor refreshed any more is pruned', async () => {
  const { token, user } = await signup();
  const { pruneSessions } = await import('@acg/controlplane/auth/sessions/session-store');
  await sql()`update sessions set expires_at = now() - interval '6 days' where user_id = ${user.id}`;
  await pruneSessions(sql());
  expect((await call(token, 'GET', '/v1/sessions')).body.total).toBe(1);
  await sql()`update sessions set expires_at = now() - interval '8 days' where user_id = ${user.id}`;
  await pruneSessions(sql());
  expect(await me(token)).toBe(401);
});

test('sessions: an expired one is not listed while its row exists', async () => {
  const { token, user, email } = await signup();
  const total = async () => (await call(token, 'GET', '/v1/sessions')).body.total;
  await login(email);
  const headers = { 'sec-fetch-site': 'same-origin' };
  await plane().call('POST', '/v1/session', { body: { email, password: PASSWORD }, headers });
  expect(await total()).toBe(3);
  const ages = (kind: string, ends: string, seen: string) => sql()`
    update sessions set expires_at = now() - ${ends}::text::interval, last_seen_at = now() - ${seen}::text::interval
     where id = (select id from sessions where user_id = ${user.id} and kind = ${kind} order by id desc limit 1)`;
  await ages('browser', '-1 day', '13 hours');
  expect(await total()).toBe(2);
  await ages('browser', '1 second', '0 hours');
  expect(await total()).toBe(2);
  await ages('api', '6 days', '0 hours'); // it may be refreshed
  expect(await total()).toBe(2);
  await ages('api', '8 days', '0 hours');
  expect(await total()).toBe(1);
});

test('JWT_SECRET: rotation: the new secret signs, both are accepted, then the old one is rejected', async () => {
  const [old, fresh] = ['o', 'n'].map((letter) => letter.repeat(40));
  const { token } = await signup();
  const oldPlane = await startControlPlane({ JWT_SECRET: old! }, plane().database);
  const { email } = await signup();
  const before = (await oldPlane.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).body.token;
  const both = await startControlPlane({ JWT_SECRET: `${fresh},${old}` }, plane().database);
  const seen = async (at: typeof both, of: string) => (await at.call('GET', '/v1/me', { token: of })).status;
  expect([await seen(both, before), await seen(both, token)]).toEqual([200, 401]);
  const after = (await both.call('POST', '/v1/auth/refresh', { token: before })).body.token;
  const kid = (of: string) => JSON.parse(Buffer.from(of.split('.')[0]!, 'base64url').toString()).kid;
  expect([kid(before), kid(after)]).toEqual([
    expect.stringMatching(/^[0-9a-f]{8}$/),
    expect.stringMatching(/^[0-9a-f]{8}$/),
  ]);
  expect(kid(after)).not.toBe(kid(before));
  expect([await seen(oldPlane, after), await seen(both, after)]).toEqual([401, 200]);
  const only = await startControlPlane({ JWT_SECRET: fresh! }, plane().database);
  expect([await seen(only, before), await seen(only, after)]).toEqual([401, 200]);
  for (const started of [oldPlane, both, only]) await started.stop();
});

test('JWT_SECRET: a token without kid is checked against each secret', () => {
  const [old, fresh] = ['o'.repeat(40), 'n'.repeat(40)];
  const tokens = new SessionJwts([new Secret(fresh), new Secret(old)]);
  const claims = { sub: randomUUID(), org: randomUUID(), ver: 1 };
  for (const key of [old, fresh]) {
    const token = createSigner({ key, algorithm: 'HS256', expiresIn: 60_000 })(claims);
    expect(tokens.verify(token)).toEqual({
      userId: claims.sub,
      orgId: claims.org,
      version: 1,
      id: null,
      generation: 0,
    });
  }
  const foreign = createSigner({ key: 'x'.repeat(40), algorithm: 'HS256', expiresIn: 60_000 })(claims);
  expect(() => tokens.verify(foreign)).toThrow('invalid or expired');
});

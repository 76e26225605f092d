import { randomBytes } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { FailedLoginAudit } from '@acg/controlplane/auth/passwords/failed-login-audit';
import { PasswordHasher } from '@acg/controlplane/auth/passwords/password-hasher';
import { PasswordVerifier } from '@acg/controlplane/auth/passwords/password-verifier';
import { PasswordResetAndEmailVerification } from '@acg/controlplane/auth/recovery/password-reset-and-email-verification';
import { SessionJwts } from '@acg/controlplane/auth/sessions/session-jwt';
import type { Mail, Mailer } from '@acg/controlplane/mail/mailer';
import { BackgroundTasks } from '@acg/controlplane/ops/background-tasks';
import { Throttle } from '@acg/controlplane/throttling/throttle';
import { createSigner } from 'fast-jwt';
import { expect, test } from 'vitest';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();
const DAY_S = 86_400;

const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const PASSWORD = 'correct horse battery';

async function signup(overrides: Record<string, unknown> = {}, { call } = plane()) {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Analytical Engines', ...overrides };
  const answer = await call('POST', '/v1/auth/signup', { body });
  return { email, answer };
}

const login = (email: string, password = PASSWORD) =>
  plane().call('POST', '/v1/auth/login', { body: { email, password } });

/** A token as the service signs it, with times of our choice. */
function signToken(claims: { sub: string; org: string; ver?: number; iat: number; exp: number }, options = {}) {
  const sign = createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), algorithm: 'HS256', ...options });
  return sign({ ver: 1, ...claims });
}

test('signup: creates user, organization, first project and a working session', async () => {
  const { email, answer } = await signup();
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    token: expect.any(String),
    user: { id: expect.any(String), email, name: 'Ada' },
    org: { id: expect.any(String), name: 'Analytical Engines', slug: expect.stringMatching(/^analytical-engines/) },
  });
  const { token, org } = answer.body;
  const projects = await plane().call('GET', '/v1/projects', { token });
  expect(projects.body.projects).toMatchObject([{ name: 'Default', slug: 'default' }]);
  const me = await plane().call('GET', '/v1/me', { token });
  expect(me.body).toEqual({
    user: { ...answer.body.user, emailVerified: false },
    token: null,
    orgId: org.id,
    role: 'owner',
    orgs: [{ ...org, role: 'owner' }],
  });
});

test('signup: a known e-mail is 409 in any letter case, and no rows are left behind', async () => {
  const { email } = await signup();
  const count = async () => (await plane().database.sql<{ n: number }[]>`select count(*) n from organizations`)[0]!.n;
  const before = await count();
  const again = await signup({ email: email.toUpperCase() });
  expect(again.answer).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('already has an account') },
  });
  expect(await count()).toBe(before);
});

test.each([
  ['email', { email: 'not-an-address' }, 'email must match format "email"'],
  ['short password', { password: '123456789' }, 'password must NOT have fewer than 10 characters'],
  ['long password', { password: 'x'.repeat(257) }, 'password must NOT have more than 256 characters'],
  ['blank name', { name: '   ' }, 'name must not be blank, and must not contain web addresses or control characters'],
  [
    'tab in the name',
    { name: 'a\tb' },
    'name must not be blank, and must not contain web addresses or control characters',
  ],
  ['no orgName', { orgName: undefined }, 'orgName is required'],
  ['unknown field', { plan: 'pro' }, 'unknown field "plan"'],
])('signup: %s is 400 with the reason', async (_name, overrides, error) => {
  const { answer } = await signup(overrides);
  expect(answer).toMatchObject({ status: 400, body: { error } });
});

test('signup: 100 concurrent signups with one organization name all succeed, each with its own slug', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, () => signup({ orgName: 'Crowded' })));
  expect(new Set(answers.map(({ answer }) => answer.status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ answer }) => answer.body.org.slug)).size).toBe(100);
});

test('signup: 20 concurrent signups with one e-mail create one user', async () => {
  const email = newEmail();
  const answers = await Promise.all(Array.from({ length: 20 }, () => signup({ email })));
  const statuses = answers.map(({ answer }) => answer.status).sort();
  expect(statuses).toEqual([201, ...Array(19).fill(409)]);
});

test('login: returns token, user, active organization and all organizations; wrong and unknown credentials get the same response', async () => {
  const { email, answer } = await signup();
  const { user, org } = answer.body;
  const good = await login(email.toUpperCase());
  expect(good.status).toBe(200);
  expect(good.body).toEqual({ token: expect.any(String), user, orgId: org.id, orgs: [{ ...org, role: 'owner' }] });
  const wrong = await login(email, 'wrong password');
  const unknown = await login(newEmail(), 'wrong password');
  expect(wrong).toMatchObject({ status: 401, body: { error: 'wrong e-mail or password' } });
  expect(unknown.status).toBe(wrong.status);
  expect(unknown.body).toEqual(wrong.body);
});

test('login: the password is stored as argon2id, and hashing an unknown user costs as much', async () => {
  const production = await startControlPlane({}, plane().database, undefined, null);
  const { email } = await signup({}, production);
  const [row] = await plane().database.sql`select password_hash from users where email = ${email}`;
  expect(row!.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  await production.stop();
});

test.each(['known', 'unknown'])('login: after 10 failures a %s account gets 429 with Retry-After', async (kind) => {
  const email = kind === 'known' ? (await signup()).email : newEmail();
  for (let n = 0; n < 10; n++) expect((await login(email, `guess number ${n}`)).status).toBe(401);
  for (const password of ['guess number 10', PASSWORD]) {
    const blocked = await login(email, password);
    expect(blocked.status).toBe(429);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(14 * 60);
    expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60);
  }
});

test('login: 40 guesses sent at once learn no more than 10', async () => {
  const { email } = await signup();
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => login(email, `guess number ${n}`)));
  expect(answers.filter((a) => a.status === 401)).toHaveLength(10);
  expect(answers.filter((a) => a.status === 429)).toHaveLength(30);
});

test('login: the limit slides: the account opens when the oldest failure is 15 minutes old', async () => {
  const { email } = await signup();
  for (let n = 0; n < 10; n++) await login(email, `guess number ${n}`);
  expect((await login(email)).status).toBe(429);
  await plane().database.sql`
    update throttle_marks set marked_at = marked_at[1] - interval '14 min' || marked_at[2:]
     where cardinality(marked_at) = 10`;
  expect((await login(email)).status).toBe(429);
  await plane().database.sql`update throttle_marks set marked_at = marked_at[1] - interval '2 min' || marked_at[2:]`;
  expect((await login(email)).status).toBe(200);
  expect((await login(email, 'one more wrong')).status).toBe(401); // a success resets the count
});

test('sessions: expired, forged and foreign tokens are 401', async () => {
  const { answer } = await signup();
  const claims = { sub: answer.body.user.id, org: answer.body.org.id, iat: now(), exp: now() + DAY_S };
  const [head, payload] = answer.body.token.split('.');
  const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}.`;
  const bad: Record<string, string> = {
    'expired a second ago': signToken({ ...claims, iat: now() - 7 * DAY_S, exp: now() - 1 }),
    'alg none': none,
    HS512: signToken(claims, { algorithm: 'HS512' }),
    'other secret': signToken(claims, { key: 'x'.repeat(32) }),
    'no signature': `${head}.${payload}.`,
    'older session version': signToken({ ...claims, ver: 0 }),
    'foreign organization': signToken({ ...claims, org: answer.body.user.id }),
    'org is no uuid': signToken({ ...claims, org: 'x' }),
    'no expiry': createSigner({ key: plane().config.jwtSecrets[0]!.reveal(), noTimestamp: true })({
      ...claims,
      exp: undefined,
    }),
    garbage: 'a.b.c',
  };
  for (const [name, token] of Object.entries(bad)) {
    expect([name, (await plane().call('GET', '/v1/me', { token })).status]).toEqual([name, 401]);
    const refreshed = await plane().call('POST', '/v1/auth/refresh', { token });
    expect([name, refreshed.status]).toEqual([name, name.startsWith('expired') ? 200 : 401]);
  }
  expect((await plane().call('GET', '/v1/me', { token: signToken(claims) })).status).toBe(200);
});

test.each([
  ['fresh', 0, 200],
  ['about to expire', 7 * DAY_S - 5, 200],
  ['expired', 7 * DAY_S + 5, 200],
  ['at the end of the grace window', 14 * DAY_S - 10, 200],
  ['past the grace window', 14 * DAY_S + 2, 401],
])('refresh: a token %s answers by its age', async (_name, ageS, status) => {
  const { answer } = await signup();
  const iat = now() - ageS;
  const token = signToken({ sub: answer.body.user.id, org: answer.body.org.id, iat, exp: iat + 7 * DAY_S });
  const refreshed = await plane().call('POST', '/v1/auth/refresh', { token });
  expect(refreshed.status).toBe(status);
  if (status !== 200) return;
  expect((await plane().call('GET', '/v1/me', { token: refreshed.body.token })).status).toBe(200);
  const { iat: at, exp } = JSON.parse(Buffer.from(refreshed.body.token.split('.')[1], 'base64url').toString());
  expect(exp - at).toBe(7 * DAY_S);
});

test('switch-org: a token for another organization of the user, kept for the next login; a foreign one is 404', async () => {
  const { email, answer } = await signup();
  const other = await plane().createMember('owner');
  const { token, user } = answer.body;
  const switchTo = (orgId: string) => plane().call('POST', '/v1/auth/switch-org', { token, body: { orgId } });
  expect((await switchTo(other.orgId)).status).toBe(404);
  await plane().database.sql`
    insert into memberships (org_id, user_id, role) values (${other.orgId}, ${user.id}, 'viewer')`;
  const switched = await switchTo(other.orgId);
  expect(switched).toMatchObject({ status: 200, body: { orgId: other.orgId } });
  const me = await plane().call('GET', '/v1/me', { token: switched.body.token });
  expect(me.body).toMatchObject({ orgId: other.orgId, role: 'viewer' });
  expect((await login(email)).body.orgId).toBe(other.orgId);
});

test('verify-email: the mailed token works once', async () => {
  const { email, answer } = await signup();
  const { token } = await plane().waitForMail(email, 'Confirm');
  const verify = () => plane().call('POST', '/v1/auth/verify-email', { body: { token } });
  expect(await verify()).toMatchObject({ status: 200, body: { ok: true } });
  expect((await plane().call('GET', '/v1/me', { token: answer.body.token })).body.user.emailVerified).toBe(true);
  expect((await verify()).status).toBe(400);
});

test('verify-email: with a password, only the one of the account confirms it; wrong ones count as failed logins', async () => {
  const { email } = await signup();
  const { token } = await plane().waitForMail(email, 'Confirm');
  const verify = (password: string) => plane().call('POST', '/v1/auth/verify-email', { body: { token, password } });
  expect(await verify('not the password')).toMatchObject({
    status: 401,
    body: { error: expect.stringContaining('not the password') },
  });
  const me = async () => (await plane().call('GET', '/v1/me', { token: (await login(email)).body.token })).body;
  expect((await me()).user.emailVerified).toBe(false);
  for (let n = 0; n < 10; n++) await verify(`guess number ${n}`);
  expect((await verify(PASSWORD)).status).toBe(429);
  await plane().database.sql`delete from throttle_marks`;
  expect(await verify(PASSWORD)).toMatchObject({ status: 200, body: { ok: true } });
  expect((await me()).user.emailVerified).toBe(true);
});

test('verify-email: the e-mail is sent again and the newest works; known, verified and unknown addresses get the same response', async () => {
  const { email } = await signup();
  const resend = (to: string) => plane().call('POST', '/v1/auth/resend-verification', { body: { email: to } });
  const verify = (token: string) => plane().call('POST', '/v1/auth/verify-email', { body: { token } });
  const first = await plane().waitForMail(email, 'Confirm');
  for (const to of [email.toUpperCase(), newEmail()]) {
    const { status, body } = await resend(to);
    expect([to, status, body]).toEqual([to, 200, { ok: true }]);
  }
  const second = await waitUntil('the second mail is there', async () => {
    const mail = await plane().waitForMail(email, 'Confirm');
    return mail.token !== first.token && mail;
  });
  expect((await verify(first.token)).status).toBe(400);
  expect((await verify(second.token)).status).toBe(200);
  expect(await resend(email)).toMatchObject({ status: 200, body: { ok: true } });
});

/** The part that mails tokens, on the same database, and what it has mailed. */
function createRecoveryService() {
  const { sql } = plane().database;
  const mails: Mail[] = [];
  const background = new BackgroundTasks(createLogger('test', 'silent'));
  const mailer = { enqueue: (mail: Mail) => void mails.push(mail) } as unknown as Mailer;
  const [hasher, throttle] = [new PasswordHasher(), new Throttle(sql)];
  const passwords = new PasswordVerifier(hasher, throttle, new FailedLoginAudit(sql, throttle, background));
  const recovery = new PasswordResetAndEmailVerification(
    sql,
    hasher,
    throttle,
    passwords,
    mailer,
    background,
    'http://gw',
    true,
  );
  return { mails, background, recovery };
}

test('verify-email: at most five e-mails an hour go to one address, and none to a verified one', async () => {
  const { sql } = plane().database;
  const { mails, background, recovery } = createRecoveryService();
  const { email } = await signup();
  for (let n = 0; n < 8; n++) {
    recovery.resendVerification(email);
    recovery.resendVerification(newEmail());
    await background.waitUntilIdle();
  }
  expect(mails.map(({ to, purpose }) => [to, purpose])).toEqual(Array(5).fill([email, 'verify']));
  // E-mails of another kind have a separate limit.
  recovery.requestPasswordReset(email);
  await background.waitUntilIdle();
  expect(mails.at(-1)).toMatchObject({ to: email, purpose: 'reset' });
  const verified = await signup();
  await sql`update users set email_verified_at = now() where id = ${verified.answer.body.user.id}`;
  recovery.resendVerification(verified.email);
  await background.waitUntilIdle();
  expect(mails).toHaveLength(6);
});

test('reset: at most five e-mails an hour go to one address, and none to an unknown one', async () => {
  const { mails, background, recovery } = createRecoveryService();
  const { email } = await signup();
  for (let n = 0; n < 8; n++) {
    recovery.requestPasswordReset(n % 2 === 0 ? email : email.toUpperCase());
    recovery.requestPasswordReset(newEmail());
    await background.waitUntilIdle();
  }
  expect(mails.map(({ to, purpose }) => [to, purpose])).toEqual(Array(5).fill([email, 'reset']));
});

test('reset: the e-mailed token sets the password once, revokes all sessions and resets the login limit', async () => {
  const { email, answer } = await signup();
  for (let n = 0; n < 10; n++) await login(email, `guess number ${n}`);
  for (const known of [email.toUpperCase(), newEmail()]) {
    const asked = await plane().call('POST', '/v1/auth/forgot-password', { body: { email: known } });
    expect([asked.status, asked.body]).toEqual([200, { ok: true }]);
  }
  const { token } = await plane().waitForMail(email, 'new password');
  const reset = (password: string) => plane().call('POST', '/v1/auth/reset-password', { body: { token, password } });
  expect((await reset('short')).status).toBe(400);
  expect(await reset('a whole new password')).toMatchObject({ status: 200, body: { ok: true } });
  expect((await reset('and again another')).status).toBe(400);
  const old = { token: answer.body.token };
  expect((await plane().call('GET', '/v1/me', old)).status).toBe(401);
  expect((await plane().call('POST', '/v1/auth/refresh', old)).status).toBe(401);
  expect((await login(email, 'a whole new password')).status).toBe(200);
  expect((await login(email)).status).toBe(401);
});

test('reset: a concurrent password change with the old password does not undo it', async () => {
  const { email, answer } = await signup();
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await plane().waitForMail(email, 'new password');
  const { sql } = plane().database;
  const release = await holdPostgresLock(sql, (tx) => tx`select 1 from users where email = ${email} for update`);
  const body = { token, password: 'what the owner takes' };
  const reset = plane().call('POST', '/v1/auth/reset-password', { body });
  await expect.poll(() => countLockWaiters(sql)).toBe(1);
  const changed = plane().call('POST', '/v1/auth/change-password', {
    token: answer.body.token,
    body: { currentPassword: PASSWORD, newPassword: 'what the thief takes' },
  });
  await expect.poll(() => countLockWaiters(sql)).toBe(2);
  await release();
  expect([(await reset).status, (await changed).status]).toEqual([200, 403]);
  expect((await login(email, 'what the thief takes')).status).toBe(401);
  expect((await login(email, 'what the owner takes')).status).toBe(200);
});

test.each([
  ['reset', 'new password', '/v1/auth/reset-password', '1 hour'],
  ['verify', 'Confirm', '/v1/auth/verify-email', '24 hours'],
])('%s tokens: hashed at rest, replaced by the next, dead after their time', async (purpose, subject, path, life) => {
  const { email, answer } = await signup();
  if (purpose === 'reset') await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await plane().waitForMail(email, subject);
  const sql = plane().database.sql;
  const [row] = await sql<{ hash: Buffer; lifeS: number }[]>`
    select token_hash as hash, extract(epoch from expires_at - created_at)::float8 as "lifeS" from email_tokens
     where user_id = ${answer.body.user.id} and purpose = ${purpose}`;
  expect(row!.hash).toHaveLength(32);
  expect(row!.lifeS).toBeCloseTo(life === '1 hour' ? 3600 : 86_400, 3);
  await sql`update email_tokens set expires_at = now() where user_id = ${answer.body.user.id}`;
  const body = purpose === 'reset' ? { token, password: 'a whole new password' } : { token };
  expect((await plane().call('POST', path, { body })).status).toBe(400);
});

test('audit: signup, login, switch, verification and reset are in the trail of the organization', async () => {
  const { email, answer } = await signup();
  const { token, org, user } = answer.body;
  await login(email);
  await plane().call('POST', '/v1/auth/switch-org', { token, body: { orgId: org.id } });
  const verify = await plane().waitForMail(email, 'Confirm');
  await plane().call('POST', '/v1/auth/verify-email', { body: { token: verify.token } });
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const reset = await plane().waitForMail(email, 'new password');
  const password = 'a whole new password';
  await plane().call('POST', '/v1/auth/reset-password', { body: { token: reset.token, password } });
  const again = await login(email, password);
  const { body } = await plane().call('GET', '/v1/audit', { token: again.body.token });
  const actions = body.entries.map((entry: { action: string }) => entry.action).sort();
  expect(actions).toEqual([
    'organization.create',
    'session.create',
    'session.create',
    'session.create',
    'user.email_verified',
    'user.password_reset',
  ]);
  for (const entry of body.entries) expect(entry.actor).toEqual({ userId: user.id, email });
});

test('a session token issued here is the same as everywhere with that secret', async () => {
  const { answer } = await signup();
  const tokens = new SessionJwts(plane().config.jwtSecrets);
  expect(tokens.verify(answer.body.token)).toEqual({
    userId: answer.body.user.id,
    orgId: answer.body.org.id,
    version: 1,
    id: expect.any(String),
    generation: 1,
  });
});

const now = () => Math.floor(Date.now() / 1000);

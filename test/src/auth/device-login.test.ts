/** Device login: which role the session gets, who may approve it, and how phishing is prevented. */
import { createHash, randomBytes } from 'node:crypto';
import { revokeUserSessions, switchSessionOrganization } from '@acg/controlplane/auth/sessions/session-store';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const post = (path: string, body: object, token: string | null = null) =>
  plane().call('POST', `/v1/auth/device${path}`, { body, token });

async function startDeviceLogin(fields: object = {}) {
  const { status, body } = await post('', { client: 'acg 0.1.0', hostname: 'laptop', ...fields });
  expect(status).toBe(201);
  return body as { deviceCode: string; userCode: string };
}

/** As after the interval of two seconds. */
async function pollDeviceLogin(deviceCode: string) {
  await sql()`update device_logins set polled_at = null`;
  return post('/token', { deviceCode });
}

function expectWaitOfTenMinutes({ status, headers }: { status: number; headers: Headers }): void {
  expect(status).toBe(429);
  const retryAfterS = Number(headers.get('retry-after'));
  expect(retryAfterS).toBeGreaterThan(300);
  expect(retryAfterS).toBeLessThanOrEqual(600);
}

const approveDeviceLogin = (by: Member, userCode: string, role = 'member', orgId = by.orgId) =>
  by.call('POST', '/v1/auth/device/approve', { userCode, orgId, role });

test('start: returns a device code and a user code; both are stored as hashes; the URL contains no code', async () => {
  const { body } = await post('', { client: 'acg 0.1.0', hostname: 'laptop' });
  expect(body).toEqual({
    deviceCode: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    userCode: expect.stringMatching(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/),
    verificationUrl: `${plane().config.publicUrl}/device`,
    expiresIn: 600,
    interval: 2,
  });
  const [row] = await sql()`select row_to_json(d)::text as everything from device_logins d`;
  for (const code of [body.deviceCode, body.userCode, body.userCode.replace('-', '')]) {
    expect(row!.everything).not.toContain(code);
  }
});

test('approved: the program gets one session, bound to the organization and the approved role', async () => {
  const owner = await plane().createMember('owner');
  const { deviceCode, userCode } = await startDeviceLogin();
  expect((await pollDeviceLogin(deviceCode)).body).toEqual({ error: 'authorization_pending' });
  const looked = await owner.call('POST', '/v1/auth/device/lookup', {
    userCode: userCode.toLowerCase().replace('-', ''),
  });
  expect(looked.body).toMatchObject({
    device: { client: 'acg 0.1.0', hostname: 'laptop', ip: '127.0.0.1' },
    orgs: [{ id: owner.orgId, role: 'owner' }],
  });
  expect((await approveDeviceLogin(owner, userCode, 'member')).body).toEqual({ ok: true });
  const given = await pollDeviceLogin(deviceCode);
  expect(given.body).toMatchObject({ user: { id: owner.userId }, orgId: owner.orgId, orgs: [{ id: owner.orgId }] });
  expect((await pollDeviceLogin(deviceCode)).body).toEqual({ error: 'expired_token' }); // once
  const { token } = given.body;
  const call = (method: string, path: string, body?: unknown) => plane().call(method, path, { token, body });
  expect((await call('GET', '/v1/me')).body.role).toBe('member');
  expect((await call('GET', '/v1/projects')).status).toBe(200);
  expect((await call('POST', '/v1/projects', { name: 'x' })).status).toBe(403);
  expect((await owner.call('GET', '/v1/sessions')).body.sessions[0]).toMatchObject({ kind: 'cli', roleMax: 'member' });
});

test('bound: the session stays in its organization and cannot change the account, also after a refresh', async () => {
  const owner = await plane().createMember('owner');
  const other = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${owner.userId}, 'owner')`;
  const { deviceCode, userCode } = await startDeviceLogin();
  await approveDeviceLogin(owner, userCode, 'admin');
  const first = (await pollDeviceLogin(deviceCode)).body.token;
  const token = (await plane().call('POST', '/v1/auth/refresh', { token: first })).body.token;
  const call = async (method: string, path: string, body?: unknown) =>
    (await plane().call(method, path, { token, body })).status;
  expect(await call('GET', '/v1/projects')).toBe(200);
  const device = await startDeviceLogin();
  for (const [method, path, body] of [
    ['POST', '/v1/auth/switch-org', { orgId: other.orgId }],
    ['POST', '/v1/orgs', { name: 'More' }],
    ['PATCH', '/v1/me', { name: 'x' }],
    ['GET', '/v1/sessions'],
    ['DELETE', '/v1/sessions'],
    ['DELETE', '/v1/members/me'],
    ['POST', '/v1/auth/device/approve', { userCode: device.userCode, orgId: owner.orgId, role: 'owner' }],
    ['POST', '/v1/auth/change-password', { currentPassword: 'x', newPassword: 'a whole new password' }],
  ] as const) {
    expect([path, await call(method, path, body)]).toEqual([path, 403]);
  }
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  expect(await call('POST', '/v1/members', { email, role: 'owner' })).toBe(403); // though its user is an owner
  expect(await call('POST', '/v1/members', { email, role: 'admin' })).toBe(201);
  const cookie = await plane().call('POST', '/v1/session', { token, headers: { 'sec-fetch-site': 'same-origin' } });
  const browser = { cookie: cookie.headers.get('set-cookie')!.split(';')[0]!, 'sec-fetch-site': 'same-origin' };
  const moved = await plane().call('PATCH', '/v1/session', { headers: browser, body: { orgId: other.orgId } });
  expect([cookie.status, moved.status]).toEqual([200, 403]);
});

test('bound: no route moves such a session to another organization', async () => {
  const owner = await plane().createMember('owner');
  const { deviceCode, userCode } = await startDeviceLogin();
  await approveDeviceLogin(owner, userCode, 'admin');
  await pollDeviceLogin(deviceCode);
  const rows = await sql()<{ id: string; bound: boolean }[]>`
    select id, role_max is not null as bound from sessions where user_id = ${owner.userId} order by bound`;
  expect(rows.map(({ bound }) => bound)).toEqual([false, true]);
  const moved = await sql().begin(async (tx) => [
    await switchSessionOrganization(tx, rows[0]!.id, owner.orgId),
    await switchSessionOrganization(tx, rows[1]!.id, owner.orgId),
  ]);
  expect(moved).toEqual([expect.objectContaining({ version: 1 }), null]);
});

test('bound: tokens of such a session are invalid outside its organization, despite other memberships', async () => {
  const owner = await plane().createMember('owner');
  const other = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${owner.userId}, 'owner')`;
  const { deviceCode, userCode } = await startDeviceLogin();
  await approveDeviceLogin(owner, userCode, 'admin');
  const { token } = (await pollDeviceLogin(deviceCode)).body;
  expect((await plane().call('GET', '/v1/projects', { token })).status).toBe(200);
  // No code path creates this token; it names another organization than its session.
  await sql()`update sessions set org_id = ${other.orgId} where user_id = ${owner.userId} and role_max is not null`;
  expect((await plane().call('GET', '/v1/projects', { token })).status).toBe(401);
  expect((await plane().call('POST', '/v1/auth/refresh', { token })).status).toBe(401);
});

test('bound: a device session does not verify an invited account', async () => {
  const owner = await plane().createMember('owner');
  const guest = await plane().createMember('owner');
  const rows = await sql()<{ email: string }[]>`
    update users set email_verified_at = now() where id = ${guest.userId} returning email`;
  const { deviceCode, userCode } = await startDeviceLogin();
  await approveDeviceLogin(guest, userCode, 'viewer');
  const { token } = (await pollDeviceLogin(deviceCode)).body;
  await owner.call('POST', '/v1/members', { email: rows[0]!.email, role: 'admin' });
  const mail = await plane().waitForMail(rows[0]!.email, 'Invitation');
  const accepted = await plane().call('POST', '/v1/invitations/accept', { token, body: { token: mail.token } });
  expect(accepted.status).toBe(401);
});

test('approve: no role above the own one, no organization that one is not in, and only once', async () => {
  const owner = await plane().createMember('owner');
  const viewer = await plane().createMember('viewer', owner.orgId);
  const stranger = await plane().createMember('owner');
  const { deviceCode, userCode } = await startDeviceLogin();
  expect((await approveDeviceLogin(viewer, userCode, 'admin')).status).toBe(403);
  expect((await approveDeviceLogin(viewer, userCode, 'viewer', stranger.orgId)).status).toBe(404);
  expect((await pollDeviceLogin(deviceCode)).body.error).toBe('authorization_pending');
  expect((await approveDeviceLogin(viewer, userCode, 'viewer')).status).toBe(200);
  expect((await approveDeviceLogin(stranger, userCode, 'viewer')).status).toBe(404);
  expect((await pollDeviceLogin(deviceCode)).body.user.id).toBe(viewer.userId);
});

test('approve: requires a password entry within the last 15 minutes', async () => {
  const owner = await plane().createMember('owner');
  const { userCode } = await startDeviceLogin();
  await sql()`update sessions set authenticated_at = now() - interval '15 minutes 1 second' where user_id = ${owner.userId}`;
  expect((await approveDeviceLogin(owner, userCode)).status).toBe(403);
  expect((await owner.call('POST', '/v1/auth/device/lookup', { userCode })).status).toBe(403);
  await sql()`update sessions set authenticated_at = now() - interval '14 minutes' where user_id = ${owner.userId}`;
  expect((await approveDeviceLogin(owner, userCode)).status).toBe(200);
});

test('denied, expired, reset or logged out: the program gets nothing', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const denied = await startDeviceLogin();
  expect((await owner.call('POST', '/v1/auth/device/deny', { userCode: denied.userCode })).status).toBe(200);
  expect((await pollDeviceLogin(denied.deviceCode)).body).toEqual({ error: 'access_denied' });
  const late = await startDeviceLogin();
  await sql()`update device_logins set expires_at = now() where status = 'pending'`;
  expect((await approveDeviceLogin(owner, late.userCode)).status).toBe(404);
  expect((await pollDeviceLogin(late.deviceCode)).body).toEqual({ error: 'expired_token' });
  const reset = await startDeviceLogin();
  await approveDeviceLogin(admin, reset.userCode, 'viewer');
  await sql()`update users set session_version = session_version + 1 where id = ${admin.userId}`;
  expect((await pollDeviceLogin(reset.deviceCode)).body).toEqual({ error: 'access_denied' });
  const out = await startDeviceLogin();
  await approveDeviceLogin(admin, out.userCode, 'viewer');
  await owner.call('DELETE', `/v1/members/${admin.userId}`);
  expect((await pollDeviceLogin(out.deviceCode)).body).toEqual({ error: 'access_denied' });
  expect((await post('/token', { deviceCode: 'unknown' })).body).toEqual({ error: 'expired_token' });
});

test('poll: faster than every two seconds is slow_down', async () => {
  const { deviceCode } = await startDeviceLogin();
  expect((await post('/token', { deviceCode })).body.error).toBe('authorization_pending');
  expect((await post('/token', { deviceCode })).body.error).toBe('slow_down');
  await sql()`update device_logins set polled_at = now() - interval '2 seconds' where polled_at is not null`;
  expect((await post('/token', { deviceCode })).body.error).toBe('authorization_pending');
});

test('codes: a user tries at most 20 in ten minutes', async () => {
  const owner = await plane().createMember('owner');
  const look = (by = owner) => by.call('POST', '/v1/auth/device/lookup', { userCode: 'BBBB-BBBB' });
  for (let n = 0; n < 20; n++) expect((await look()).status).toBe(404);
  expectWaitOfTenMinutes(await look());
  expect((await look(await plane().createMember('owner'))).status).toBe(404);
});

test('start: at most 60 from one address in ten minutes', async () => {
  const key = 'device:127.0.0.1';
  await sql()`delete from throttle_windows where key = ${key}`;
  for (let n = 0; n < 60; n++) await startDeviceLogin();
  expectWaitOfTenMinutes(await post('', { client: 'acg 0.1.0', hostname: 'laptop' }));
  await sql()`delete from throttle_windows where key = ${key}`;
  await startDeviceLogin();
});

test('twice at once: one session', async () => {
  const owner = await plane().createMember('owner');
  const { deviceCode, userCode } = await startDeviceLogin();
  await approveDeviceLogin(owner, userCode, 'viewer');
  await sql()`update device_logins set polled_at = null`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => post('/token', { deviceCode })));
  expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
});

test('an e-mail reports the login, without text chosen by the program', async () => {
  const owner = await plane().createMember('owner');
  const [row] = await sql()<{ email: string }[]>`select email from users where id = ${owner.userId}`;
  const { userCode } = await startDeviceLogin({ client: 'evil.com', hostname: 'evil.example' });
  await approveDeviceLogin(owner, userCode, 'viewer');
  const { text } = await plane().waitForMail(row!.email, 'device');
  expect(text).toContain('viewer');
  expect(text).not.toContain('evil');
});

test('start: one character is enough for names; a code of one character is as unknown as any other', async () => {
  expect((await post('', { client: 'a', hostname: 'b' })).status).toBe(201);
  expect(await post('/token', { deviceCode: 'x' })).toMatchObject({ status: 400, body: { error: 'expired_token' } });
});

test.each(['<b>acg</b>', 'a\nb', '', 'x'.repeat(81), 'acg\u202e'])(
  'start: a program does not call itself %j',
  async (client) => {
    expect((await post('', { client })).status).toBe(400);
  },
);

test('the page has a content security policy for its script and prompts for the code', async () => {
  const page = await fetch(`${plane().url}/device?code=BBBB-BBBB`);
  const html = await page.text();
  const script = /<script>(.*)<\/script>/s.exec(html)![1]!;
  const hash = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
  expect(page.headers.get('content-security-policy')).toContain(`script-src ${hash};`);
  expect(html).toContain('id="code"');
  expect(script).not.toMatch(/location/); // a code in the address is not read
});

test('approved by a session that a password change revokes at that moment: no session is created', async () => {
  const owner = await plane().createMember('owner');
  const { deviceCode, userCode } = await startDeviceLogin();
  const release = await holdPostgresLock(
    sql(),
    (tx) => tx`select 1 from device_logins where status = 'pending' for update`,
  );
  const approved = approveDeviceLogin(owner, userCode, 'owner');
  await expect.poll(() => countLockWaiters(sql())).toBe(1);
  let ended = false;
  const end = sql()
    .begin((tx) => revokeUserSessions(tx, owner.userId, null))
    .then(() => {
      ended = true;
    });
  await expect.poll(async () => ended || (await countLockWaiters(sql())) === 2).toBe(true);
  await release();
  await Promise.all([approved, end]);
  expect((await pollDeviceLogin(deviceCode)).body.token).toBeUndefined();
});

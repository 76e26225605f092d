import { Throttle } from '@acg/controlplane/throttling/throttle';
import { expect, test } from 'vitest';
import { newEmail } from '../api-contract/api-user.js';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane({ TRUSTED_PROXY_CIDRS: '127.0.0.0/8' });

const verifyFrom = (ip: string, url = plane().url) =>
  fetch(`${url}/v1/auth/verify-email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
    body: '{"token":"unknown"}',
  });

test('all auth endpoints together: 600 requests a minute per address, over all instances, then 429', async () => {
  const second = await startControlPlane({ TRUSTED_PROXY_CIDRS: '127.0.0.0/8' }, plane().database);
  const statuses: number[] = [];
  for (let round = 0; round < 15; round++) {
    const urls = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? plane().url : second.url));
    const answers = await Promise.all(urls.map((url) => verifyFrom('203.0.113.7', url)));
    statuses.push(...answers.map((answer) => answer.status));
  }
  expect(new Set(statuses)).toEqual(new Set([400]));
  for (const url of [plane().url, second.url, plane().url]) {
    const refused = await verifyFrom('203.0.113.7', url);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(await refused.json()).toEqual({ error: expect.stringMatching(/^too many requests from this address/) });
  }
  const login = await fetch(`${plane().url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' },
    body: '{"email":"a@example.com","password":"x"}',
  });
  expect(login.status).toBe(429);
  expect((await verifyFrom('203.0.113.8')).status).toBe(400);
  await second.stop();
});

const PASSWORD = 'a password of some length';

const loginFrom =
  (email: string) =>
  async (ip: string, password = PASSWORD): Promise<number> => {
    const answer = await fetch(`${plane().url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
      body: JSON.stringify({ email, password }),
    });
    return answer.status;
  };

async function createUser() {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Owner', orgName: 'Acme' };
  expect((await plane().call('POST', '/v1/auth/signup', { body })).status).toBe(201);
  return { email, login: loginFrom(email) };
}

test('login: ten failures from one IP lock the account for that IP only', async () => {
  const { login } = await createUser();
  for (let n = 0; n < 10; n++) expect(await login('198.51.100.1', `guess number ${n}`)).toBe(401);
  expect(await login('198.51.100.1')).toBe(429);
  expect(await login('198.51.100.2')).toBe(200);
  expect(await login('198.51.100.1')).toBe(429);
});

test('login: the right password resets the failure count', async () => {
  const { login } = await createUser();
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 9; n++) expect(await login('198.51.100.3', `guess number ${n}`)).toBe(401);
    expect(await login('198.51.100.3')).toBe(200);
  }
});

test('login: after 100 failures from many IPs only known IPs of the account may log in', async () => {
  const { email, login } = await createUser();
  expect(await login('198.51.100.200')).toBe(200);
  const guess = (n: number) => login(`198.51.100.${Math.floor(n / 9)}`, `guess number ${n}`);
  for (let n = 0; n < 100; n += 10) {
    const statuses = await Promise.all(Array.from({ length: 10 }, (_, i) => guess(n + i)));
    expect(new Set(statuses)).toEqual(new Set([401]));
  }
  expect(await guess(100)).toBe(429);
  expect(await login('198.51.100.201')).toBe(429);
  expect(await login('198.51.100.200', 'a wrong password')).toBe(401);
  expect(await login('198.51.100.200')).toBe(200);
  const { sql } = plane().database;
  await sql`update throttle_windows set expires_at = now() where key like 'known-%'`;
  expect(await login('198.51.100.200')).toBe(429);
  // A new password unlocks the account: the e-mail has verified its owner.
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await plane().waitForMail(email, 'new password');
  const body = { token, password: `${PASSWORD}, another` };
  expect((await plane().call('POST', '/v1/auth/reset-password', { body })).status).toBe(200);
  expect(await login('198.51.100.201', body.password)).toBe(200);
});

/** Attackers guess from ten IPs until the account is locked for all unknown IPs. */
async function lockAccountByFailedLogins(
  login: (ip: string, password?: string) => Promise<number>,
  net: number,
): Promise<void> {
  for (let n = 0; n < 110; n++) {
    const status = await login(`203.0.${net}.${Math.floor(n / 10)}`, `guess number ${n}`);
    if (status === 429) return;
  }
  throw new Error('strangers could not lock the account');
}

const post = (ip: string, path: string, body: object, token?: string) =>
  fetch(plane().url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': ip,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });

test('lock: the IP that completes a reset is known, so further guesses do not lock it again', async () => {
  const { email, login } = await createUser();
  await lockAccountByFailedLogins(login, 1);
  expect(await login('192.0.2.50')).toBe(429);
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await plane().waitForMail(email, 'new password');
  const password = `${PASSWORD}, another`;
  expect((await post('192.0.2.50', '/v1/auth/reset-password', { token, password })).status).toBe(200);
  expect(await login('192.0.2.51', password)).toBe(200); // failures from before count no more
  await lockAccountByFailedLogins(login, 2);
  expect(await login('192.0.2.52', password)).toBe(429);
  expect(await login('192.0.2.50', password)).toBe(200);
});

test('lock: guesses never block a session or an e-mail token', async () => {
  const { email, login } = await createUser();
  const session = (await plane().call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).body.token;
  const confirm = (await plane().waitForMail(email, 'Confirm')).token;
  await lockAccountByFailedLogins(login, 3);
  const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD}, another` };
  expect((await post('192.0.2.60', '/v1/auth/change-password', change, session)).status).toBe(200);
  await plane().database.sql`update users set email_verified_at = null where email = ${email}`;
  await plane().call('POST', '/v1/auth/resend-verification', { body: { email } });
  const again = await waitUntil('a fresh mail is there', async () => {
    const mail = await plane().waitForMail(email, 'Confirm');
    return mail.token !== confirm && mail;
  });
  const verify = { token: again.token, password: change.newPassword };
  expect((await post('192.0.2.61', '/v1/auth/verify-email', verify)).status).toBe(200);
  expect(await login('192.0.2.61', change.newPassword)).toBe(200); // known through the e-mail verification
  // With an e-mailed link the account's password works, however many guesses attackers have made.
  const owner = await plane().createMember('owner');
  const invited = (await owner.call('POST', '/v1/members', { email, role: 'viewer' })).body.member.userId;
  await plane().database.sql`update invitations set link_shown = false where id = ${invited}`;
  const { token } = await plane().waitForMail(email, 'Invitation');
  await lockAccountByFailedLogins(login, 4);
  const accept = { token, password: change.newPassword };
  expect((await post('192.0.2.62', '/v1/invitations/accept', accept)).status).toBe(200);
  expect(await login('192.0.2.62', change.newPassword)).toBe(200);
});

test('lock: an e-mail address that was locked before it had an account can accept its invitation', async () => {
  const owner = await plane().createMember('owner');
  const email = newEmail();
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const { token } = await plane().waitForMail(email, 'Invitation');
  const login = loginFrom(email);
  await lockAccountByFailedLogins(login, 6);
  const accept = { token, name: 'Guest', password: PASSWORD };
  expect((await post('192.0.2.80', '/v1/invitations/accept', accept)).status).toBe(200);
  expect([await login('192.0.2.80'), await login('192.0.2.81')]).toEqual([200, 429]);
});

test('lock: password guesses in a stolen session are bounded across all IPs', async () => {
  const { email, login } = await createUser();
  const session = (await plane().call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).body.token;
  const statuses: number[] = [];
  for (let n = 0; n < 101; n++) {
    const change = { currentPassword: `guess number ${n}`, newPassword: 'the thief was here' };
    statuses.push((await post(`203.0.5.${Math.floor(n / 9)}`, '/v1/auth/change-password', change, session)).status);
  }
  expect([statuses.filter((status) => status === 403).length, statuses.at(-1)]).toEqual([100, 429]);
  expect(await login('192.0.2.70')).toBe(200); // the owner still signs in
});

test('the window of an IP restarts when it has ended; ended windows are deleted', async () => {
  const { sql } = plane().database;
  const throttle = new Throttle(sql);
  const end = () => sql`select expires_at from throttle_windows where key = 'test'`;
  await throttle.consume('test', 3, 60, 'tests');
  const first = await end();
  for (let n = 1; n < 3; n++) await throttle.consume('test', 3, 60, 'tests');
  await expect(throttle.consume('test', 3, 60, 'tests')).rejects.toMatchObject({ retryAfterSeconds: 60 });
  expect(await end()).toEqual(first); // further attempts do not extend the window
  await sql`update throttle_windows set expires_at = now() where key = 'test'`;
  await throttle.consume('test', 3, 60, 'tests');
  await throttle.recordFailedLogin('prune@example.com', '203.0.113.1', 'none');
  await sql`update throttle_windows set expires_at = now() - interval '1 s'`;
  await sql`update throttle_marks set expires_at = now() - interval '1 s'`;
  await throttle.prune();
  const [left] = await sql<{ n: number }[]>`
    select (select count(*) from throttle_windows) + (select count(*) from throttle_marks) as n`;
  expect(left!.n).toBe(0);
});

import { Throttle } from '@acg/controlplane/auth/throttle';
import { expect, test } from 'vitest';
import { newEmail } from '../conformance/tenant.js';
import { startControlPlane, useControlPlane } from '../control-plane.js';

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

async function person(): Promise<{ email: string; login(ip: string, password?: string): Promise<number> }> {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Owner', orgName: 'Acme' };
  expect((await plane().call('POST', '/v1/auth/signup', { body })).status).toBe(201);
  const login = async (ip: string, password = PASSWORD): Promise<number> => {
    const answer = await fetch(`${plane().url}/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': ip },
      body: JSON.stringify({ email, password }),
    });
    return answer.status;
  };
  return { email, login };
}

test('login: whoever fails ten times at one address locks the account there, and nowhere else', async () => {
  const { login } = await person();
  for (let n = 0; n < 10; n++) expect(await login('198.51.100.1', `guess number ${n}`)).toBe(401);
  expect(await login('198.51.100.1')).toBe(429);
  expect(await login('198.51.100.2')).toBe(200);
  expect(await login('198.51.100.1')).toBe(429);
});

test('login: the right password ends the count of the failures before it', async () => {
  const { login } = await person();
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 9; n++) expect(await login('198.51.100.3', `guess number ${n}`)).toBe(401);
    expect(await login('198.51.100.3')).toBe(200);
  }
});

test('login: after a hundred failures from many addresses only those let in where the account has signed in', async () => {
  const { email, login } = await person();
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
  // A new password ends it: the mail has shown who the owner is.
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await plane().mail(email, 'new password');
  const body = { token, password: `${PASSWORD}, another` };
  expect((await plane().call('POST', '/v1/auth/reset-password', { body })).status).toBe(200);
  expect(await login('198.51.100.201', body.password)).toBe(200);
});

test('the window of an address begins anew when it has ended; what has ended is pruned', async () => {
  const { sql } = plane().database;
  const throttle = new Throttle(sql);
  const end = () => sql`select expires_at from throttle_windows where key = 'test'`;
  await throttle.count('test', 3, 60, 'tests');
  const first = await end();
  for (let n = 1; n < 3; n++) await throttle.count('test', 3, 60, 'tests');
  await expect(throttle.count('test', 3, 60, 'tests')).rejects.toMatchObject({ retryAfterSeconds: 60 });
  expect(await end()).toEqual(first); // whoever asks on does not wait longer
  await sql`update throttle_windows set expires_at = now() where key = 'test'`;
  await throttle.count('test', 3, 60, 'tests');
  await throttle.failLogin('prune@example.com', '203.0.113.1');
  await sql`update throttle_windows set expires_at = now() - interval '1 s'`;
  await sql`update throttle_marks set expires_at = now() - interval '1 s'`;
  await throttle.prune();
  const [left] = await sql<{ n: number }[]>`
    select (select count(*) from throttle_windows) + (select count(*) from throttle_marks) as n`;
  expect(left!.n).toBe(0);
});

import { addressKey, Throttle } from '@acg/controlplane/auth/throttle';
import { expect, test } from 'vitest';
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

test('the window of an address begins anew when it has ended; what has ended is pruned', async () => {
  const { sql } = plane().database;
  const throttle = new Throttle(sql);
  for (let n = 0; n < 3; n++) await throttle.count('test', 3, 60, 'tests');
  await expect(throttle.count('test', 3, 60, 'tests')).rejects.toMatchObject({ retryAfterSeconds: 60 });
  await sql`update throttle_windows set expires_at = now() where key = 'test'`;
  await throttle.count('test', 3, 60, 'tests');
  await throttle.failLogin('prune@example.com');
  await sql`update throttle_windows set expires_at = now() - interval '1 s'`;
  await sql`update throttle_marks set expires_at = now() - interval '1 s'`;
  await throttle.prune();
  const [left] = await sql<{ n: number }[]>`
    select (select count(*) from throttle_windows) + (select count(*) from throttle_marks) as n`;
  expect(left!.n).toBe(0);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('address %s counts as %s', (ip, key) => {
  expect(addressKey(ip)).toBe(key);
});

/**
 * Audit entries for events without a changed resource: sessions that change their form, and failed logins, which
 * attackers can cause.
 */
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane({ TRUSTED_PROXY_CIDRS: '127.0.0.1' });

const entriesOf = async (owner: Member, action: string) =>
  (await owner.call('GET', `/v1/audit?action=${action}&limit=100`)).body.entries;

test('the exchange of a bearer token for a cookie is in the trail, with user and IP', async () => {
  const owner = await plane().createMember('owner');
  const witness = await plane().createMember('owner', owner.orgId);
  const headers = { 'sec-fetch-site': 'same-origin' };
  expect((await owner.call('POST', '/v1/session', {}, headers)).status).toBe(200);
  const [entry, ...others] = await entriesOf(witness, 'session.exchange');
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    actor: { userId: owner.userId },
    target: { type: 'session' },
    ip: '127.0.0.1',
    changes: { kind: ['api', 'browser'] },
  });
});

test('a device that fetches its session is in the trail, with its own IP', async () => {
  const owner = await plane().createMember('owner');
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const deviceCode = randomBytes(32).toString('base64url');
  await plane().database.sql`
    insert into device_logins (id, device_code_hash, user_code_hash, client, hostname, ip, status, user_id,
                               session_version, org_id, role, expires_at)
    values (gen_random_uuid(), ${hash(deviceCode)}, ${hash(deviceCode + deviceCode)}, 'acg', '', '', 'approved',
            ${owner.userId}, 1, ${owner.orgId}, 'viewer', now() + interval '10 minutes')`;
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  const taken = await plane().call('POST', '/v1/auth/device/token', { body: { deviceCode }, headers });
  expect(taken.status).toBe(200);
  const [entry] = await entriesOf(owner, 'device.login');
  expect(entry).toMatchObject({
    actor: { userId: owner.userId },
    ip: '203.0.113.7',
    changes: { role: [null, 'viewer'] },
  });
});

test('failed logins: an entry for each network and hour, at most 20 a day, in every organization of the account', async () => {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const body = { email, password: 'a long enough password', name: 'N', orgName: 'O' };
  const { token, user } = (await plane().call('POST', '/v1/auth/signup', { body })).body;
  const second = await plane().createMember('owner');
  await plane().database.sql`
    insert into memberships (org_id, user_id, role) values (${second.orgId}, ${user.id}, 'viewer')`;
  const guess = async (ip: string): Promise<void> => {
    const wrong = { email, password: 'a wrong password' };
    const answer = await plane().call('POST', '/v1/auth/login', { body: wrong, headers: { 'x-forwarded-for': ip } });
    expect(answer.status).toBe(401);
  };
  const entries = async (): Promise<number> => {
    const answer = await plane().call('GET', '/v1/audit?action=login.fail&limit=100', { token });
    return answer.body.total;
  };
  for (let n = 0; n < 5; n++) await guess('203.0.113.1');
  await waitUntil('the first is recorded', async () => (await entries()) === 1);
  for (let n = 2; n < 30; n++) await guess(`203.0.113.${n}`);
  await waitUntil('as many as may be are recorded', async () => (await entries()) === 20);
  await waitUntil('one more was refused', async () => {
    const [row] = await plane().database.sql<{ count: number }[]>`
      select count from throttle_windows where key = ${`login-entries:${user.id}`}`;
    return row!.count === 21;
  });
  expect(await entries()).toBe(20);
  expect((await entriesOf(second, 'login.fail'))[0]).toMatchObject({ actor: { email }, target: { id: user.id } });
});

/** Invitations must not become a relay for spam: who may send them, how many, and what they may contain. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, startControlPlane, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;

test('an organization sends at most 20 invitations an hour', async () => {
  const owner = await plane().createMember('owner');
  const invite = async () => (await owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' })).status;
  for (let n = 0; n < 20; n++) expect(await invite()).toBe(201);
  const refused = await owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' });
  expect(refused.status).toBe(429);
  const retryAfterS = Number(refused.headers.get('retry-after'));
  expect(retryAfterS).toBeGreaterThan(3_000);
  expect(retryAfterS).toBeLessThanOrEqual(3_600);
  const other = await plane().createMember('owner');
  expect((await other.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' })).status).toBe(201);
});

test('a recipient gets at most 3 a day from one organization, case-insensitively, and 12 from all; organizations do not use up each other s quota', async () => {
  const email = newEmail();
  const invite = async (owner: Member, spelled: string) => {
    const answer = await owner.call('POST', '/v1/members', { email: spelled, role: 'viewer' });
    if (answer.status === 429) {
      const retryAfterS = Number(answer.headers.get('retry-after'));
      expect(retryAfterS).toBeGreaterThan(80_000);
      expect(retryAfterS).toBeLessThanOrEqual(86_400);
    }
    return answer.status;
  };
  const statuses: number[][] = [];
  for (let org = 0; org < 4; org++) {
    const owner = await plane().createMember('owner');
    const own: number[] = [];
    for (const spelled of [email, email.toUpperCase(), email, email.toUpperCase()]) {
      own.push(await invite(owner, spelled));
    }
    statuses.push(own);
  }
  expect(statuses).toEqual(Array(4).fill([201, 201, 201, 429]));
  expect(await invite(await plane().createMember('owner'), email)).toBe(429);
});

test('a recipient gets at most 3 a day from one user across all organizations', async () => {
  const email = newEmail();
  const statuses: number[] = [];
  const person = await plane().createMember('owner');
  let { token } = person;
  for (let org = 0; org < 4; org++) {
    const other = await plane().createMember('owner');
    await plane().database.sql`
      insert into memberships (org_id, user_id, role) values (${other.orgId}, ${person.userId}, 'owner')`;
    const moved = await plane().call('POST', '/v1/auth/switch-org', { token, body: { orgId: other.orgId } });
    token = moved.body.token;
    statuses.push((await plane().call('POST', '/v1/members', { token, body: { email, role: 'viewer' } })).status);
  }
  expect(statuses).toEqual([201, 201, 201, 429]);
});

test('with SMTP configured, only a user with a verified address may invite', async () => {
  const smtp = await startControlPlane({ SMTP_URL: 'smtp://127.0.0.1:9' }, plane().database);
  const owner = await smtp.createMember('owner');
  const invite = () => owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' });
  const refused = await invite();
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('confirm your own e-mail')]);
  await smtp.database.sql`update users set email_verified_at = now() where id = ${owner.userId}`;
  expect((await invite()).status).toBe(201);
  await smtp.stop();
});

const BAD = [
  'Visit https://evil.example now',
  'go to evil.com',
  'www.evil',
  'WWW.evil',
  'пример.рф',
  'x'.repeat(81),
  'tab\there',
  'line\u2028break',
  'turned \u202e around',
  'hid\u200bden',
  'null\u0085control',
  '   ',
];

test.each(BAD)('the name %j appears in no e-mail', async (name) => {
  const signup = async (fields: object) => {
    const body = { email: newEmail(), password: 'correct horse battery', name: 'Ada', orgName: 'Own', ...fields };
    return (await plane().call('POST', '/v1/auth/signup', { body })).status;
  };
  expect([await signup({ name }), await signup({ orgName: name })]).toEqual([400, 400]);
});

test.each([
  'Acme Inc.',
  'Müller & Söhne, Köln',
  'R. Daneel Olivaw',
  '株式会社',
  'Version 2.0',
  'x'.repeat(80),
  'Smith–Jones 🙂',
])('the name %j is fine', async (name) => {
  const body = { email: newEmail(), password: 'correct horse battery', name, orgName: name };
  expect((await plane().call('POST', '/v1/auth/signup', { body })).status).toBe(201);
});

/** Owners see and end sessions of members; the lookup of an invitation says what it needs. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const PASSWORD = 'correct horse battery';

test('owners list and end sessions of a member in their organization, one or all, and no others', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const member = await plane().createMember('member', owner.orgId);
  const path = `/v1/members/${member.userId}/sessions`;
  await member.call('GET', '/v1/me');
  const listed = await owner.call('GET', path);
  expect(listed.body).toMatchObject({ total: 1, sessions: [{ kind: 'api', current: false, userAgent: 'test' }] });
  const rows = await owner.call('GET', '/v1/members?search=');
  const row = rows.body.members.find(({ userId }: { userId: string }) => userId === member.userId);
  expect(row).toMatchObject({ lastSeenAt: expect.any(String), emailVerified: false });
  for (const [method, url] of [
    ['GET', path],
    ['DELETE', path],
    ['DELETE', `${path}/${listed.body.sessions[0].id}`],
  ] as const)
    expect((await admin.call(method, url)).status).toBe(403);
  // A session of the same account in another organization is neither shown nor ended.
  const elsewhere = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${member.userId}, 'viewer')`;
  const [other] = await sql()<{ id: string }[]>`
    insert into sessions (id, user_id, org_id, kind, ip, user_agent, expires_at)
    values (gen_random_uuid(), ${member.userId}, ${elsewhere.orgId}, 'api', '127.0.0.1', 'other', now() + interval '1 day')
    returning id`;
  expect((await owner.call('GET', path)).body.total).toBe(1);
  expect((await owner.call('DELETE', `${path}/${other!.id}`)).status).toBe(404);
  expect((await elsewhere.call('DELETE', `${path}/${listed.body.sessions[0].id}`)).status).toBe(404);
  expect((await owner.call('DELETE', `${path}/${listed.body.sessions[0].id}`)).status).toBe(200);
  expect((await member.call('GET', '/v1/me')).status).toBe(401);
  expect((await owner.call('DELETE', path)).status).toBe(200);
  expect(await sql()`select 1 from sessions where id = ${other!.id}`).toHaveLength(1);
  const stranger = await plane().createMember('viewer');
  expect((await owner.call('GET', `/v1/members/${stranger.userId}/sessions`)).status).toBe(404);
  const invited = await owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' });
  expect((await owner.call('GET', `/v1/members/${invited.body.member.userId}/sessions`)).status).toBe(404);
  expect((await owner.call('DELETE', `/v1/members/${invited.body.member.userId}/sessions`)).status).toBe(404);
});

test('the end of all sessions of a member also ends approvals of devices in the organization, and no others', async () => {
  const owner = await plane().createMember('owner');
  const member = await plane().createMember('member', owner.orgId);
  const elsewhere = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${member.userId}, 'viewer')`;
  const approve = async (by: Member, orgId: string, role: string) => {
    const { body } = await plane().call('POST', '/v1/auth/device', { body: { client: 'acg' } });
    const approval = { userCode: body.userCode, orgId, role };
    expect((await by.call('POST', '/v1/auth/device/approve', approval)).status).toBe(200);
    return () => plane().call('POST', '/v1/auth/device/token', { body: { deviceCode: body.deviceCode } });
  };
  const polls = [
    await approve(member, owner.orgId, 'member'),
    await approve(member, elsewhere.orgId, 'viewer'),
    await approve(owner, owner.orgId, 'viewer'),
  ];
  expect((await owner.call('DELETE', `/v1/members/${member.userId}/sessions`)).status).toBe(200);
  const answers = [];
  for (const poll of polls) answers.push((await poll()).status);
  expect(answers).toEqual([400, 200, 200]);
});

test('the end of all sessions of a member waits for an approval of a device that is under way, and ends it', async () => {
  const owner = await plane().createMember('owner');
  const member = await plane().createMember('member', owner.orgId);
  const { body } = await plane().call('POST', '/v1/auth/device', { body: { client: 'acg' } });
  const approval = { userCode: body.userCode, orgId: owner.orgId, role: 'member' };
  const release = await holdPostgresLock(
    sql(),
    (tx) => tx`select 1 from device_logins where client = 'acg' and status = 'pending' for update`,
  );
  const approved = member.call('POST', '/v1/auth/device/approve', approval);
  await waitUntil('the approval waits for the device', async () => (await countLockWaiters(sql())) === 1);
  const ended = owner.call('DELETE', `/v1/members/${member.userId}/sessions`);
  await waitUntil('the end waits for the approval', async () => (await countLockWaiters(sql())) === 2);
  await release();
  expect([(await approved).status, (await ended).status]).toEqual([200, 200]);
  const poll = await plane().call('POST', '/v1/auth/device/token', { body: { deviceCode: body.deviceCode } });
  expect(poll).toMatchObject({ status: 400, body: { error: 'access_denied' } });
});

test('the lookup of an invitation says who invites to what as which role, and what the address needs', async () => {
  const owner = await plane().createMember('owner');
  const lookUp = (token: string, session: string | null = null) =>
    plane().call('POST', '/v1/invitations/lookup', { body: { token }, token: session });
  const invite = async (email: string): Promise<string> => {
    await owner.call('POST', '/v1/members', { email, role: 'member' });
    return (await plane().waitForMail(email, 'Invitation')).token;
  };
  const [{ email: inviterEmail }] = (await sql()`select email from users where id = ${owner.userId}`) as unknown as [
    { email: string },
  ];
  const email = newEmail();
  const token = await invite(email);
  const details = {
    orgName: 'Test org',
    role: 'member',
    email,
    inviter: { name: 'Test', email: inviterEmail },
    account: 'new',
    sso: false,
    ssoRequired: false,
  };
  expect((await lookUp(token)).body).toEqual(details);
  // The link was shown to the inviter, so it proves nothing about the mailbox: the account needs its own login.
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Own' };
  const signup = await plane().call('POST', '/v1/auth/signup', { body });
  expect((await lookUp(token)).body).toEqual({ ...details, account: 'existing' });
  expect((await lookUp(token, signup.body.token)).body).toEqual({ ...details, account: 'session' });
  await sql()`update invitations set link_shown = false where email = ${email}`;
  expect((await lookUp(token)).body.account).toBe('unconfirmed');
  await sql()`update users set email_verified_at = now() where email = ${email}`;
  expect((await lookUp(token)).body.account).toBe('existing');
  // Single sign-on needs a provider and the verified domain of this organization.
  const domain = email.split('@')[1]!;
  const addDomain = (orgId: string, name: string, verifiedAt: Date | null) => sql()`
    insert into sso_domains (id, org_id, domain, token, verified_at)
    values (${randomUUID()}, ${orgId}, ${name}, 't', ${verifiedAt})`;
  const addProvider = (orgId: string, breakGlassUserId: string | null) => sql()`
    insert into sso_connections (id, org_id, issuer, client_id, key_id, nonce, ciphertext, break_glass_user_id)
    values (${randomUUID()}, ${orgId}, 'https://idp.example.com', 'c', '', '', '', ${breakGlassUserId})`;
  const elsewhere = await plane().createMember('owner');
  await addProvider(elsewhere.orgId, elsewhere.userId);
  await addDomain(elsewhere.orgId, domain, new Date());
  await addDomain(owner.orgId, domain, null);
  await addDomain(owner.orgId, 'another.example.com', new Date());
  expect((await lookUp(token)).body).toMatchObject({ sso: false, ssoRequired: false });
  await addProvider(owner.orgId, null);
  expect((await lookUp(token)).body).toMatchObject({ sso: false, ssoRequired: false });
  await sql()`update sso_domains set verified_at = null where org_id = ${elsewhere.orgId}`;
  await sql()`update sso_domains set verified_at = now() where org_id = ${owner.orgId} and domain = ${domain}`;
  expect((await lookUp(token)).body).toMatchObject({ sso: true, ssoRequired: false });
  await sql()`update sso_connections set break_glass_user_id = ${owner.userId} where org_id = ${owner.orgId}`;
  expect((await lookUp(token)).body).toMatchObject({ sso: true, ssoRequired: true });
  // The inviter is a member of another organization only.
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${owner.userId}, 'viewer')`;
  await sql()`delete from memberships where user_id = ${owner.userId} and org_id = ${owner.orgId}`;
  expect((await lookUp(token)).body).toMatchObject({ orgName: 'Test org', inviter: null });
  expect((await lookUp('unknown')).body).toEqual({ error: expect.stringContaining('ask for a new invitation') });
});

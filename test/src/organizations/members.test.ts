import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const accept = (body: object) => plane().call('POST', '/v1/invitations/accept', { body });

async function inviteMember(by: Member, role = 'member') {
  const email = newEmail();
  const { status, body } = await by.call('POST', '/v1/members', { email, role });
  expect(status).toBe(201);
  return { email, id: body.member.userId as string, ...(await plane().waitForMail(email, 'Invitation')) };
}

test('invitation: a new person becomes user and member, is logged in, and the token works once', async () => {
  const owner = await plane().createMember('owner');
  const { email, id, token, text } = await inviteMember(owner, 'admin');
  expect(text).toContain('to the organization Test org as admin');
  const list = await owner.call('GET', '/v1/members');
  expect(list.body).toMatchObject({ total: 2, limit: 50, offset: 0 });
  expect(list.body.members[0]).toEqual({
    userId: id,
    email,
    name: null,
    role: 'admin',
    status: 'invited',
    emailVerified: false,
    lastSeenAt: null,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(await accept({ token })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('name is required') },
  });
  const joined = await accept({ token, name: 'Grace', password: 'a long password' });
  expect(joined.status).toBe(200);
  expect(joined.body).toMatchObject({ user: { email, name: 'Grace' }, orgId: owner.orgId, orgs: [{ role: 'admin' }] });
  const me = await plane().call('GET', '/v1/me', { token: joined.body.token });
  expect(me.body).toMatchObject({ orgId: owner.orgId, role: 'admin', user: { emailVerified: false } });
  expect((await accept({ token, name: 'Grace', password: 'a long password' })).status).toBe(400);
  const login = await plane().call('POST', '/v1/auth/login', { body: { email, password: 'a long password' } });
  expect(login.status).toBe(200);
});

async function signUp(verified: boolean) {
  const body = { email: newEmail(), password: 'the first password', name: 'Ada', orgName: 'Own' };
  const own = (await plane().call('POST', '/v1/auth/signup', { body })).body;
  if (verified) {
    const { token } = await plane().waitForMail(body.email, 'Confirm');
    await plane().call('POST', '/v1/auth/verify-email', { body: { token } });
  }
  return { ...body, own };
}

const login = (email: string, password: string) =>
  plane().call('POST', '/v1/auth/login', { body: { email, password } });

test('invitation: a second one replaces the first; a cancelled, changed or expired one follows', async () => {
  const owner = await plane().createMember('owner');
  const first = await inviteMember(owner);
  const again = await owner.call('POST', '/v1/members', { email: first.email, role: 'viewer' });
  expect(again.status).toBe(201);
  expect((await accept({ token: first.token, name: 'x', password: 'a long password' })).status).toBe(400);
  expect((await owner.call('GET', '/v1/members')).body.total).toBe(2);
  const changed = await owner.call('PATCH', `/v1/members/${again.body.member.userId}`, { role: 'admin' });
  expect(changed.body.member).toMatchObject({ role: 'admin', status: 'invited' });
  expect((await owner.call('DELETE', `/v1/members/${again.body.member.userId}`)).body).toEqual({ deleted: true });
  expect((await owner.call('GET', '/v1/members')).body.total).toBe(1);
  const expired = await inviteMember(owner);
  await plane().database.sql`update invitations set expires_at = now() where id = ${expired.id}`;
  expect((await accept({ token: expired.token, name: 'x', password: 'a long password' })).status).toBe(400);
});

test('invitation: a member is 409; ten concurrent acceptances create one user', async () => {
  const owner = await plane().createMember('owner');
  const { email, token } = await inviteMember(owner);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => accept({ token, name: 'Ten', password: 'a long password' })),
  );
  expect(answers.map((a) => a.status).sort()).toEqual([200, ...Array(9).fill(400)]);
  expect((await owner.call('POST', '/v1/members', { email, role: 'viewer' })).status).toBe(409);
});

test('roles: an admin manages all members except owners', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const viewer = await plane().createMember('viewer', owner.orgId);
  const setRole = (by: Member, of: Member, role: string) => by.call('PATCH', `/v1/members/${of.userId}`, { role });
  expect((await setRole(admin, viewer, 'admin')).body.member).toMatchObject({ userId: viewer.userId, role: 'admin' });
  expect((await setRole(admin, viewer, 'owner')).status).toBe(403);
  expect((await setRole(admin, owner, 'viewer')).status).toBe(403);
  expect((await admin.call('DELETE', `/v1/members/${owner.userId}`)).status).toBe(403);
  expect((await admin.call('POST', '/v1/members', { email: newEmail(), role: 'owner' })).status).toBe(403);
  const heir = newEmail();
  expect((await owner.call('POST', '/v1/members', { email: heir, role: 'owner' })).status).toBe(201);
  expect((await admin.call('POST', '/v1/members', { email: heir, role: 'viewer' })).status).toBe(403);
  expect((await setRole(owner, viewer, 'owner')).status).toBe(200);
  expect((await setRole(owner, owner, 'viewer')).status).toBe(200);
  expect((await owner.call('POST', '/v1/members', { email: newEmail(), role: 'viewer' })).status).toBe(403);
});

test('the last owner can be neither removed nor demoted', async () => {
  const owner = await plane().createMember('owner');
  await inviteMember(owner, 'owner'); // an open invitation is no owner yet
  expect((await owner.call('DELETE', `/v1/members/${owner.userId}`)).status).toBe(409);
  expect((await owner.call('PATCH', `/v1/members/${owner.userId}`, { role: 'admin' })).status).toBe(409);
  expect((await owner.call('PATCH', `/v1/members/${owner.userId}`, { role: 'owner' })).status).toBe(200);
});

test.each(['DELETE', 'PATCH'])('two owners who %s each other concurrently: one owner remains', async (method) => {
  for (let round = 0; round < 10; round++) {
    const one = await plane().createMember('owner');
    const two = await plane().createMember('owner', one.orgId);
    const body = method === 'PATCH' ? { role: 'viewer' } : undefined;
    const answers = await Promise.all([
      one.call(method, `/v1/members/${two.userId}`, body),
      two.call(method, `/v1/members/${one.userId}`, body),
    ]);
    const statuses = answers.map((a) => a.status).sort();
    expect(statuses[0]).toBe(200);
    expect([401, 403, 409]).toContain(statuses[1]);
    const [left] = await plane().database.sql<{ n: number }[]>`
      select count(*) n from memberships where org_id = ${one.orgId} and role = 'owner'`;
    expect(left!.n).toBe(1);
  }
});

test('a removed member is out at once, and a demoted one has the new role at once', async () => {
  const owner = await plane().createMember('owner');
  const other = await plane().createMember('admin', owner.orgId);
  await owner.call('PATCH', `/v1/members/${other.userId}`, { role: 'viewer' });
  expect((await other.call('POST', '/v1/projects', { name: 'x' })).status).toBe(403);
  expect((await other.call('GET', '/v1/projects')).status).toBe(200);
  await owner.call('DELETE', `/v1/members/${other.userId}`);
  expect((await other.call('GET', '/v1/projects')).status).toBe(401);
  expect((await other.call('POST', '/v1/auth/refresh')).status).toBe(401);
});

test('leave: a member of any role can leave, loses access at once, and the trail records it', async () => {
  const owner = await plane().createMember('owner');
  for (const role of ['viewer', 'member', 'admin', 'owner'] as const) {
    const member = await plane().createMember(role, owner.orgId);
    expect(await member.call('DELETE', '/v1/members/me')).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await member.call('GET', '/v1/projects')).status).toBe(401);
    const { body } = await owner.call('GET', `/v1/audit?action=member.leave&actorId=${member.userId}`);
    expect(body.entries).toMatchObject([
      {
        target: { type: 'user', id: member.userId },
        changes: { role: [role, null], email: [expect.any(String), null] },
      },
    ]);
  }
  expect((await owner.call('GET', '/v1/members')).body.total).toBe(1);
});

test('leave: the last owner cannot leave', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const refused = await owner.call('DELETE', '/v1/members/me');
  expect(refused).toMatchObject({ status: 409, body: { error: expect.stringContaining('last owner') } });
  await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'owner' });
  expect((await owner.call('DELETE', '/v1/members/me')).status).toBe(200);
  expect((await admin.call('DELETE', '/v1/members/me')).status).toBe(409);
});

test('leave: the other organizations of the user stay, and the next login is in one of them', async () => {
  const owner = await plane().createMember('owner');
  const { email, password, own } = await signUp(true);
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const { token } = await plane().waitForMail(email, 'Invitation');
  const joined = await accept({ token, password });
  expect(joined.body.orgId).toBe(owner.orgId);
  expect((await plane().call('DELETE', '/v1/members/me', { token: joined.body.token })).status).toBe(200);
  expect((await plane().call('GET', '/v1/me', { token: own.token })).body.orgs).toHaveLength(1);
  expect((await login(email, password)).body).toMatchObject({ orgId: own.org.id, orgs: [{ role: 'owner' }] });
});

test('leave: of two owners who leave concurrently one remains', async () => {
  for (let round = 0; round < 10; round++) {
    const one = await plane().createMember('owner');
    const two = await plane().createMember('owner', one.orgId);
    const answers = await Promise.all([one, two].map((owner) => owner.call('DELETE', '/v1/members/me')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  }
});

test('login of a user without an organization is 403', async () => {
  const owner = await plane().createMember('owner');
  const { email, token } = await inviteMember(owner);
  const password = 'a long password';
  const { user } = (await accept({ token, name: 'Gone', password })).body;
  await owner.call('DELETE', `/v1/members/${user.id}`);
  expect((await plane().call('POST', '/v1/auth/login', { body: { email, password } })).status).toBe(403);
});

test('audit: actor, action, time, IP, before and after; filtered; newest first', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const viewer = await plane().createMember('viewer', owner.orgId);
  await owner.call('PATCH', `/v1/members/${viewer.userId}`, { role: 'member' });
  const project = (await admin.call('POST', '/v1/projects', { name: 'Audited' })).body.project;
  const all = await admin.call('GET', '/v1/audit');
  expect(all.body).toMatchObject({ total: 2, limit: 50, offset: 0 });
  expect(all.body.entries[0]).toMatchObject({
    action: 'project.create',
    target: { type: 'project', id: project.id, name: 'Audited' },
  });
  expect(all.body.entries[1]).toEqual({
    id: expect.any(String),
    at: expect.stringMatching(/Z$/),
    actor: { userId: owner.userId, email: expect.stringContaining('@example.com') },
    action: 'member.update',
    target: { type: 'user', id: viewer.userId, name: null },
    ip: '127.0.0.1',
    changes: { role: ['viewer', 'member'] },
  });
  const today = new Date().toISOString().slice(0, 10);
  for (const [query, total] of [
    [`actorId=${owner.userId}`, 1],
    ['action=project.create', 1],
    ['action=nothing.at_all', 0],
    [`start=${today}`, 2],
    [`end=${today}`, 2],
    ['end=2020-01-01', 0],
    ['start=2999-01-01', 0],
    [`start=${today}&end=${today}&action=member.update&actorId=${owner.userId}`, 1],
  ] as const) {
    expect([query, (await admin.call('GET', `/v1/audit?${query}`)).body.total]).toEqual([query, total]);
  }
  for (const query of ['actorId=x', 'start=yesterday', 'end=2020-13-01', 'action=A']) {
    expect([query, (await admin.call('GET', `/v1/audit?${query}`)).status]).toEqual([query, 400]);
  }
  expect((await (await plane().createMember('member', owner.orgId)).call('GET', '/v1/audit')).status).toBe(403);
});

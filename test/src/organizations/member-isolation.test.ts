/** A change of one member or invitation leaves all others, and all other organizations, as they are. */
import { randomBytes, randomUUID } from 'node:crypto';
import { findInvitedRole, isBreakGlassOwner } from '@acg/controlplane/members/store';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;

/** An invitation, a management token, an approved device and a waiting link, by that member in that organization. */
async function createHoldings(userId: string, orgId: string): Promise<void> {
  await sql()`
    insert into invitations (id, org_id, email, role, token_hash, invited_by, expires_at)
    values (${randomUUID()}, ${orgId}, ${newEmail()}, 'viewer', ${randomBytes(32)}, ${userId}, now() + interval '1 day')`;
  await sql()`
    insert into management_tokens (id, org_id, name, role, token_prefix, token_hash, created_by)
    values (${randomUUID()}, ${orgId}, 'CI', 'viewer', 'acgm_', ${randomBytes(32)}, ${userId})`;
  await sql()`
    insert into device_logins (id, device_code_hash, user_code_hash, client, hostname, ip, status, user_id, org_id, role,
                               session_version, expires_at)
    values (${randomUUID()}, ${randomBytes(32)}, ${randomBytes(32)}, 'acg', 'host', '127.0.0.1', 'approved', ${userId},
            ${orgId}, 'viewer', 1, now() + interval '5 minutes')`;
  await sql()`
    insert into sso_links (browser_hash, org_id, issuer, subject, user_id, expires_at)
    values (${randomBytes(32)}, ${orgId}, 'https://idp.example.com', ${userId}, ${userId}, now() + interval '5 minutes')`;
}

/** Tables with their column of the person. */
const HOLDINGS = [
  ['memberships', 'user_id'],
  ['invitations', 'invited_by'],
  ['management_tokens', 'created_by'],
  ['sessions', 'user_id'],
  ['device_logins', 'user_id'],
  ['sso_links', 'user_id'],
] as const;

/** All that is stored, but for what that person has in that organization, and the invitation with that id. */
async function readOthers({ userId, orgId }: Pick<Member, 'userId' | 'orgId'>, invitationId: string = randomUUID()) {
  const rows = [];
  for (const [table, person] of HOLDINGS)
    rows.push(
      await sql()`
        select t::text from ${sql()(table)} t
         where (${sql()(person)} is distinct from ${userId} or org_id <> ${orgId})
           and ${table === 'invitations' ? sql()`id <> ${invitationId}` : sql()`true`} order by t::text`,
    );
  rows.push(await sql()`select id, active_org_id from users where id <> ${userId} order by id`);
  return rows;
}
const countHoldings = async ({ userId, orgId }: Pick<Member, 'userId' | 'orgId'>) => {
  const counts: Record<string, number> = {};
  for (const [table, person] of HOLDINGS)
    counts[table] = (
      await sql()`
        select 1 from ${sql()(table)} where ${sql()(person)} = ${userId} and org_id = ${orgId}
           and ${table === 'device_logins' ? sql()`status = 'approved'` : sql()`true`}`
    ).length;
  return counts;
};

/** A member of two organizations, with a colleague in the one and a stranger in the other; all of them hold something. */
async function createPeople() {
  const owner = await plane().createMember('owner');
  const member = await plane().createMember('admin', owner.orgId);
  const colleague = await plane().createMember('admin', owner.orgId);
  const stranger = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${stranger.orgId}, ${member.userId}, 'admin')`;
  await sql()`
    insert into sessions (id, user_id, org_id, kind, ip, user_agent, expires_at)
    values (${randomUUID()}, ${member.userId}, ${stranger.orgId}, 'api', '127.0.0.1', 'other', now() + interval '1 day')`;
  for (const { userId, orgId } of [member, colleague, stranger, { ...member, orgId: stranger.orgId }])
    await createHoldings(userId, orgId);
  for (const { userId, orgId } of [member, colleague, stranger])
    await sql()`update users set active_org_id = ${orgId} where id = ${userId}`;
  return { owner, member, stranger };
}
const activeOrgOf = async ({ userId }: Member): Promise<unknown> =>
  (await sql()`select active_org_id as org from users where id = ${userId}`)[0]!.org;

test('a removal takes what the member holds in the organization, and nothing else', async () => {
  const { owner, member, stranger } = await createPeople();
  const before = await readOthers(member);
  expect(await countHoldings(member)).toEqual(Object.fromEntries(HOLDINGS.map(([table]) => [table, 1])));
  expect((await owner.call('DELETE', `/v1/members/${member.userId}`)).status).toBe(200);
  expect(await readOthers(member)).toEqual(before);
  expect(await countHoldings(member)).toEqual(Object.fromEntries(HOLDINGS.map(([table]) => [table, 0])));
  expect(await activeOrgOf(member)).toBeNull();
  // Where another organization is the active one, it stays.
  await sql()`update users set active_org_id = ${owner.orgId} where id = ${member.userId}`;
  expect((await stranger.call('DELETE', `/v1/members/${member.userId}`)).status).toBe(200);
  expect(await activeOrgOf(member)).toBe(owner.orgId);
});

test('the end of all sessions takes sessions and devices of the member in the organization, and nothing else', async () => {
  const { owner, member } = await createPeople();
  const before = await readOthers(member);
  expect((await owner.call('DELETE', `/v1/members/${member.userId}/sessions`)).status).toBe(200);
  expect(await readOthers(member)).toEqual(before);
  const entries = await sql()`
    select changes from audit_entries where org_id = ${owner.orgId} and action = 'member.end_sessions'`;
  expect(entries).toEqual([{ changes: { session: ['all', null] } }]);
  const all = Object.fromEntries(HOLDINGS.map(([table]) => [table, 1]));
  expect(await countHoldings(member)).toEqual({ ...all, sessions: 0, device_logins: 0 });
});

test('a lower role takes the own invitations of the member in the organization, and nothing else; a higher one takes none', async () => {
  const { owner, member } = await createPeople();
  const setRole = async (role: string) => {
    const before = await readOthers(member);
    expect((await owner.call('PATCH', `/v1/members/${member.userId}`, { role })).status).toBe(200);
    expect(await readOthers(member)).toEqual(before);
    const [row] =
      await sql()`select role from memberships where org_id = ${owner.orgId} and user_id = ${member.userId}`;
    expect(row).toEqual({ role });
    return (await countHoldings(member)).invitations;
  };
  expect(await setRole('owner')).toBe(1);
  expect(await setRole('member')).toBe(0);
});

test('an invitation that is changed, replaced, resent or revoked leaves all others, also one of another organization to the same address', async () => {
  const { owner, member, stranger } = await createPeople();
  const email = newEmail();
  await stranger.call('POST', '/v1/members', { email, role: 'viewer' });
  const invite = async (role: string): Promise<string> =>
    (await owner.call('POST', '/v1/members', { email, role })).body.member.userId;
  let id = await invite('viewer');
  // The inviter is the owner, who has sent no other invitation.
  const unchanged = async (work: () => Promise<unknown>) => {
    const nobody = { userId: randomUUID(), orgId: owner.orgId };
    const before = await readOthers(nobody, id);
    await work();
    expect(await readOthers(nobody, id)).toEqual(before);
  };
  const stored = () => sql()`
    select role, invited_by as "invitedBy" from invitations where org_id = ${owner.orgId} and email = ${email}`;
  await unchanged(() => owner.call('PATCH', `/v1/members/${id}`, { role: 'member' }));
  expect(await stored()).toEqual([{ role: 'member', invitedBy: owner.userId }]);
  for (const next of [
    () => invite('admin'),
    async () => (await owner.call('POST', `/v1/members/${id}/resend`)).body.member.userId,
  ]) {
    const former = id;
    const nobody = { userId: randomUUID(), orgId: owner.orgId };
    const before = await readOthers(nobody, former);
    id = await next();
    expect(id).not.toBe(former);
    expect(await readOthers(nobody, id)).toEqual(before);
    expect(await stored()).toEqual([{ role: 'admin', invitedBy: owner.userId }]);
  }
  await unchanged(() => owner.call('DELETE', `/v1/members/${id}`));
  expect(await stored()).toEqual([]);
  expect((await member.call('GET', '/v1/me')).status).toBe(200);
});

test('the acceptance of an invitation uses up that one only', async () => {
  const { owner, stranger } = await createPeople();
  const email = newEmail();
  await stranger.call('POST', '/v1/members', { email, role: 'viewer' });
  const invited = await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const token = new URL(invited.body.invitationUrl).hash.replace(/^#token=/, '');
  const count = async () => (await sql()`select 1 from invitations`).length;
  const before = await count();
  const body = { token, name: 'Ada', password: 'correct horse battery' };
  expect((await plane().call('POST', '/v1/invitations/accept', { body })).status).toBe(200);
  expect(await count()).toBe(before - 1);
});

test.each([
  ['role=owner', ['owner']],
  ['role=member', ['invited']],
  ['status=active', ['owner', 'admin']],
  ['status=invited', ['invited']],
  ['search=GRACE', ['admin']],
  ['search=invited%40', ['invited']],
  ['search=nobody', []],
  ['sort=role&order=desc', ['owner', 'admin', 'invited']],
  ['sort=email&order=asc', ['admin', 'invited', 'owner']],
])('the list with %s', async (query, expected) => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const suffix = newEmail();
  await sql()`update users set email = ${`z-${suffix}`} where id = ${owner.userId}`;
  await sql()`update users set email = ${`a-${suffix}`}, name = 'Grace Hopper' where id = ${admin.userId}`;
  const invitation = { email: `invited@${suffix.replace('@', '.')}`, role: 'member' };
  const { body: invited } = await owner.call('POST', '/v1/members', invitation);
  const names = new Map([
    [owner.userId, 'owner'],
    [admin.userId, 'admin'],
    [invited.member.userId, 'invited'],
  ]);
  const { body } = await owner.call('GET', `/v1/members?${query}`);
  const found: string[] = body.members.map(({ userId }: { userId: string }) => names.get(userId));
  expect(query.startsWith('sort') ? found : new Set(found)).toEqual(
    query.startsWith('sort') ? expected : new Set(expected),
  );
  expect(body.total).toBe(expected.length);
});

test('the list shows of each member the last request in this organization', async () => {
  const { owner, member, stranger } = await createPeople();
  const setSeen = (orgId: string, hours: number) => sql()`
    update sessions set last_seen_at = now() - make_interval(hours => ${hours})
     where user_id = ${member.userId} and org_id = ${orgId}`;
  await setSeen(owner.orgId, 5);
  await setSeen(stranger.orgId, 3);
  const hoursOf = async (by: Member) => {
    const { members } = (await by.call('GET', '/v1/members?limit=100')).body;
    const { lastSeenAt } = members.find(({ userId }: { userId: string }) => userId === member.userId);
    return Math.round((Date.now() - Date.parse(lastSeenAt)) / 3_600_000);
  };
  expect([await hoursOf(owner), await hoursOf(stranger)]).toEqual([5, 3]);
});

test('an invited role is that of an open invitation to the address, in the organization, by one who may still invite', async () => {
  const { owner, member, stranger } = await createPeople();
  const email = newEmail();
  const { id } = (
    await sql()`
    insert into invitations (id, org_id, email, role, token_hash, invited_by, expires_at)
    values (${randomUUID()}, ${owner.orgId}, ${email}, 'member', ${randomBytes(32)}, ${member.userId}, now() + interval '1 day')
    returning id`
  )[0]! as { id: string };
  const find = (orgId = owner.orgId, address = email) =>
    plane().service.sql.begin((tx) => findInvitedRole(tx, orgId, address));
  expect(await find()).toBe('member');
  expect(await find(stranger.orgId)).toBeNull();
  expect(await find(owner.orgId, newEmail())).toBeNull();
  for (const [change, restore] of [
    [sql()`expires_at = now() - interval '1 second'`, sql()`expires_at = now() + interval '1 day'`],
    [sql()`role = 'owner'`, sql()`role = 'member'`],
    [sql()`invited_by = null`, sql()`invited_by = ${member.userId}`],
  ] as const) {
    await sql()`update invitations set ${change} where id = ${id}`;
    expect(await find()).toBeNull();
    await sql()`update invitations set ${restore} where id = ${id}`;
    expect(await find()).toBe('member');
  }
  // The inviter may no longer invite here, although elsewhere.
  await sql()`update memberships set role = 'member' where org_id = ${owner.orgId} and user_id = ${member.userId}`;
  expect(await find()).toBeNull();
  await sql()`delete from memberships where org_id = ${owner.orgId} and user_id = ${member.userId}`;
  expect(await find()).toBeNull();
});

test('the break-glass owner is that of the own organization', async () => {
  const { owner, member, stranger } = await createPeople();
  await sql()`
    insert into sso_connections (id, org_id, issuer, client_id, key_id, nonce, ciphertext, break_glass_user_id)
    values (${randomUUID()}, ${owner.orgId}, 'https://idp.example.com', 'c', '', '', '', ${owner.userId})`;
  const isBreakGlass = (orgId: string, userId: string) =>
    plane().service.sql.begin((tx) => isBreakGlassOwner(tx, orgId, userId));
  expect(await isBreakGlass(owner.orgId, owner.userId)).toBe(true);
  expect(await isBreakGlass(owner.orgId, member.userId)).toBe(false);
  expect(await isBreakGlass(stranger.orgId, owner.userId)).toBe(false);
});

test.each([
  ['DELETE', ''],
  ['PATCH', ''],
  ['DELETE', '/sessions'],
])('%s /v1/members/…%s that loses its database connection at any write changes nothing', async (method, path) => {
  const { owner, member } = await createPeople();
  const body = method === 'PATCH' ? { role: 'viewer' } : undefined;
  const change = () => owner.call(method, `/v1/members/${member.userId}${path}`, body);
  expect(await expectCutsChangeNothing(sql(), change)).toMatchObject({ status: 200 });
});

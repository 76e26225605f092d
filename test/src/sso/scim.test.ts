/** SCIM: what a directory may do to memberships, and attacks that gain nothing by it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { callScim, connectDirectory, type Directory, ENTRA_DISABLE, OKTA_DEACTIVATE, patchOf } from './scim-client.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;

const emailOf = async ({ userId }: Member): Promise<string> =>
  (await sql()<{ email: string }[]>`select email from users where id = ${userId}`)[0]!.email;
const roleOf = async ({ userId, orgId }: Member): Promise<string | null> =>
  (await sql()<{ role: string }[]>`select role from memberships where user_id = ${userId} and org_id = ${orgId}`)[0]
    ?.role ?? null;
const actions = async (orgId: string, prefix: string): Promise<readonly string[]> => {
  const rows = await sql()<{ action: string }[]>`
    select action from audit_entries where org_id = ${orgId} and action like ${`${prefix}%`} order by at, id`;
  return rows.map(({ action }) => action);
};

async function createOrganization() {
  const owner = await plane().createMember('owner');
  return { owner, orgId: owner.orgId, directory: await connectDirectory(plane(), owner) };
}

const restore = patchOf({ op: 'replace', path: 'active', value: true });

const entriesOf = async (targetId: string, action: string): Promise<readonly unknown[]> => {
  const rows = await sql()<{ changes: unknown }[]>`
    select changes from audit_entries where target_id = ${targetId} and action = ${action} order by at, id`;
  return rows.map(({ changes }) => changes);
};

const createUser = async (directory: Directory, userName: string): Promise<string> =>
  (await directory.call('POST', '/Users', { userName })).body.id;
const createGroup = async (directory: Directory, displayName: string, users: readonly string[]): Promise<string> => {
  const members = users.map((value) => ({ value }));
  return (await directory.call('POST', '/Groups', { displayName, externalId: `of ${displayName}`, members })).body.id;
};
const membersOf = async (directory: Directory, groupId: string): Promise<readonly string[]> =>
  (await directory.call('GET', `/Groups/${groupId}`)).body.members.map(({ value }: { value: string }) => value);

/** Statements of this database that wait for a lock. */
const lockWaits = async (): Promise<number> =>
  (await sql()`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length;

/** Creates the directory's user of that member. */
async function provision(directory: Directory, member: Member): Promise<string> {
  const created = await directory.call('POST', '/Users', { userName: await emailOf(member), active: true });
  expect(created.status).toBe(201);
  return created.body.id;
}

test.each([
  ['Entra ID', ENTRA_DISABLE],
  ['Okta', OKTA_DEACTIVATE],
])(
  '%s: active false ends the membership with its sessions, device logins and management tokens; true restores it',
  async (_, body) => {
    const { orgId, directory } = await createOrganization();
    const member = await plane().createMember('admin', orgId);
    const id = await provision(directory, member);
    const token = await member.call('POST', '/v1/management-tokens', { name: 'CI', role: 'admin' });
    await member.call('POST', '/v1/members', {
      email: `${randomBytes(4).toString('hex')}@example.com`,
      role: 'viewer',
    });
    await sql()`
    insert into device_logins (id, device_code_hash, user_code_hash, client, hostname, ip, status, user_id, org_id, role,
                               session_version, expires_at)
    values (gen_random_uuid(), ${randomBytes(32)}, ${randomBytes(32)}, 'acg', 'host', '127.0.0.1', 'approved',
            ${member.userId}, ${orgId}, 'admin', 1, now() + interval '5 minutes')`;
    expect((await directory.call('PATCH', `/Users/${id}`, body)).status).toBe(200);
    expect((await member.call('GET', '/v1/me')).status).toBe(401);
    expect((await plane().call('GET', '/v1/agents', { token: token.body.secretToken })).status).toBe(401);
    expect(await sql()`select status from device_logins where org_id = ${orgId}`).toEqual([{ status: 'denied' }]);
    for (const table of ['sessions', 'memberships'])
      expect(await sql()`select 1 from ${sql()(table)} where org_id = ${orgId} and user_id = ${member.userId}`).toEqual(
        [],
      );
    expect(await sql()`select 1 from invitations where org_id = ${orgId}`).toEqual([]);
    expect(await sql()`select 1 from users where id = ${member.userId}`).toHaveLength(1);

    const restored = await directory.call(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'active', value: true }),
    );
    expect(restored.body.active).toBe(true);
    expect(await roleOf(member)).toBe('admin');
    expect((await plane().call('GET', '/v1/agents', { token: token.body.secretToken })).status).toBe(401);
    expect(await actions(orgId, 'member.')).toEqual(['member.invite', 'member.remove', 'member.join']);
    const entries = await sql()`
    select actor_token_name as name, actor_token_id as id from audit_entries
     where org_id = ${orgId} and action = 'member.remove'`;
    expect(entries).toEqual([{ name: 'Directory', id: directory.tokenId }]);
  },
);

test('the account keeps its other organizations', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const elsewhere = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${elsewhere.userId}, 'viewer')`;
  // The other organization has a directory of its own, which knows the person, too.
  await provision(await connectDirectory(plane(), elsewhere), elsewhere);
  const id = await provision(directory, elsewhere);
  await directory.call('PATCH', `/Users/${id}`, ENTRA_DISABLE);
  expect(await roleOf({ ...elsewhere, orgId })).toBeNull();
  expect(await roleOf(elsewhere)).toBe('owner');
  expect((await elsewhere.call('GET', '/v1/me')).status).toBe(200);
  expect((await owner.call('GET', '/v1/scim')).body).toMatchObject({ users: 1, activeUsers: 0, members: 0 });
});

test('a deactivation and a restoration change one person, and what an administrator decides in between stays', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const [ada, eve, bob] = [
    await plane().createMember('admin', orgId),
    await plane().createMember('viewer', orgId),
    await plane().createMember('member', orgId),
  ];
  const ids = [await provision(directory, ada), await provision(directory, eve), await provision(directory, bob)];
  // Removed by an administrator: the deactivation of others gives nothing back.
  expect((await owner.call('DELETE', `/v1/members/${bob.userId}`)).status).toBe(200);
  for (const id of ids.slice(0, 2)) await directory.call('PATCH', `/Users/${id}`, ENTRA_DISABLE);
  await directory.call('PATCH', `/Users/${ids[2]}`, restore);
  expect([await roleOf(ada), await roleOf(eve), await roleOf(bob)]).toEqual([null, null, null]);
  await directory.call('PATCH', `/Users/${ids[0]}`, restore);
  expect([await roleOf(ada), await roleOf(eve)]).toEqual(['admin', null]);
  await directory.call('PATCH', `/Users/${ids[1]}`, restore);
  expect([await roleOf(ada), await roleOf(eve)]).toEqual(['admin', 'viewer']);
  // The role came back once.
  expect((await owner.call('DELETE', `/v1/members/${eve.userId}`)).status).toBe(200);
  await directory.call('PATCH', `/Users/${ids[1]}`, restore);
  expect(await roleOf(eve)).toBeNull();
  // A person who joined again in between keeps the new role; one without an account stays away.
  await directory.call('PATCH', `/Users/${ids[0]}`, ENTRA_DISABLE);
  await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${ada.userId}, 'viewer')`;
  expect((await directory.call('PATCH', `/Users/${ids[0]}`, restore)).status).toBe(200);
  expect(await roleOf(ada)).toBe('viewer');
  await directory.call('PATCH', `/Users/${ids[0]}`, ENTRA_DISABLE);
  await sql()`update scim_users set user_id = null where id = ${ids[0]!}`;
  expect((await directory.call('PATCH', `/Users/${ids[0]}`, restore)).status).toBe(200);
  expect(await roleOf(ada)).toBeNull();
});

test('people who joined after the directory created them are told apart', async () => {
  const { orgId, directory } = await createOrganization();
  const [ada, eve] = [await plane().createMember('owner'), await plane().createMember('owner')];
  const [adasId, evesId] = [await provision(directory, ada), await provision(directory, eve)];
  for (const { userId } of [ada, eve])
    await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${userId}, 'member')`;
  await directory.call('PATCH', `/Users/${evesId}`, ENTRA_DISABLE);
  expect([await roleOf({ ...ada, orgId }), await roleOf({ ...eve, orgId })]).toEqual(['member', null]);
  expect((await directory.call('DELETE', `/Users/${adasId}`)).status).toBe(204);
  expect(await roleOf({ ...ada, orgId })).toBeNull();
});

test('two directory users with one address: the member belongs to the first one', async () => {
  const { orgId, directory } = await createOrganization();
  const member = await plane().createMember('member', orgId);
  await provision(directory, member);
  const emails = [{ value: await emailOf(member) }];
  const second = await directory.call('POST', '/Users', { userName: 'second', emails, active: true });
  expect(second.status).toBe(201);
  await directory.call('PATCH', `/Users/${second.body.id}`, ENTRA_DISABLE);
  expect(await roleOf(member)).toBe('member');
});

test.each<[string, readonly { name?: string; email?: string; active: boolean; isBound?: true }[], string | null]>([
  ['knows nobody', [], null],
  ['knows a person who has not joined', [{ active: true }], 'active'],
  ['knows the person by the user name', [{ name: 'Ada@Example.com', active: true }], 'active'],
  ['knows the address of another person', [{ email: 'eve@example.com', name: 'ada@example.com', active: true }], null],
  ['has a member, who is not to join again', [{ active: true, isBound: true }], null],
  ['has deactivated the person', [{ active: false }], 'inactive'],
  ['has deactivated the member', [{ active: false, isBound: true }], 'inactive'],
  ['has created the person again', [{ active: false }, { active: true }], 'active'],
  ['has deactivated one of two entries of a member', [{ active: true, isBound: true }, { active: false }], 'inactive'],
])('the entry of an address: the directory %s', async (_name, entries, expected) => {
  const { owner, orgId } = await createOrganization();
  for (const [n, { name = `user-${n}`, email = null, active, isBound }] of entries.entries())
    await sql()`
      insert into scim_users (id, org_id, user_name, email, active, user_id)
      values (gen_random_uuid(), ${orgId}, ${name}, ${email ?? (name.includes('@') ? null : 'ada@example.com')}, ${active},
              ${isBound === true ? owner.userId : null})`;
  const { lockDirectoryEntry } = await import('@acg/controlplane/scim/user-store');
  const read = (id: string) => plane().service.sql.begin((tx) => lockDirectoryEntry(tx, id, 'ada@example.com'));
  expect(await read(orgId)).toBe(expected);
  // The directory of another organization has no say.
  expect(await read((await plane().createMember('owner')).orgId)).toBeNull();
});

test('a deletion ends the membership; the same person can be created again', async () => {
  const { orgId, directory } = await createOrganization();
  const member = await plane().createMember('member', orgId);
  const id = await provision(directory, member);
  const colleague = await directory.call('POST', '/Users', { userName: 'colleague' });
  const elsewhere = await createOrganization();
  const stranger = await elsewhere.directory.call('POST', '/Users', { userName: 'stranger' });
  expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await directory.call('GET', `/Users/${colleague.body.id}`)).body.id).toBe(colleague.body.id);
  expect((await elsewhere.directory.call('GET', `/Users/${stranger.body.id}`)).status).toBe(200);
  expect(await roleOf(member)).toBeNull();
  expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(404);
  await provision(directory, member);
  expect(await roleOf(member)).toBeNull();
});

test('the last owner cannot be deactivated, and nothing of the request happens; another owner comes back as admin', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const id = await provision(directory, owner);
  const rejected = await directory.call('PATCH', `/Users/${id}`, OKTA_DEACTIVATE);
  expect(rejected).toMatchObject({ status: 409, body: { detail: expect.stringContaining('last owner') } });
  expect((await directory.call('GET', `/Users/${id}`)).body.active).toBe(true);
  expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(409);
  expect(await roleOf(owner)).toBe('owner');
  const second = await plane().createMember('owner', orgId);
  const secondId = await provision(directory, second);
  await directory.call('PATCH', `/Users/${secondId}`, ENTRA_DISABLE);
  expect(await roleOf(second)).toBeNull();
  await directory.call('PATCH', `/Users/${secondId}`, patchOf({ op: 'Replace', path: 'active', value: 'True' }));
  expect(await roleOf(second)).toBe('admin');
});

test('a user of the directory opens nothing: no account, no membership, no invitation', async () => {
  const { orgId, directory } = await createOrganization();
  const other = await plane().createMember('owner');
  const email = await emailOf(other);
  expect((await directory.call('POST', '/Users', { userName: email })).status).toBe(201);
  expect((await directory.call('POST', '/Users', { userName: 'nobody@example.com' })).status).toBe(201);
  expect(await sql()`select 1 from memberships where org_id = ${orgId}`).toHaveLength(1);
  expect(await sql()`select 1 from users where email = 'nobody@example.com'`).toEqual([]);
});

test('a member that an administrator removed does not come back by active true', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const member = await plane().createMember('member', orgId);
  const id = await provision(directory, member);
  expect((await owner.call('DELETE', `/v1/members/${member.userId}`)).status).toBe(200);
  await directory.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: true } }));
  expect(await roleOf(member)).toBeNull();
});

test('deactivation also ends an open invitation, and each further active false ends a new membership', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const email = `${randomBytes(5).toString('hex')}@example.com`;
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const created = await directory.call('POST', '/Users', {
    userName: 'login-name',
    emails: [{ value: email.toUpperCase() }],
  });
  await directory.call('PATCH', `/Users/${created.body.id}`, ENTRA_DISABLE);
  expect(await sql()`select 1 from invitations where org_id = ${orgId}`).toEqual([]);
  const member = await plane().createMember('viewer', orgId);
  await sql()`update users set email = ${email} where id = ${member.userId}`;
  await directory.call('PATCH', `/Users/${created.body.id}`, ENTRA_DISABLE);
  expect(await roleOf(member)).toBeNull();
});

test('the token of another organization, a deleted one, one of a deleted organization, and other credentials reach nothing', async () => {
  const own = await createOrganization();
  const foreign = await createOrganization();
  const created = await own.directory.call('POST', '/Users', { userName: 'ada@example.com' });
  const group = await own.directory.call('POST', '/Groups', { displayName: 'Engineers' });
  for (const [method, path, body] of [
    ['GET', `/Users/${created.body.id}`, undefined],
    ['PUT', `/Users/${created.body.id}`, { userName: 'x' }],
    ['PATCH', `/Users/${created.body.id}`, ENTRA_DISABLE],
    ['DELETE', `/Users/${created.body.id}`, undefined],
    ['GET', `/Groups/${group.body.id}`, undefined],
    ['PUT', `/Groups/${group.body.id}`, { displayName: 'x' }],
    ['PATCH', `/Groups/${group.body.id}`, patchOf({ op: 'replace', path: 'displayName', value: 'x' })],
    ['DELETE', `/Groups/${group.body.id}`, undefined],
  ] as const)
    expect({ method, path, ...(await foreign.directory.call(method, path, body)) }).toMatchObject({ status: 404 });
  expect((await foreign.directory.call('GET', '/Users')).body.totalResults).toBe(0);
  const mixed = await foreign.directory.call('POST', '/Groups', {
    displayName: 'x',
    members: [{ value: created.body.id }],
  });
  expect(mixed).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
  expect((await foreign.directory.call('GET', '/Groups')).body.totalResults).toBe(0);
  const member = await plane().createMember('owner');
  const management = await member.call('POST', '/v1/management-tokens', { name: 'CI', role: 'admin' });
  for (const token of [null, member.token, management.body.secretToken, `acgs_${'0'.repeat(64)}`])
    expect((await callScim(plane().url, token, 'GET', '/Users')).status).toBe(401);
  // A SCIM token is no token of the management API.
  expect((await plane().call('GET', '/v1/agents', { token: own.directory.token })).status).toBe(401);
  expect((await foreign.owner.call('DELETE', `/v1/scim/tokens/${own.directory.tokenId}`)).status).toBe(404);
  const spare = await connectDirectory(plane(), own.owner);
  expect((await own.owner.call('DELETE', `/v1/scim/tokens/${own.directory.tokenId}`)).body).toEqual({ deleted: true });
  expect((await own.owner.call('DELETE', `/v1/scim/tokens/${own.directory.tokenId}`)).status).toBe(404);
  expect(await entriesOf(own.directory.tokenId, 'scim_token.delete')).toEqual([{ name: ['Directory', null] }]);
  expect((await spare.call('GET', '/Users')).status).toBe(200);
  expect(await own.directory.call('GET', '/Users')).toMatchObject({ status: 401, body: { status: '401' } });
  await sql()`update organizations set purge_at = now() + interval '7 days' where id = ${foreign.orgId}`;
  expect((await foreign.directory.call('GET', '/Users')).status).toBe(401);
});

test('tokens: owners create at most five, no list has a secret, and each is hashed', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const admin = await plane().createMember('admin', orgId);
  expect((await admin.call('POST', '/v1/scim/tokens', { name: 'x' })).status).toBe(403);
  expect((await admin.call('DELETE', `/v1/scim/tokens/${directory.tokenId}`)).status).toBe(403);
  for (let n = 1; n < 5; n++) expect((await owner.call('POST', '/v1/scim/tokens', { name: `t${n}` })).status).toBe(201);
  expect((await owner.call('POST', '/v1/scim/tokens', { name: 'sixth' })).status).toBe(409);
  await directory.call('GET', '/Users');
  const settings = await admin.call('GET', '/v1/scim');
  expect(settings.body).toMatchObject({
    baseUrl: `${plane().config.publicUrl}/scim/v2`,
    users: 0,
    tokens: [
      {
        name: 'Directory',
        tokenPrefix: directory.token.slice(0, 13),
        lastUsedAt: expect.any(String),
        createdBy: owner.userId,
      },
      {},
      {},
      {},
      {},
    ],
  });
  expect(JSON.stringify(settings.body)).not.toContain(directory.token);
  const dump = await sql()`select t::text from scim_tokens t where org_id = ${orgId}`;
  expect(JSON.stringify(dump)).not.toContain(directory.token.slice(13));
  const member = await plane().createMember('member', orgId);
  await provision(directory, member);
  const gone = await directory.call('POST', '/Users', { userName: 'gone', active: false });
  expect(gone.body.active).toBe(false);
  await directory.call('POST', '/Groups', { displayName: 'All' });
  expect((await admin.call('GET', '/v1/scim')).body).toMatchObject({ users: 2, activeUsers: 1, members: 1, groups: 1 });
  expect(await actions(orgId, 'scim_')).toEqual(
    expect.arrayContaining(['scim_token.create', 'scim_user.create', 'scim_group.create']),
  );
});

test('a token needs a confirmed owner, and an organization that stays', async () => {
  const { owner, orgId } = await createOrganization();
  await sql()`
    insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at)
    values (${owner.userId}, 'test', 'n', 'c', now())`;
  const create = () => owner.call('POST', '/v1/scim/tokens', { name: 'next' });
  expect(await create()).toMatchObject({ status: 403, body: { secondFactor: true } });
  await sql()`delete from second_factors where user_id = ${owner.userId}`;
  // The deletion of the organization begins while the request waits for it.
  let creation: ReturnType<typeof create>;
  await sql().begin(async (tx) => {
    await tx`update organizations set purge_at = now() + interval '7 days' where id = ${orgId}`;
    creation = create();
    await waitUntil('the creation waits for the organization', async () => (await lockWaits()) >= 1);
  });
  expect(await creation!).toMatchObject({ status: 409, body: { error: expect.stringContaining('being deleted') } });
  expect(await sql()`select 1 from scim_tokens where org_id = ${orgId} and name = 'next'`).toEqual([]);
});

test('two owners who create the fifth token at the same moment get one', async () => {
  const { owner, orgId } = await createOrganization();
  for (let n = 1; n < 4; n++) await owner.call('POST', '/v1/scim/tokens', { name: `t${n}` });
  let creations: Promise<readonly { status: number }[]>;
  await sql().begin(async (tx) => {
    await tx`select 1 from organizations where id = ${orgId} for no key update`;
    creations = Promise.all(['a', 'b'].map((name) => owner.call('POST', '/v1/scim/tokens', { name })));
    await waitUntil('both wait for the organization', async () => (await lockWaits()) === 2);
  });
  expect((await creations!).map(({ status }) => status).sort()).toEqual([201, 409]);
});

test('a token that is deleted while its request waits changes nothing any more', async () => {
  const { owner, orgId, directory } = await createOrganization();
  let creation: ReturnType<Directory['call']>;
  await sql().begin(async (tx) => {
    await tx`select 1 from organizations where id = ${orgId} for no key update`;
    creation = directory.call('POST', '/Users', { userName: 'late' });
    await waitUntil('the directory waits for the organization', async () => (await lockWaits()) >= 1);
    expect((await owner.call('DELETE', `/v1/scim/tokens/${directory.tokenId}`)).status).toBe(200);
  });
  expect((await creation!).status).toBe(401);
  expect(await sql()`select 1 from scim_users where org_id = ${orgId}`).toEqual([]);
});

test('the last use of a token is written once a minute, also by requests at the same moment', async () => {
  const { owner, directory } = await createOrganization();
  const other = (await owner.call('POST', '/v1/scim/tokens', { name: 'other' })).body.token.id;
  const { tokenId: id } = directory;
  const { findLiveToken, markTokenUsed } = await import('@acg/controlplane/scim/token-store');
  const { hashScimToken } = await import('@acg/controlplane/scim/scim-token');
  const setAge = (seconds: number) =>
    sql()`update scim_tokens set last_used_at = now() - make_interval(secs => ${seconds}) where id = ${id}`;
  const readAge = async (): Promise<number> => {
    const [row] = await sql()<{ age: number }[]>`
      select extract(epoch from now() - last_used_at)::float8 as age from scim_tokens where id = ${id}`;
    return row!.age;
  };
  for (const [age, isWritten] of [
    [50, false],
    [60.2, true],
  ] as const) {
    await setAge(age);
    const live = await findLiveToken(sql() as never, hashScimToken(directory.token));
    expect({ age, live }).toMatchObject({ live: { id, shouldMarkUsed: isWritten } });
    await markTokenUsed(sql() as never, id);
    expect((await readAge()) < 50).toBe(isWritten);
  }
  await setAge(3_600);
  await directory.call('GET', '/Users');
  expect(await readAge()).toBeLessThan(3_000);
  expect(await sql()`select last_used_at as at from scim_tokens where id = ${other}`).toEqual([{ at: null }]);
});

test('requests that break a rule get an error of SCIM and change nothing', async () => {
  const { directory } = await createOrganization();
  const { body: user } = await directory.call('POST', '/Users', { userName: 'ada@example.com' });
  const { body: group } = await directory.call('POST', '/Groups', { displayName: 'A' });
  const path = `/Users/${user.id}`;
  const cases: readonly (readonly [string, string, unknown, number, string?])[] = [
    ['POST', '/Users', {}, 400, 'invalidValue'],
    ['POST', '/Users', { userName: ' ' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 7 }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x'.repeat(255) }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x', active: 'perhaps' }, 400, 'invalidValue'],
    ['POST', '/Users', { userName: 'x', name: 'y' }, 400, 'invalidValue'],
    ['POST', '/Users', [], 400],
    ['PATCH', path, {}, 400, 'invalidSyntax'],
    ['PATCH', path, patchOf(), 400, 'invalidSyntax'],
    ['PATCH', path, patchOf({ op: 'move', path: 'active', value: true }), 400, 'invalidSyntax'],
    ['PATCH', path, patchOf({ op: 'remove' }), 400, 'invalidPath'],
    ['PATCH', path, patchOf({ op: 'replace', path: 7, value: 1 }), 400, 'invalidPath'],
    ['PATCH', path, patchOf({ op: 'replace', path: 'active' }), 400, 'invalidValue'],
    ['PATCH', path, patchOf({ op: 'remove', path: 'active' }), 400, 'invalidValue'],
    ['PATCH', path, patchOf({ op: 'remove', path: 'userName' }), 400, 'invalidValue'],
    ['PATCH', path, patchOf({ op: 'replace', value: 'active' }), 400, 'invalidValue'],
    ['PATCH', path, patchOf({ op: 'replace', path: 'active', value: 0 }), 400, 'invalidValue'],
    ['PATCH', path, patchOf(...Array(1_001).fill({ op: 'replace', path: 'x', value: 1 })), 400, 'invalidSyntax'],
    ['GET', `/Users?filter=${encodeURIComponent('userName co "a"')}`, undefined, 400, 'invalidFilter'],
    ['GET', `/Users?filter=${encodeURIComponent('password eq "a"')}`, undefined, 400, 'invalidFilter'],
    [
      'GET',
      `/Users?filter=${encodeURIComponent('userName eq "a" or userName eq "b"')}`,
      undefined,
      400,
      'invalidFilter',
    ],
    ['GET', '/Users?filter=', undefined, 400, 'invalidFilter'],
    ['POST', '/Groups', {}, 400, 'invalidValue'],
    ['POST', '/Groups', { displayName: 'a' }, 409, 'uniqueness'],
    ['POST', '/Groups', { displayName: 'B', members: [{ value: 'x' }] }, 400, 'invalidValue'],
    [
      'PATCH',
      `/Groups/${group.id}`,
      patchOf({ op: 'add', path: 'members[value eq "x"]', value: 1 }),
      400,
      'invalidValue',
    ],
    ['PATCH', `/Groups/${group.id}`, patchOf({ op: 'replace', value: null }), 400, 'invalidValue'],
  ];
  for (const [method, target, body, status, scimType] of cases) {
    const response = await directory.call(method, target, body);
    expect({ method, target, sent: body, ...response }).toMatchObject({
      status,
      contentType: 'application/scim+json; charset=utf-8',
      body: {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        ...(scimType === undefined ? {} : { scimType }),
      },
    });
  }
  const users = await directory.call('GET', '/Users?startIndex=-5&count=9999');
  expect(users.body).toMatchObject({ totalResults: 1, startIndex: 1, Resources: [{ id: user.id, active: true }] });
  expect((await directory.call('GET', '/Users?count=-1')).body).toMatchObject({ totalResults: 1, itemsPerPage: 0 });
  expect((await directory.call('GET', '/Groups')).body.totalResults).toBe(1);
});

test('each filter finds its own resource and no other', async () => {
  const { directory } = await createOrganization();
  const create = (type: 'Users' | 'Groups', body: object) => directory.call('POST', `/${type}`, body);
  const ada = (
    await create('Users', { userName: 'Ada', externalId: 'u-1', displayName: 'Ada L.', emails: [{ value: 'ada@x' }] })
  ).body;
  const eve = (
    await create('Users', { userName: 'eve', externalId: 'u-2', displayName: 'Eve', emails: [{ value: 'eve@x' }] })
  ).body;
  const members = [{ value: ada.id }];
  const first = (await create('Groups', { displayName: 'First', externalId: 'g-1', members })).body;
  const second = (await create('Groups', { displayName: 'Second', externalId: 'g-2', members: [{ value: eve.id }] }))
    .body;
  const find = async (type: 'Users' | 'Groups', filter: string) => {
    const { body } = await directory.call('GET', `/${type}?filter=${encodeURIComponent(filter)}`);
    expect(body.totalResults).toBe(body.Resources.length);
    return body.Resources.map(({ id }: { id: string }) => id);
  };
  for (const filter of [
    'userName eq "ADA"',
    'externalId eq "u-1"',
    'displayName eq "Ada L."',
    'emails.value eq "ADA@x"',
    `id eq "${ada.id.toUpperCase()}"`,
    'userName eq "ada" and externalId eq "u-1"',
  ])
    expect({ filter, found: await find('Users', filter) }).toEqual({ filter, found: [ada.id] });
  for (const filter of [
    'displayName eq "FIRST"',
    'externalId eq "g-1"',
    `id eq "${first.id.toUpperCase()}"`,
    `members eq "${ada.id.toUpperCase()}"`,
    `members.value eq "${ada.id}"`,
  ])
    expect({ filter, found: await find('Groups', filter) }).toEqual({ filter, found: [first.id] });
  for (const filter of ['userName eq "ada" and externalId eq "u-2"', 'externalId eq "U-1"', 'id eq "x"'])
    expect({ filter, found: await find('Users', filter) }).toEqual({ filter, found: [] });
  expect(await find('Groups', `displayName eq "second" and members eq "${ada.id}"`)).toEqual([]);
  expect(await find('Groups', 'displayName eq "second"')).toEqual([second.id]);
  await directory.call(
    'PATCH',
    `/Groups/${second.id}`,
    patchOf({ op: 'replace', path: 'displayName', value: 'Third' }),
  );
  expect(
    await sql()`select changes from audit_entries where action = 'scim_group.update' and target_id = ${second.id}`,
  ).toEqual([{ changes: { displayName: ['Second', 'Third'] } }]);
});

test('a change of one group leaves all others as they are, and the audit trail says what changed', async () => {
  const { owner, orgId, directory } = await createOrganization();
  const [ada, eve, bob] = [
    await createUser(directory, 'ada'),
    await createUser(directory, 'eve'),
    await createUser(directory, 'bob'),
  ];
  const group = await createGroup(directory, 'Engineers', [ada, eve]);
  const other = await createGroup(directory, 'Others', [ada, eve, bob]);
  const elsewhere = await createOrganization();
  const stranger = await createUser(elsewhere.directory, 'stranger');
  const foreign = await createGroup(elsewhere.directory, 'Strangers', [stranger]);
  const patch = (...operations: readonly object[]) =>
    directory.call('PATCH', `/Groups/${group}`, patchOf(...operations));
  const set = (users: readonly string[]) =>
    patch({ op: 'replace', path: 'members', value: users.map((value) => ({ value })) });
  expect(await membersOf(directory, group)).toEqual([ada, eve]);
  expect(await entriesOf(group, 'scim_group.create')).toEqual([
    { displayName: [null, 'Engineers'], members: [null, 2] },
  ]);
  await patch({ op: 'remove', path: `members[value eq "${eve}"]` });
  expect([await membersOf(directory, group), await membersOf(directory, other)]).toEqual([[ada], [ada, eve, bob]]);
  await patch({ op: 'add', path: 'members', value: [{ value: ada }, { value: eve }] });
  await set([ada, bob]);
  expect([await membersOf(directory, group), await membersOf(directory, other)]).toEqual([
    [ada, bob],
    [ada, eve, bob],
  ]);
  await set([bob, ada]);
  await set([]);
  expect([await membersOf(directory, group), await membersOf(directory, other)]).toEqual([[], [ada, eve, bob]]);
  // The last of several values counts.
  const names = ['Builders', 'Makers'].map((value) => ({ op: 'replace', path: 'displayName', value }));
  const ids = ['b', 'm'].map((value) => ({ op: 'replace', path: 'externalId', value }));
  expect((await patch(...names, ...ids)).body).toMatchObject({ displayName: 'Makers', externalId: 'm' });
  expect(await entriesOf(group, 'scim_group.update')).toEqual([
    { members: [2, 1] },
    { members: [1, 2] },
    { members: [2, 2] },
    { members: [2, 0] },
    { displayName: ['Engineers', 'Makers'] },
  ]);
  const taken = await patch({ op: 'replace', path: 'displayName', value: 'OTHERS' });
  expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  expect((await directory.call('GET', `/Groups/${other}`)).body).toMatchObject({
    displayName: 'Others',
    externalId: 'of Others',
  });
  const unknown = Array.from({ length: 4 }, (_, n) => `00000000-0000-4000-8000-00000000000${n}`);
  const rejected = await set(unknown);
  expect(rejected.body.detail).toContain(`no such user: ${unknown.slice(0, 3).join(', ')}`);
  expect(rejected.body.detail).not.toContain(unknown[3]);
  const without = await directory.call('GET', `/Groups/${other}?excludedAttributes=externalId,Members`);
  expect(without.body).not.toHaveProperty('members');

  expect((await directory.call('DELETE', `/Groups/${group}`)).status).toBe(204);
  expect((await directory.call('DELETE', `/Groups/${group}`)).status).toBe(404);
  expect(await entriesOf(group, 'scim_group.delete')).toEqual([{ displayName: ['Makers', null] }]);
  expect(await membersOf(directory, other)).toEqual([ada, eve, bob]);
  expect(await membersOf(elsewhere.directory, foreign)).toEqual([stranger]);
  expect((await owner.call('GET', '/v1/scim')).body).toMatchObject({ groups: 1 });
  expect(await actions(orgId, 'scim_group.delete')).toHaveLength(1);
});

test.each(['remove', 'replace', 'add'])(
  'a change of a group (%s) that loses its database connection at any write is 503 and changes nothing',
  async (op) => {
    const { directory } = await createOrganization();
    const [ada, eve] = [await createUser(directory, 'ada'), await createUser(directory, 'eve')];
    const group = await createGroup(directory, 'Engineers', [ada]);
    const value = [{ value: op === 'remove' ? ada : eve }];
    const change = () => directory.call('PATCH', `/Groups/${group}`, patchOf({ op, path: 'members', value }));
    expect(await expectCutsChangeNothing(sql(), change)).toMatchObject({ status: 200 });
  },
);

const NEW_NAME = { userName: 'renamed@example.com', displayName: 'Renamed', active: false };

test.each<[string, number, (directory: Directory, id: string, userName: string) => ReturnType<Directory['call']>]>([
  ['deactivation', 200, (directory, id) => directory.call('PATCH', `/Users/${id}`, OKTA_DEACTIVATE)],
  ['restoration', 200, (directory, id) => directory.call('PATCH', `/Users/${id}`, restore)],
  ['replacement', 200, (directory, id) => directory.call('PUT', `/Users/${id}`, NEW_NAME)],
  ['deletion', 204, (directory, id) => directory.call('DELETE', `/Users/${id}`)],
  [
    'creation as inactive',
    201,
    (directory, _id, userName) => directory.call('POST', '/Users', { userName, active: false }),
  ],
])(
  'a %s of a user that loses its database connection at any write is 503 and changes nothing',
  async (what, status, change) => {
    const { orgId, directory } = await createOrganization();
    const member = await plane().createMember('admin', orgId);
    const email = await emailOf(member);
    await member.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
    await member.call('POST', '/v1/members', { email: `to-${email}`, role: 'viewer' });
    await directory.call('GET', '/Users'); // the time of the last use is no part of the change
    await sql()`
      insert into invitations (id, org_id, email, role, token_hash, expires_at)
      values (gen_random_uuid(), ${orgId}, ${email}, 'viewer', ${randomBytes(32)}, now() + interval '1 day')`;
    const id = what.startsWith('creation') ? '' : await provision(directory, member);
    if (what === 'restoration')
      expect((await directory.call('PATCH', `/Users/${id}`, OKTA_DEACTIVATE)).status).toBe(200);
    expect(await expectCutsChangeNothing(sql(), () => change(directory, id, email))).toMatchObject({ status });
    expect(await roleOf(member)).toBe(what === 'restoration' ? 'admin' : null);
  },
);

test('a change of a user is in the audit trail, with the fields that changed', async () => {
  const { directory } = await createOrganization();
  const id = await createUser(directory, 'ada');
  const sent = { userName: 'ada', externalId: 'x', displayName: 'Ada', emails: [{ value: 'ada@x' }], active: true };
  await directory.call('PUT', `/Users/${id}`, sent);
  await directory.call('PUT', `/Users/${id}`, sent);
  await directory.call('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'userName', value: 'countess' }));
  expect(await entriesOf(id, 'scim_user.update')).toEqual([
    { externalId: [null, 'x'], email: [null, 'ada@x'], displayName: [null, 'Ada'] },
    { userName: ['ada', 'countess'] },
  ]);
  await createUser(directory, 'eve');
  const taken = await directory.call(
    'PATCH',
    `/Users/${id}`,
    patchOf({ op: 'replace', path: 'userName', value: 'EVE' }),
  );
  expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
  await directory.call('DELETE', `/Users/${id}`);
  expect(await entriesOf(id, 'scim_user.delete')).toEqual([{ userName: ['countess', null] }]);
});

test('ids in capitals name the same resource, and a count that is no number is the default', async () => {
  const { directory } = await createOrganization();
  const id = await createUser(directory, 'ada');
  expect((await directory.call('GET', `/Users/${id.toUpperCase()}`)).body.id).toBe(id);
  expect((await directory.call('GET', '/Users?count=many&startIndex=first')).body).toMatchObject({
    startIndex: 1,
    itemsPerPage: 1,
  });
  const unknown = await directory.call('GET', '/Nothing?secret=x');
  expect(unknown).toMatchObject({ status: 404, body: { detail: expect.stringContaining('GET /scim/v2/Nothing') } });
  expect(unknown.body.detail).not.toContain('secret');
});

test('groups beyond 5 000 of an organization are rejected, and a response lists 5 000 members', async () => {
  const { orgId, directory } = await createOrganization();
  await sql()`
    insert into scim_groups (id, org_id, display_name)
    select gen_random_uuid(), ${orgId}, 'group-' || n from generate_series(1, 4999) n`;
  const last = await directory.call('POST', '/Groups', { displayName: 'last' });
  expect(last.status).toBe(201);
  const rejected = await directory.call('POST', '/Groups', { displayName: 'one more' });
  expect(rejected).toMatchObject({ status: 409, body: { detail: expect.stringContaining('5000 groups') } });
  const elsewhere = await createOrganization();
  expect((await elsewhere.directory.call('POST', '/Groups', { displayName: 'first' })).status).toBe(201);
  await sql()`
    with u as (
      insert into scim_users (id, org_id, user_name, active)
      select gen_random_uuid(), ${orgId}, 'member-' || n, true from generate_series(1, 5001) n returning id)
    insert into scim_group_members (group_id, user_id) select ${last.body.id}, id from u`;
  expect(await membersOf(directory, last.body.id)).toHaveLength(5_000);
});

test('users beyond 50 000 of an organization are rejected', async () => {
  const { orgId, directory } = await createOrganization();
  await sql()`
    insert into scim_users (id, org_id, user_name, active)
    select gen_random_uuid(), ${orgId}, 'user-' || n, true from generate_series(1, 49999) n`;
  expect((await directory.call('POST', '/Users', { userName: 'last', active: true })).status).toBe(201);
  const rejected = await directory.call('POST', '/Users', { userName: 'one-more', active: true });
  expect(rejected).toMatchObject({ status: 409, body: { detail: expect.stringContaining('50000 directory users') } });
  const elsewhere = await createOrganization();
  expect((await elsewhere.directory.call('POST', '/Users', { userName: 'first' })).status).toBe(201);
  // Pages: 100 where the directory asks for none, at most 200.
  for (const [query, length, startIndex] of [
    ['', 100, 1],
    ['?count=999', 200, 1],
    ['?count=2&startIndex=49999', 2, 49_999],
    ['?count=0', 0, 1],
  ] as const) {
    const { body } = await directory.call('GET', `/Users${query}`);
    expect({ query, length: body.Resources.length, ...body }).toMatchObject({
      query,
      length,
      startIndex,
      totalResults: 50_000,
    });
  }
});

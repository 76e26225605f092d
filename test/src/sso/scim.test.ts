/** SCIM: what a directory may do to memberships, and attacks that gain nothing by it. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
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
  const { orgId, directory } = await createOrganization();
  const elsewhere = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${orgId}, ${elsewhere.userId}, 'viewer')`;
  const id = await provision(directory, elsewhere);
  await directory.call('PATCH', `/Users/${id}`, ENTRA_DISABLE);
  expect(await roleOf({ ...elsewhere, orgId })).toBeNull();
  expect((await elsewhere.call('GET', '/v1/me')).status).toBe(200);
});

test('a deletion ends the membership; the same person can be created again', async () => {
  const { orgId, directory } = await createOrganization();
  const member = await plane().createMember('member', orgId);
  const id = await provision(directory, member);
  const colleague = await directory.call('POST', '/Users', { userName: 'colleague' });
  const elsewhere = await createOrganization();
  const stranger = await elsewhere.directory.call('POST', '/Users', { userName: 'stranger' });
  expect((await directory.call('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await directory.call('GET', `/Users/${colleague.body.id}`)).status).toBe(200);
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
  await own.owner.call('DELETE', `/v1/scim/tokens/${own.directory.tokenId}`);
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

test('users beyond 50 000 of an organization are rejected', async () => {
  const { orgId, directory } = await createOrganization();
  await sql()`
    insert into scim_users (id, org_id, user_name, active)
    select gen_random_uuid(), ${orgId}, 'user-' || n, true from generate_series(1, 49999) n`;
  expect((await directory.call('POST', '/Users', { userName: 'last', active: true })).status).toBe(201);
  const rejected = await directory.call('POST', '/Users', { userName: 'one-more', active: true });
  expect(rejected).toMatchObject({ status: 409, body: { detail: expect.stringContaining('50000 directory users') } });
});

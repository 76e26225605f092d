/** Groups of the provider, required single sign-on with a break-glass owner, and what people of a directory may do. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';
import { waitUntil } from '../fixtures/wait-until.js';
import {
  callLink,
  callWithSession,
  configure,
  openCallback,
  startLogin,
  useTxtRecords,
  verifyDomain,
} from './gateway-login.js';
import { HostileProvider } from './hostile-provider.js';
import { connectDirectory, ENTRA_DISABLE } from './scim-client.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
const PASSWORD = 'correct horse battery';
let provider: HostileProvider;
let txt: ReturnType<typeof useTxtRecords>;
beforeAll(async () => {
  provider = await HostileProvider.start();
  txt = useTxtRecords();
});
afterAll(async () => {
  txt.restore();
  await provider.stop();
});

async function createOrganization(more: object = {}) {
  const owner = await plane().createMember('owner');
  const domain = `${randomBytes(5).toString('hex')}.example.com`;
  await verifyDomain(owner, domain, txt.records);
  expect((await configure(owner, provider.issuer, more)).status).toBe(200);
  return { owner, orgId: owner.orgId, domain, email: `ada@${domain}` };
}
type Organization = Awaited<ReturnType<typeof createOrganization>>;

/** Begins a login; returns the way of the browser back from the provider. */
async function beginLogin({ orgId, email, domain }: Organization, subject: string, claims: object = {}) {
  const started = await startLogin(plane(), `someone@${domain}`);
  provider.idToken = provider.sign(provider.claims(started.nonce, { sub: subject, email, ...claims }));
  return () => openCallback(plane(), orgId, { code: 'a code', state: started.state }, started.cookie);
}
const logIn = async (...login: Parameters<typeof beginLogin>) => (await beginLogin(...login))();

const roleOf = async (orgId: string, email: string): Promise<string | undefined> =>
  (
    await sql()<{ role: string }[]>`
    select m.role from memberships m join users u on u.id = m.user_id where m.org_id = ${orgId} and u.email = ${email}`
  )[0]?.role;
const rejections = async (orgId: string): Promise<readonly unknown[]> =>
  (
    await sql()<{ reason: string }[]>`
    select changes->'reason'->>1 as reason from audit_entries where org_id = ${orgId} and action = 'sso.reject' order by at`
  ).map(({ reason }) => reason);
const setSecondFactor = (userId: string) => sql()`
  insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at) values (${userId}, 'test', 'n', 'c', now())`;
/** Confirms the session with the second factor. */
const confirm = (userId: string) => sql()`update sessions set factor_at = now() where user_id = ${userId}`;

const GROUP_ROLES = [
  { group: 'g-admins', role: 'admin' },
  { group: 'g-staff', role: 'member' },
];

test('groups give roles at each login, among 2 000 of them; a missing claim changes nothing; no mapped group is a page and an audit entry', async () => {
  const org = await createOrganization({ defaultRole: null, groupRoles: GROUP_ROLES, groupsClaim: 'teams' });
  const unmapped = await logIn(org, 'ada', { teams: ['other'] });
  expect(unmapped).toMatchObject({ status: 403, text: expect.stringContaining('None of your groups') });
  const missing = await logIn(org, 'ada', { groups: ['g-admins'] });
  expect(missing).toMatchObject({ status: 403, text: expect.stringContaining('did not send your groups') });
  const many = Array.from({ length: 2_000 }, () => crypto.randomUUID());
  expect((await logIn(org, 'ada', { teams: [...many, 'g-admins'] })).status).toBe(200);
  expect(await roleOf(org.orgId, org.email)).toBe('admin');
  // Entra ID above 200 groups: a reference in place of the claim.
  const overage = {
    _claim_names: { teams: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://graph.example.com' } },
  };
  expect((await logIn(org, 'ada', overage)).status).toBe(200);
  expect(await roleOf(org.orgId, org.email)).toBe('admin');
  const admin = await logIn(org, 'ada', { teams: 'g-admins' });
  await callWithSession(plane(), admin.cookies.acg_session, 'POST', '/v1/members', {
    email: 'x@example.com',
    role: 'viewer',
  });
  expect((await logIn(org, 'ada', { teams: ['g-staff'] })).status).toBe(200);
  expect(await roleOf(org.orgId, org.email)).toBe('member');
  expect((await callWithSession(plane(), admin.cookies.acg_session, 'GET', '/v1/sso')).status).toBe(403);
  expect(await sql()`select 1 from invitations where org_id = ${org.orgId}`).toEqual([]);
  expect((await logIn(org, 'ada', { teams: [] })).status).toBe(403);
  expect(await rejections(org.orgId)).toEqual(['no_mapped_group', 'groups_missing', 'no_mapped_group']);
});

test('groups that make a member a viewer end the personal agent, which is locked before the membership', async () => {
  const groupRoles = [...GROUP_ROLES, { group: 'g-guests', role: 'viewer' }];
  const org = await createOrganization({ defaultRole: null, groupRoles });
  const { owner, orgId, email } = org;
  const { cookies } = await logIn(org, 'ada', { groups: ['g-staff'] });
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Own agents' })).body.project.id;
  await owner.call('PATCH', `/v1/projects/${projectId}`, { personalAgents: { credentialIds: [] } });
  const body = { projectId, name: 'laptop' };
  const created = await callWithSession(plane(), cookies.acg_session, 'POST', '/v1/personal-agents/keys', body);
  expect(created.status).toBe(201);
  const agentId = created.body.agent.id;
  const waiting = () => sql()`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%agents%'`;
  let login: ReturnType<typeof logIn>;
  await sql().begin(async (tx) => {
    await tx`select 1 from agents where id = ${agentId} for update`;
    login = logIn(org, 'ada', { groups: ['g-guests'] });
    await waitUntil('the login waits for the agent', async () => (await waiting()).length > 0);
    // As a change of the agent does, after it has locked the agent.
    await tx`select 1 from memberships m join users u on u.id = m.user_id
              where m.org_id = ${orgId} and u.email = ${email} for share of m nowait`;
  });
  expect((await login!).status).toBe(200);
  expect(await roleOf(orgId, email)).toBe('viewer');
  const keys = await sql()`select revoked_at is not null as revoked from api_keys where agent_id = ${agentId}`;
  expect(keys).toEqual([{ revoked: true }]);
  expect((await owner.call('GET', `/v1/agents/${agentId}`)).body.agent.status).toBe('revoked');
});

test.each(['a new person', 'a member who gets a lower role', 'a former member with an invitation'])(
  'a login of %s that loses its database connection at any write is 503 and changes nothing',
  async (who) => {
    const org = await createOrganization({ groupRoles: GROUP_ROLES });
    if (who !== 'a new person') expect((await logIn(org, 'ada', { groups: ['g-admins'] })).status).toBe(200);
    if (who === 'a former member with an invitation') {
      const [row] = await sql()<{ id: string }[]>`select id from users where email = ${org.email}`;
      expect((await org.owner.call('DELETE', `/v1/members/${row!.id}`)).status).toBe(200);
      expect((await org.owner.call('POST', '/v1/members', { email: org.email, role: 'member' })).status).toBe(201);
    }
    const begin = () => beginLogin(org, 'ada', { groups: ['g-staff'] });
    let finish = await begin();
    const options = {
      except: ['sso_logins'],
      between: async () => {
        finish = await begin();
      },
    };
    expect(await expectCutsChangeNothing(sql(), () => finish(), options)).toMatchObject({ status: 200 });
    expect(await roleOf(org.orgId, org.email)).toBe('member');
  },
);

test('attack: no group makes an owner, and groups take no role from one', async () => {
  const org = await createOrganization({ groupRoles: GROUP_ROLES });
  const rejected = await configure(org.owner, provider.issuer, { groupRoles: [{ group: 'g', role: 'owner' }] });
  expect(rejected.status).toBe(400);
  const twice = await configure(org.owner, provider.issuer, { groupRoles: [GROUP_ROLES[0], GROUP_ROLES[0]] });
  expect(twice).toMatchObject({ status: 400, body: { error: expect.stringContaining('twice') } });
  expect((await logIn(org, 'boss', { groups: ['g-staff'] })).status).toBe(200);
  await sql()`
    update memberships m set role = 'owner' from users u where u.id = m.user_id and u.email = ${org.email}`;
  expect((await logIn(org, 'boss', { groups: ['other'] })).status).toBe(200);
  expect(await roleOf(org.orgId, org.email)).toBe('owner');
});

test('required: other sessions are 403, a new password does not help; the break-glass owner and management tokens pass', async () => {
  const org = await createOrganization();
  const { owner, orgId } = org;
  const other = await plane().createMember('owner', orgId);
  const without = await configure(owner, provider.issuer, { breakGlassUserId: owner.userId });
  expect(without).toMatchObject({ status: 409, body: { error: expect.stringContaining('second factor') } });
  await setSecondFactor(owner.userId);
  await confirm(owner.userId);
  const foreign = await plane().createMember('owner');
  await setSecondFactor(foreign.userId);
  expect((await configure(owner, provider.issuer, { breakGlassUserId: foreign.userId })).status).toBe(409);
  // Another owner without a second factor, one whose factor waits for its first code, and an admin with one.
  expect((await configure(owner, provider.issuer, { breakGlassUserId: other.userId })).status).toBe(409);
  await sql()`
    insert into second_factors (user_id, key_id, nonce, ciphertext) values (${other.userId}, 'test', 'n', 'c')`;
  expect((await configure(owner, provider.issuer, { breakGlassUserId: other.userId })).status).toBe(409);
  await sql()`delete from second_factors where user_id = ${other.userId}`;
  const admin = await plane().createMember('admin', orgId);
  await setSecondFactor(admin.userId);
  expect((await configure(owner, provider.issuer, { breakGlassUserId: admin.userId })).status).toBe(409);
  const token = await other.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' });
  const required = await configure(owner, provider.issuer, { breakGlassUserId: owner.userId });
  expect(required).toMatchObject({ status: 200, body: { connection: { breakGlassUserId: owner.userId } } });
  expect(await other.call('GET', '/v1/projects')).toMatchObject({
    status: 403,
    body: { error: expect.stringContaining('requires single sign-on') },
  });
  expect((await other.call('GET', '/v1/me')).body.orgs).toMatchObject([{ id: orgId, ssoRequired: true }]);
  expect((await owner.call('GET', '/v1/projects')).status).toBe(200);
  expect((await plane().call('GET', '/v1/projects', { token: token.body.secretToken })).status).toBe(200);

  // A new password opens a session, and the session opens nothing.
  const [{ email }] = (await sql()`select email from users where id = ${other.userId}`) as unknown as [
    { email: string },
  ];
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const mail = await plane().waitForMail(email, 'new password');
  await plane().call('POST', '/v1/auth/reset-password', { body: { token: mail.token, password: PASSWORD } });
  const login = await plane().call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } });
  expect(login.status).toBe(200);
  expect((await plane().call('GET', '/v1/projects', { token: login.body.token })).status).toBe(403);

  const sso = await logIn(org, 'ada');
  const own = await callWithSession(plane(), sso.cookies.acg_session, 'GET', '/v1/me');
  expect(own.body.orgs[0]).not.toHaveProperty('ssoRequired');
  expect((await callWithSession(plane(), sso.cookies.acg_session, 'GET', '/v1/projects')).status).toBe(200);

  // The break-glass owner stays: no removal, no demotion, not by the directory; without a factor nothing opens.
  await sql()`delete from sessions where user_id = ${other.userId}`;
  const directory = await connectDirectory(plane(), owner);
  const [{ email: ownerEmail }] = (await sql()`select email from users where id = ${owner.userId}`) as unknown as [
    { email: string },
  ];
  const user = await directory.call('POST', '/Users', { userName: ownerEmail });
  const kept = await directory.call('PATCH', `/Users/${user.body.id}`, ENTRA_DISABLE);
  expect(kept).toMatchObject({ status: 409, body: { detail: expect.stringContaining('break-glass') } });
  expect((await owner.call('DELETE', '/v1/members/me')).status).toBe(409);
  expect((await owner.call('PATCH', `/v1/members/${owner.userId}`, { role: 'admin' })).status).toBe(409);
  await sql()`delete from second_factors where user_id = ${owner.userId}`;
  expect(await owner.call('GET', '/v1/projects')).toMatchObject({
    status: 403,
    body: { error: expect.stringContaining('second factor') },
  });
});

test('a device that is approved in a session of single sign-on serves its organization for 24 h and fulfils the requirement', async () => {
  const org = await createOrganization({ defaultRole: 'member' });
  await setSecondFactor(org.owner.userId);
  await confirm(org.owner.userId);
  const sso = await logIn(org, 'ada');
  await configure(org.owner, provider.issuer, { breakGlassUserId: org.owner.userId });
  const session = (method: string, path: string, body?: unknown) =>
    callWithSession(plane(), sso.cookies.acg_session, method, path, body);
  const { body: device } = await plane().call('POST', '/v1/auth/device', { body: { client: 'acg' } });
  const approval = { userCode: device.userCode, orgId: org.orgId, role: 'member' };
  // The person is a member of another organization, too.
  const { orgId: elsewhere } = await plane().createMember('owner');
  const [{ id } = { id: '' }] = await sql()<{ id: string }[]>`select id from users where email = ${org.email}`;
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere}, ${id}, 'member')`;
  const { body: found } = await session('POST', '/v1/auth/device/lookup', { userCode: device.userCode });
  expect(found.orgs).toMatchObject([{ id: org.orgId }]);
  expect((await session('POST', '/v1/auth/device/approve', { ...approval, orgId: elsewhere })).status).toBe(403);
  expect((await session('POST', '/v1/auth/device/approve', approval)).status).toBe(200);
  const { body: login } = await plane().call('POST', '/v1/auth/device/token', {
    body: { deviceCode: device.deviceCode },
  });
  expect((await plane().call('GET', '/v1/projects', { token: login.token })).status).toBe(200);
  const [row] = await sql()`
    select extract(epoch from expires_at - created_at)::int / 3600 as hours, sso from sessions
     where org_id = ${org.orgId} and kind = 'cli'`;
  expect(row).toEqual({ hours: 24, sso: true });
  const refreshed = await plane().call('POST', '/v1/auth/refresh', { token: login.token });
  expect(refreshed.status).toBe(200);
  await sql()`update sessions set expires_at = now() - interval '1 second' where org_id = ${org.orgId} and kind = 'cli'`;
  expect((await plane().call('GET', '/v1/projects', { token: refreshed.body.token })).status).toBe(401);
  expect((await plane().call('POST', '/v1/auth/refresh', { token: refreshed.body.token })).status).toBe(401);
});

test('an invitation and the directory admit people of a verified domain, each once; a deactivated person does not join', async () => {
  const org = await createOrganization({ defaultRole: null });
  const directory = await connectDirectory(plane(), org.owner);
  // What the directory of another organization says does not count.
  const elsewhere = await connectDirectory(plane(), await plane().createMember('owner'));
  await elsewhere.call('POST', '/Users', { userName: org.email });
  expect((await logIn(org, 'ada')).status).toBe(403);
  await org.owner.call('POST', '/v1/members', { email: org.email, role: 'admin' });
  expect((await logIn(org, 'ada')).status).toBe(200);
  expect(await roleOf(org.orgId, org.email)).toBe('admin');
  expect(await sql()`select 1 from invitations where org_id = ${org.orgId}`).toEqual([]);

  const grace = { ...org, email: `grace@${org.domain}` };
  const created = await directory.call('POST', '/Users', { userName: 'grace', emails: [{ value: grace.email }] });
  expect((await logIn(grace, 'grace', { email: grace.email })).status).toBe(200);
  expect(await roleOf(org.orgId, grace.email)).toBe('viewer');
  await directory.call('PATCH', `/Users/${created.body.id}`, ENTRA_DISABLE);
  const gone = await logIn(grace, 'grace', { email: grace.email });
  expect(gone).toMatchObject({ status: 403, text: expect.stringContaining('no longer a member') });
  const never = { ...org, email: `never@${org.domain}` };
  await directory.call('POST', '/Users', { userName: never.email, active: false });
  await org.owner.call('PUT', '/v1/sso', { issuer: provider.issuer, clientId: 'gateway', defaultRole: 'admin' });
  expect((await logIn(never, 'never', { email: never.email })).status).toBe(403);
  expect(await rejections(org.orgId)).toEqual(['not_invited', 'removed', 'deactivated']);
});

test('an invitation to the address of an account is accepted by its own login once', async () => {
  const org = await createOrganization({ defaultRole: null });
  const { email } = org;
  await plane().call('POST', '/v1/auth/signup', { body: { email, password: PASSWORD, name: 'Ada', orgName: 'Own' } });
  await org.owner.call('POST', '/v1/members', { email, role: 'member' });
  const waiting = await logIn(org, 'ada');
  expect(waiting.text).toContain('Connect your account');
  expect(await roleOf(org.orgId, email)).toBeUndefined();
  expect((await callLink(plane(), waiting.cookies.acg_sso, { password: PASSWORD })).status).toBe(200);
  expect(await roleOf(org.orgId, email)).toBe('member');
});

test('the directory admits a person who has an account elsewhere, and one who was created again beside a deactivated entry', async () => {
  const org = await createOrganization({ defaultRole: null });
  const directory = await connectDirectory(plane(), org.owner);
  const { email } = org;
  await plane().call('POST', '/v1/auth/signup', { body: { email, password: PASSWORD, name: 'Ada', orgName: 'Own' } });
  await directory.call('POST', '/Users', { userName: 'left', emails: [{ value: email }], active: false });
  expect(await logIn(org, 'ada')).toMatchObject({ status: 403, text: expect.stringContaining('deactivated you') });
  await directory.call('POST', '/Users', { userName: 'back', emails: [{ value: email }], active: true });
  const waiting = await logIn(org, 'ada');
  expect(waiting.text).toContain('Connect your account');
  expect((await callLink(plane(), waiting.cookies.acg_sso, { password: PASSWORD })).status).toBe(200);
  expect(await roleOf(org.orgId, email)).toBe('viewer');
});

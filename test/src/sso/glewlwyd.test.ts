/**
 * Single sign-on with Glewlwyd, a provider that shares no library with the gateway: logins by its own log-in page, groups,
 * required single sign-on, and what people, codes and answers of other issuers gain: nothing.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showTotpCode } from '../fixtures/authenticator-app.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { callWithSession, openCallback, startLogin, useTxtRecords, verifyDomain } from './gateway-login.js';
import { Glewlwyd, type Person } from './glewlwyd.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
let provider: Glewlwyd;
let txt: ReturnType<typeof useTxtRecords>;
beforeAll(async () => {
  provider = await Glewlwyd.start();
  txt = useTxtRecords();
});
afterAll(async () => {
  txt?.restore();
  await provider?.stop();
});

const PASSWORD = 'correct horse battery';
const random = () => randomBytes(5).toString('hex');
const GROUP_ROLES = [
  { group: 'g-admins', role: 'admin' },
  { group: 'g-staff', role: 'member' },
];

/** An organization whose provider is an instance of Glewlwyd, with its own client there and a verified domain. */
async function createOrganization(more: object = {}, instance: 'staff' | 'partners' = 'staff') {
  const owner = await plane().createMember('owner');
  const domain = `${random()}.example.com`;
  await verifyDomain(owner, domain, txt.records);
  const client = { clientId: `gateway-${random()}`, clientSecret: `secret of ${domain}` };
  const { body } = await owner.call('GET', '/v1/sso');
  await provider.addClient(client.clientId, client.clientSecret, body.redirectUri);
  const settings = { issuer: provider.issuer(instance), ...client, defaultRole: null, groupRoles: GROUP_ROLES };
  const configured = await owner.call('PUT', '/v1/sso', { ...settings, ...more });
  expect(configured).toMatchObject({ status: 200, body: { connection: { issuer: provider.issuer(instance) } } });
  return { owner, orgId: owner.orgId, domain, client, instance };
}
type Organization = Awaited<ReturnType<typeof createOrganization>>;

/** A person at the provider, with a verified address of the organization's domain unless given otherwise. */
async function createPerson({ domain }: Organization, person: Person = {}) {
  const username = `person-${random()}`;
  const full = { email: `${username}@${domain}`, email_verified: 'yes', groups: ['g-staff'], ...person } as const;
  await provider.addPerson(username, full);
  return { username, email: full.email };
}

/** Up to the callback, which the browser has not opened yet. */
async function authorize({ domain }: Organization, username: string) {
  const started = await startLogin(plane(), `someone@${domain}`);
  const callback = await provider.authorize(started.authorization, username);
  return { ...started, parameters: Object.fromEntries(callback.searchParams) };
}

async function logIn(org: Organization, username: string) {
  const { parameters, cookie } = await authorize(org, username);
  return openCallback(plane(), org.orgId, parameters, cookie);
}

/** An account with password and second factor; `code(n)`: of the n-th step from now. */
async function signUpOwnerWithFactor() {
  const email = `${random()}@example.com`;
  const body = { email, password: PASSWORD, name: 'Owner', orgName: 'Acme' };
  const { body: account } = await plane().call('POST', '/v1/auth/signup', { body });
  const { token, user, org } = account;
  await sql()`update users set email_verified_at = now() where id = ${user.id}`;
  const call: Member['call'] = (method, path, payload) => plane().call(method, path, { token, body: payload });
  const { body: factor } = await call('POST', '/v1/second-factor', { password: PASSWORD });
  const code = (steps = 0) => showTotpCode(factor.secret, steps);
  expect((await call('POST', '/v1/second-factor/confirm', { code: code() })).status).toBe(200);
  return { owner: { userId: user.id, orgId: org.id, token, call } satisfies Member, email, code };
}

const roleOf = async (org: Organization, email: string): Promise<string | undefined> => {
  const [row] = await sql()<{ role: string }[]>`
    select m.role from memberships m join users u on u.id = m.user_id where m.org_id = ${org.orgId} and u.email = ${email}`;
  return row?.role;
};
const rejections = async ({ orgId }: Organization): Promise<readonly string[]> => {
  const rows = await sql()<{ reason: string }[]>`
    select changes->'reason'->>1 as reason from audit_entries where org_id = ${orgId} and action = 'sso.reject' order by at`;
  return rows.map(({ reason }) => reason);
};

test('a new person logs in by the provider; groups give the role at each login; a changed address stays the same person', async () => {
  const org = await createOrganization();
  const { username, email } = await createPerson(org, { groups: ['other', 'g-staff', 'g-admins'] });
  const first = await logIn(org, username);
  expect(first.status).toBe(200);
  expect(await roleOf(org, email)).toBe('admin');
  const session = first.cookies.acg_session;
  const me = await callWithSession(plane(), session, 'GET', '/v1/me');
  expect(me.body).toMatchObject({ user: { email, name: username, emailVerified: true }, role: 'admin' });
  const changed = `changed-${email}`;
  await provider.changePerson(username, { email: changed, email_verified: 'no', groups: ['g-staff'] });
  expect((await logIn(org, username)).status).toBe(200);
  expect(await roleOf(org, email)).toBe('member');
  expect(await sql()`select 1 from users where email = ${changed}`).toEqual([]);
  expect((await callWithSession(plane(), session, 'GET', '/v1/sso')).status).toBe(403);
});

test('attack: the address of a colleague, an unverified one, one of another domain, and people without a group gain nothing', async () => {
  const org = await createOrganization();
  const victim = await createPerson(org, { groups: ['g-admins'] });
  expect((await logIn(org, victim.username)).status).toBe(200);
  const thief = await createPerson(org, { email: victim.email });
  const waiting = await logIn(org, thief.username);
  expect(waiting.text).toContain('Connect your account');
  expect(waiting.cookies.acg_session).toBeUndefined();
  for (const [person, text, reason] of [
    [{ email_verified: 'no' }, 'not verified', 'email_unverified'],
    [{ email: `${random()}@elsewhere.example.com` }, 'domain of your e-mail address', 'domain_unverified'],
    [{ groups: ['other'] }, 'None of your groups', 'no_mapped_group'],
    [{ groups: [] }, 'did not send your groups', 'groups_missing'],
  ] as const) {
    const { username, email } = await createPerson(org, person);
    const rejected = await logIn(org, username);
    expect({ person, ...rejected }).toMatchObject({ status: 403, text: expect.stringContaining(text), cookies: {} });
    expect((await rejections(org)).at(-1)).toBe(reason);
    expect(await roleOf(org, email)).toBeUndefined();
  }
});

test('attack: a code counts once and in its own login only; the answer of another issuer counts nowhere', async () => {
  const org = await createOrganization();
  const partner = await createOrganization({}, 'partners');
  const { username } = await createPerson(org);
  const own = await authorize(org, username);
  const replayed = await authorize(org, username);
  // The code of one login in another one: PKCE and nonce differ.
  const injected = { ...replayed.parameters, code: own.parameters.code! };
  expect((await openCallback(plane(), org.orgId, injected, replayed.cookie)).status).toBe(403);
  const opened = await authorize(org, username);
  expect((await openCallback(plane(), org.orgId, opened.parameters, opened.cookie)).status).toBe(200);
  expect((await openCallback(plane(), org.orgId, opened.parameters, opened.cookie)).status).toBe(403);
  const second = await authorize(org, username);
  const used = { ...second.parameters, code: opened.parameters.code! };
  expect((await openCallback(plane(), org.orgId, used, second.cookie)).status).toBe(403);

  // Mix-up: the callback of the other issuer, with and without its `iss`, at the organization of either.
  const foreign = await authorize(partner, username);
  const login = await startLogin(plane(), `someone@${org.domain}`);
  const { iss, ...rest } = foreign.parameters;
  expect(iss).toBe(provider.issuer('partners'));
  const mixed = await openCallback(plane(), org.orgId, { ...rest, iss: iss!, state: login.state }, login.cookie);
  expect(mixed).toMatchObject({ status: 403, cookies: {} });
  const another = await startLogin(plane(), `someone@${org.domain}`);
  const bare = await openCallback(plane(), org.orgId, { ...rest, state: another.state }, another.cookie);
  expect(bare).toMatchObject({ status: 403, cookies: {} });
  expect((await openCallback(plane(), org.orgId, foreign.parameters, foreign.cookie)).status).toBe(403);
  expect(await roleOf(partner, `${username}@${org.domain}`)).toBeUndefined();
});

test('a wrong client secret and an issuer of another name are rejected', async () => {
  const org = await createOrganization();
  const { username } = await createPerson(org);
  const { clientId } = org.client;
  const wrong = { issuer: provider.issuer(), clientId, clientSecret: 'another secret', defaultRole: 'viewer' };
  expect((await org.owner.call('PUT', '/v1/sso', wrong)).status).toBe(200);
  const rejected = await logIn(org, username);
  expect(rejected).toMatchObject({ status: 403, text: expect.stringContaining('was rejected') });
  expect(await rejections(org)).toEqual([expect.stringContaining('unauthorized_client')]);
  for (const issuer of [`${provider.issuer()}/`, `${provider.origin}/api/nothing`, provider.origin])
    expect({ issuer, ...(await org.owner.call('PUT', '/v1/sso', { ...wrong, issuer })) }).toMatchObject({
      status: 400,
    });
});

test('required single sign-on; while the provider is away, a text says so and the break-glass owner logs in by password', async () => {
  const away = await Glewlwyd.start();
  const { owner, email, code } = await signUpOwnerWithFactor();
  const domain = `${random()}.example.com`;
  await verifyDomain(owner, domain, txt.records);
  const { body } = await owner.call('GET', '/v1/sso');
  await away.addClient('gateway', 'secret', body.redirectUri);
  await away.addPerson('ada', { email: `ada@${domain}`, email_verified: 'yes' });
  const colleague = await plane().createMember('admin', owner.orgId);
  const settings = { issuer: away.issuer(), clientId: 'gateway', clientSecret: 'secret', defaultRole: 'member' };
  const required = await owner.call('PUT', '/v1/sso', { ...settings, breakGlassUserId: owner.userId });
  expect(required.status).toBe(200);
  expect((await colleague.call('GET', '/v1/projects')).status).toBe(403);
  const { authorization, cookie } = await startLogin(plane(), `ada@${domain}`);
  const callback = Object.fromEntries((await away.authorize(authorization, 'ada')).searchParams);
  const { cookies } = await openCallback(plane(), owner.orgId, callback, cookie);
  expect((await callWithSession(plane(), cookies.acg_session, 'GET', '/v1/projects')).status).toBe(200);
  const late = await startLogin(plane(), `ada@${domain}`);
  const answer = Object.fromEntries((await away.authorize(late.authorization, 'ada')).searchParams);
  await away.stop();
  const failed = await openCallback(plane(), owner.orgId, answer, late.cookie);
  expect(failed).toMatchObject({ status: 403, text: expect.stringContaining('Log in again') });
  await expect(startLogin(plane(), `ada@${domain}`)).rejects.toThrow(/400 the identity provider failed/);
  const credentials = { email, password: PASSWORD };
  expect((await plane().call('POST', '/v1/auth/login', { body: credentials })).body.secondFactor).toBe(true);
  const login = await plane().call('POST', '/v1/auth/login', { body: { ...credentials, code: code(1) } });
  expect(login.status).toBe(200);
  expect((await plane().call('GET', '/v1/projects', { token: login.body.token })).status).toBe(200);
  expect((await callWithSession(plane(), cookies.acg_session, 'GET', '/v1/projects')).status).toBe(200);
});

/** Single sign-on: who gets in, what an SSO session may do, and what a hostile provider or browser gains: nothing. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
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
import { CLIENT_ID, CLIENT_SECRET, HostileProvider } from './hostile-provider.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
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
afterEach(() => {
  provider.answerToken = null;
  provider.answerKeys = null;
  provider.document = {};
  provider.tokenRequests.splice(0);
});

const newDomain = () => `${randomBytes(5).toString('hex')}.example.com`;

/** An organization with the provider and a verified domain. */
async function createOrganization(more: object = {}) {
  const owner = await plane().createMember('owner');
  const domain = newDomain();
  const domainId = await verifyDomain(owner, domain, txt.records);
  expect((await configure(owner, provider.issuer, more)).status).toBe(200);
  return { owner, orgId: owner.orgId, domain, domainId, email: `ada@${domain}` };
}
type Organization = Awaited<ReturnType<typeof createOrganization>>;

interface LoginOptions {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Signs the claims; default: as the provider does. */
  readonly sign?: (claims: Readonly<Record<string, unknown>>) => string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A whole login of the person with that subject. */
async function logIn({ orgId, email, domain }: Organization, subject: string, options: LoginOptions = {}) {
  const started = await startLogin(plane(), `someone@${domain}`);
  const claims = provider.claims(started.nonce, { sub: subject, email, ...options.claims });
  provider.idToken = (options.sign ?? ((all) => provider.sign(all)))(claims);
  const parameters = { code: 'a code', state: started.state, ...options.parameters };
  return openCallback(plane(), orgId, parameters, started.cookie);
}

const reasons = async ({ orgId }: Organization): Promise<readonly unknown[]> => {
  const rows = await sql()<{ changes: { reason: [null, string] } }[]>`
    select changes from audit_entries where org_id = ${orgId} and action = 'sso.reject' order by at`;
  return rows.map(({ changes }) => changes.reason[1]);
};
const memberOf = (orgId: string, email: string) => sql()<{ role: string; userId: string }[]>`
  select m.role, u.id as "userId" from memberships m join users u on u.id = m.user_id
   where m.org_id = ${orgId} and u.email = ${email}`;

/** An account with a password, outside of the organization. */
async function signUp(email: string, password = 'correct horse battery'): Promise<{ token: string; userId: string }> {
  const body = { email, password, name: 'Ada', orgName: 'Own' };
  const { body: reply } = await plane().call('POST', '/v1/auth/signup', { body });
  return { token: reply.token, userId: reply.user.id };
}

const entriesOf = async ({ orgId }: Pick<Organization, 'orgId'>, action: string): Promise<readonly unknown[]> => {
  const rows = await sql()<{ changes: unknown }[]>`
    select changes from audit_entries where org_id = ${orgId} and action = ${action} order by at, id`;
  return rows.map(({ changes }) => changes);
};
const countMembers = async (orgId: string): Promise<number> =>
  (await sql()`select 1 from memberships where org_id = ${orgId}`).length;
const sessionStatus = async (session: string | undefined): Promise<number> =>
  (await callWithSession(plane(), session, 'GET', '/v1/me')).status;
const weeklyCheck = async () => {
  const { resolveTxtRecords } = await import('@acg/controlplane/sso/resolve-txt-records');
  const { SsoSettingsService } = await import('@acg/controlplane/sso/settings-service');
  return new SsoSettingsService({ sql: plane().service.sql, resolveTxt: resolveTxtRecords } as never);
};

test('a new person of a verified domain gets an account and the default role; the session serves this organization for 24 h', async () => {
  const org = await createOrganization({ defaultRole: 'member' });
  const result = await logIn(org, 'new', { claims: { name: 'Ada Lovelace' } });
  expect(result).toMatchObject({ status: 200, text: expect.stringContaining('url=../../') });
  const session = result.cookies.acg_session;
  expect(result.cookies.acg_sso).toBe('');
  const me = await callWithSession(plane(), session, 'GET', '/v1/me');
  expect(me.body).toMatchObject({
    user: { email: org.email, name: 'Ada Lovelace', emailVerified: true },
    role: 'member',
  });
  for (const [method, path, body] of [
    ['PATCH', '/v1/session', { orgId: org.orgId }],
    ['PATCH', '/v1/me', { name: 'Other' }],
    ['GET', '/v1/sessions', undefined],
    ['POST', '/v1/orgs', { name: 'Own' }],
    ['POST', '/v1/second-factor', { password: 'x' }],
  ] as const)
    expect({ path, ...(await callWithSession(plane(), session, method, path, body)) }).toMatchObject({ status: 403 });
  const [row] = await sql()<{ hours: number; sso: boolean }[]>`
    select extract(epoch from s.expires_at - s.created_at)::int / 3600 as hours, sso from sessions s
      join users u on u.id = s.user_id where u.email = ${org.email}`;
  expect(row).toEqual({ hours: 24, sso: true });
  expect((await plane().call('POST', '/v1/auth/login', { body: { email: org.email, password: 'sso' } })).status).toBe(
    401,
  );
  expect(await entriesOf(org, 'member.join')).toEqual([{ role: [null, 'member'] }]);
  expect(await entriesOf(org, 'sso.link')).toEqual([{ subject: [null, 'new'] }]);
  expect(await entriesOf(org, 'session.create')).toEqual([{ sso: [null, true] }]);
  // The second login opens the same account.
  const again = await logIn(org, 'new');
  const sameUser = await callWithSession(plane(), again.cookies.acg_session, 'GET', '/v1/me');
  expect(sameUser.body.user.id).toBe(me.body.user.id);
  const actions = await sql()<{ action: string }[]>`select action from audit_entries where org_id = ${org.orgId}`;
  expect(actions.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      'sso.configure',
      'sso_domain.create',
      'sso_domain.verify',
      'member.join',
      'sso.link',
      'session.create',
    ]),
  );
});

test('the request to the provider has PKCE, a nonce, and a redirect URI of the organization; the code is sent with its verifier', async () => {
  const org = await createOrganization();
  const { authorization, state, nonce, cookie } = await startLogin(plane(), org.email);
  const parameters = Object.fromEntries(authorization.searchParams);
  const redirectUri = `${plane().config.publicUrl}/sso/${org.orgId}/callback`;
  expect(parameters).toMatchObject({
    client_id: CLIENT_ID,
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    login_hint: org.email,
  });
  provider.idToken = provider.sign(provider.claims(nonce, { sub: 'pkce', email: org.email }));
  expect((await openCallback(plane(), org.orgId, { code: 'the code', state }, cookie)).status).toBe(200);
  expect(Object.fromEntries(provider.tokenRequests[0]!)).toMatchObject({
    code: 'the code',
    redirect_uri: redirectUri,
    client_secret: CLIENT_SECRET,
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
  });
});

test('an account that exists is linked after its own login only, with its second factor; then single sign-on opens it', async () => {
  const org = await createOrganization();
  const { userId } = await signUp(org.email);
  const first = await logIn(org, 'owner of an account');
  expect(first).toMatchObject({ status: 200, text: expect.stringContaining('Connect your account') });
  expect(first.cookies.acg_session).toBeUndefined();
  expect(await memberOf(org.orgId, org.email)).toEqual([]);
  const wrong = await callLink(plane(), first.cookies.acg_sso, { password: 'not the password' });
  expect(wrong.status).toBe(401);
  expect((await callLink(plane(), undefined, { password: 'correct horse battery' })).status).toBe(400);
  await sql()`insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at) values (${userId}, '', '', '', now())`;
  const missing = await callLink(plane(), first.cookies.acg_sso, { password: 'correct horse battery' });
  expect(missing).toMatchObject({ status: 401, body: { secondFactor: true } });
  await sql()`delete from second_factors where user_id = ${userId}`;
  const expiry = (seconds: number) => sql()`update sso_links set expires_at = now() + ${seconds} * interval '1 second'`;
  await expiry(-1);
  expect((await callLink(plane(), first.cookies.acg_sso, { password: 'correct horse battery' })).status).toBe(400);
  await expiry(60);
  const linked = await callLink(plane(), first.cookies.acg_sso, { password: 'correct horse battery' });
  expect(linked.status).toBe(200);
  expect(linked.headers.getSetCookie().join()).toContain('acg_session=');
  expect(await memberOf(org.orgId, org.email)).toEqual([{ role: 'viewer', userId }]);
  expect((await callLink(plane(), first.cookies.acg_sso, { password: 'correct horse battery' })).status).toBe(400);
  const second = await logIn(org, 'owner of an account');
  expect((await callWithSession(plane(), second.cookies.acg_session, 'GET', '/v1/me')).body.user.id).toBe(userId);
});

test('attack: an e-mail address changed at the provider opens no other account', async () => {
  const org = await createOrganization();
  const victim = { ...org, email: `victim@${org.domain}` };
  await logIn(victim, 'victim');
  const attacker = await logIn(org, 'attacker');
  const own = await callWithSession(plane(), attacker.cookies.acg_session, 'GET', '/v1/me');
  const renamed = await logIn(victim, 'attacker');
  expect((await callWithSession(plane(), renamed.cookies.acg_session, 'GET', '/v1/me')).body.user).toEqual(
    own.body.user,
  );
  // An unknown subject with the victim's address gets to the login of the victim's account, not into it.
  const unknown = await logIn(victim, 'another attacker');
  expect(unknown.text).toContain('Connect your account');
  expect(unknown.cookies.acg_session).toBeUndefined();
});

test.each([
  ['unverified e-mail', { email_verified: false }, 'email_unverified'],
  ['e-mail verified as a text', { email_verified: 'false' }, 'email_unverified'],
  ['no e-mail', { email: undefined }, 'email_missing'],
  ['empty e-mail', { email: ' ' }, 'email_missing'],
  ['e-mail that is no text', { email: ['ada@example.com'] }, 'email_missing'],
  ['e-mail of another domain', { email: 'ada@not-verified.example.com' }, 'domain_unverified'],
  [
    'e-mail of a domain that another organization has verified',
    { email: async () => (await createOrganization()).email },
    'domain_unverified',
  ],
  [
    'e-mail of a domain that the organization has added and not verified',
    {
      email: async (_domain: string, owner: Member) => {
        const added = newDomain();
        await owner.call('POST', '/v1/sso/domains', { domain: added });
        return `ada@${added}`;
      },
    },
    'domain_unverified',
  ],
  ['e-mail of a subdomain', { email: (domain: string) => `ada@sub.${domain}` }, 'domain_unverified'],
  ['e-mail with two @', { email: (domain: string) => `ada@evil.com@${domain}.evil.com` }, 'domain_unverified'],
])('rejected with a page and an audit entry: %s', async (_name, change, reason) => {
  const org = await createOrganization();
  const email =
    'email' in change && typeof change.email === 'function' ? { email: await change.email(org.domain, org.owner) } : {};
  const result = await logIn(org, 'rejected', { claims: { ...change, ...email } });
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('Single sign-on failed') });
  expect(result.cookies).toEqual({});
  expect(await reasons(org)).toEqual([reason]);
  expect(await sql()`select 1 from sso_identities where org_id = ${org.orgId}`).toEqual([]);
});

test.each([
  ['no name', undefined],
  ['an empty name', '  '],
  ['a name that is no text', 7],
  ['a name of 256 characters', 'x'.repeat(256)],
])('a person with %s is called by the address', async (_name, name) => {
  const org = await createOrganization();
  const { cookies } = await logIn(org, 'nameless', { claims: { name } });
  const me = await callWithSession(plane(), cookies.acg_session, 'GET', '/v1/me');
  expect(me.body.user).toMatchObject({ email: org.email, name: 'ada' });
});

test('without a default role people need an invitation; a removed member does not come back by single sign-on', async () => {
  const org = await createOrganization({ defaultRole: null });
  expect((await logIn(org, 'stranger')).status).toBe(403);
  expect(await reasons(org)).toEqual(['not_invited']);
  await configure(org.owner, provider.issuer, { defaultRole: 'viewer' });
  const joined = await logIn(org, 'stranger');
  expect(joined.status).toBe(200);
  const [{ userId } = { userId: '' }] = await memberOf(org.orgId, org.email);
  expect((await org.owner.call('DELETE', `/v1/members/${userId}`)).status).toBe(200);
  expect((await callWithSession(plane(), joined.cookies.acg_session, 'GET', '/v1/me')).status).toBe(401);
  expect((await logIn(org, 'stranger')).text).toContain('no longer a member');
  expect(await reasons(org)).toEqual(['not_invited', 'removed']);
});

test.each<[string, LoginOptions]>([
  ['alg none', { sign: (claims) => provider.unsigned(claims) }],
  ['HMAC with the public key', { sign: (claims) => provider.signWithPublicKey(claims) }],
  ["a stranger's key", { sign: (claims) => provider.signWithStrangersKey(claims) }],
  ['no ID token', { sign: () => '' }],
  ['an unknown key id', { sign: (claims) => provider.sign(claims, { kid: 'unknown' }) }],
  ['a nonce of another login', { claims: { nonce: 'of another login' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another issuer', { claims: { iss: 'https://other.example.com' } }],
  ['an issuer with a slash', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}/` }) }],
  ['an issuer in capitals', { sign: (claims) => provider.sign({ ...claims, iss: provider.issuer.toUpperCase() }) }],
  ['an issuer with a fragment', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}#` }) }],
  [
    'an issuer with credentials',
    { sign: (claims) => provider.sign({ ...claims, iss: provider.issuer.replace('//', '//x@') }) },
  ],
  ['an issuer with a comment', { sign: (claims) => provider.sign({ ...claims, iss: `${provider.issuer}<!-- -->` }) }],
  ['no issuer', { claims: { iss: undefined } }],
  ['an issuer in a list', { sign: (claims) => provider.sign({ ...claims, iss: [provider.issuer] }) }],
  ['another audience', { claims: { aud: 'another client' } }],
  ['several audiences without azp', { claims: { aud: [CLIENT_ID, 'another client'] } }],
  ['an expired token', { claims: { exp: Math.floor(Date.now() / 1000) - 120 } }],
  ['no subject', { claims: { sub: undefined } }],
  ['a subject of 300 characters', { claims: { sub: 's'.repeat(300) } }],
  ['a subject with NUL', { claims: { sub: 'a\0b' } }],
  ['a subject with half of a character', { claims: { sub: 'a\ud83db' } }],
  ['iss of another provider in the callback', { parameters: { iss: 'https://other.example.com' } }],
  ['an error of the provider', { parameters: { error: 'access_denied' } }],
])('attack: the answer of the provider is rejected: %s', async (_name, options) => {
  const org = await createOrganization();
  const result = await logIn(org, 'attacker', options);
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('was rejected') });
  expect(result.cookies).toEqual({});
  expect(await reasons(org)).toHaveLength(1);
  expect(await memberOf(org.orgId, org.email)).toEqual([]);
});

test('a clock that is 30 s ahead or behind is no problem', async () => {
  const org = await createOrganization();
  const now = Math.floor(Date.now() / 1000);
  expect((await logIn(org, 'ahead', { claims: { iat: now + 30, nbf: now + 30 } })).status).toBe(200);
  const late = await logIn({ ...org, email: `late@${org.domain}` }, 'behind', { claims: { exp: now - 30 } });
  expect(late.status).toBe(200);
});

test('attack: a callback counts once, in the browser that began the login, at the organization of its login', async () => {
  const org = await createOrganization();
  const other = await createOrganization();
  const attempt = async (orgId: string, cookie: (own: string) => string | null) => {
    const started = await startLogin(plane(), org.email);
    provider.idToken = provider.sign(provider.claims(started.nonce, { sub: 'attacker', email: org.email }));
    return openCallback(plane(), orgId, { code: 'a code', state: started.state }, cookie(started.cookie));
  };
  const strangersCookie = (await startLogin(plane(), org.email)).cookie;
  expect((await attempt(org.orgId, () => null)).status).toBe(403);
  expect((await attempt(org.orgId, () => strangersCookie)).status).toBe(403);
  expect((await attempt(other.orgId, (own) => own)).status).toBe(403); // mix-up of two providers
  const begun = await startLogin(plane(), org.email);
  for (const parameters of [{ code: 'a code', state: 'of another login' }, { code: 'a code' }])
    expect((await openCallback(plane(), org.orgId, parameters as never, begun.cookie)).status).toBe(403);
  expect(provider.tokenRequests).toEqual([]);

  const started = await startLogin(plane(), org.email);
  provider.idToken = provider.sign(provider.claims(started.nonce, { sub: 'once', email: org.email }));
  const callback = () => openCallback(plane(), org.orgId, { code: 'a code', state: started.state }, started.cookie);
  const results = await Promise.all([callback(), callback(), callback()]);
  expect(results.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
  expect((await callback()).status).toBe(403);
  const late = await startLogin(plane(), org.email);
  await sql()`update sso_logins set expires_at = now() - interval '1 second' where org_id = ${org.orgId}`;
  expect((await openCallback(plane(), org.orgId, { code: 'a code', state: late.state }, late.cookie)).status).toBe(403);
});

test('a login lasts 10 minutes; its cookie and its page are for this browser and this service only', async () => {
  const org = await createOrganization();
  const body = JSON.stringify({ email: org.email });
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const started = await fetch(`${plane().url}/v1/sso/start`, { method: 'POST', headers, body });
  const [cookie] = started.headers.getSetCookie();
  expect(cookie).toMatch(/^acg_sso=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  const [row] = await sql()<{ left: number }[]>`
    select extract(epoch from expires_at - now())::float8 as left from sso_logins where org_id = ${org.orgId}`;
  expect(row!.left).toBeGreaterThan(300);
  expect(row!.left).toBeLessThanOrEqual(600);
  const page = await fetch(`${plane().url}/sso/${org.orgId}/callback?state=x`);
  expect(page.status).toBe(403);
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const { SsoCookie } = await import('@acg/controlplane/sso/sso-cookie');
  const secure = new SsoCookie('https://gateway.example.com').serializeSetCookie('s');
  expect(secure).toBe('__Host-acg_sso=s; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax');
  expect(new SsoCookie('https://gateway.example.com').serializeSetCookie(null)).toContain('__Host-acg_sso=; Max-Age=0');
  const crossSite = { headers: { 'sec-fetch-site': 'cross-site', cookie: 'acg_sso=x' }, body: { password: 'x' } };
  expect((await plane().call('POST', '/v1/sso/link', crossSite)).status).toBe(403);
});

test('people of two organizations at one provider: each organization has its own links, roles and logins', async () => {
  const org = await createOrganization();
  const other = await createOrganization();
  const session = (await logIn(org, 'ada')).cookies.acg_session;
  // The link of one organization opens nothing at the other one.
  const elsewhere = await logIn({ ...other, email: `eve@${other.domain}` }, 'ada');
  const me = async (cookie: string | undefined) => (await callWithSession(plane(), cookie, 'GET', '/v1/me')).body.user;
  expect((await me(elsewhere.cookies.acg_session)).email).toBe(`eve@${other.domain}`);
  expect((await me(session)).email).toBe(org.email);
  // A member of another organization who was removed here stays removed.
  const [{ userId } = { userId: '' }] = await memberOf(org.orgId, org.email);
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${userId}, 'admin')`;
  expect((await org.owner.call('DELETE', `/v1/members/${userId}`)).status).toBe(200);
  expect((await logIn(org, 'ada')).text).toContain('no longer a member');
});

test('the same subject of another issuer is another person', async () => {
  const org = await createOrganization();
  const victim = { ...org, email: `victim@${org.domain}` };
  await logIn(victim, 'subject');
  const next = await HostileProvider.start();
  expect((await configure(org.owner, next.issuer)).status).toBe(200);
  const started = await startLogin(plane(), org.email);
  next.idToken = next.sign(next.claims(started.nonce, { sub: 'subject', email: org.email }));
  const result = await openCallback(plane(), org.orgId, { code: 'c', state: started.state }, started.cookie);
  await next.stop();
  const me = await callWithSession(plane(), result.cookies.acg_session, 'GET', '/v1/me');
  expect(me.body.user.email).toBe(org.email);
});

test('two people who wait for the login to their accounts: each links the own one', async () => {
  const org = await createOrganization();
  const people = [org, { ...org, email: `eve@${org.domain}` }];
  const accounts = [];
  for (const { email } of people) accounts.push(await signUp(email));
  const [ada, eve] = [await logIn(people[0]!, 'ada'), await logIn(people[1]!, 'eve')];
  const password = 'correct horse battery';
  const strangers = randomBytes(32).toString('base64url');
  expect((await callLink(plane(), strangers, { password })).status).toBe(400);
  expect((await callLink(plane(), ada.cookies.acg_sso, { password })).status).toBe(200);
  expect((await callLink(plane(), eve.cookies.acg_sso, { password })).status).toBe(200);
  for (const [n, { email }] of people.entries())
    expect(await memberOf(org.orgId, email)).toEqual([{ role: 'viewer', userId: accounts[n]!.userId }]);
  expect(await entriesOf(org, 'sso.link')).toEqual([{ subject: [null, 'ada'] }, { subject: [null, 'eve'] }]);
});

test('what changes between the answer of the provider and the login to the account counts', async () => {
  const org = await createOrganization({ defaultRole: 'member' });
  const { userId } = await signUp(org.email);
  const waiting = (await logIn(org, 'ada')).cookies.acg_sso;
  const link = () => callLink(plane(), waiting, { password: 'correct horse battery' });
  const purge = (at: Date | null) => sql()`update organizations set purge_at = ${at} where id = ${org.orgId}`;
  await purge(new Date(Date.now() + 86_400_000));
  expect((await link()).status).toBe(400);
  await purge(null);
  const entry = randomUUID();
  await sql()`insert into scim_users (id, org_id, user_name, active) values (${entry}, ${org.orgId}, ${org.email}, false)`;
  expect(await link()).toMatchObject({ status: 400, body: { error: expect.stringContaining('deactivated you') } });
  await sql()`delete from scim_users where id = ${entry}`;
  // As a control plane of the previous release stored it: the role for new members counts.
  await sql()`update sso_links set role = null where org_id = ${org.orgId}`;
  await sql()`update sso_connections set default_role = null where org_id = ${org.orgId}`;
  expect(await link()).toMatchObject({ status: 400, body: { error: expect.stringContaining('by invitation only') } });
  expect(await memberOf(org.orgId, org.email)).toEqual([]);
  await sql()`update sso_connections set default_role = 'member' where org_id = ${org.orgId}`;
  expect((await link()).status).toBe(200);
  expect(await memberOf(org.orgId, org.email)).toEqual([{ role: 'member', userId }]);
});

test('an organization that is being deleted admits no member', async () => {
  const org = await createOrganization();
  const started = await startLogin(plane(), org.email);
  await sql()`update organizations set purge_at = now() + interval '7 days' where id = ${org.orgId}`;
  await expect(startLogin(plane(), org.email)).rejects.toThrow('404');
  provider.idToken = provider.sign(provider.claims(started.nonce, { sub: 'late', email: org.email }));
  const late = await openCallback(plane(), org.orgId, { code: 'c', state: started.state }, started.cookie);
  expect(late.status).toBe(403);
  expect(await countMembers(org.orgId)).toBe(1);
});

test('the audit trail has at most 100 rejected logins of an organization in an hour', async () => {
  const org = await createOrganization({ defaultRole: null });
  await logIn(org, 'first');
  await sql()`update throttle_windows set count = 99 where key = ${`sso-reject:${org.orgId}`}`;
  await logIn(org, 'hundredth');
  expect((await logIn(org, 'one more')).status).toBe(403);
  expect(await reasons(org)).toEqual(['not_invited', 'not_invited']);
});

test('two logins of one new person at the same moment create one account', async () => {
  const org = await createOrganization();
  const starts = await Promise.all([startLogin(plane(), org.email), startLogin(plane(), org.email)]);
  provider.answerToken = (_request, response) => {
    const { nonce } = starts[Number(provider.tokenRequests.at(-1)!.get('code'))]!;
    const idToken = provider.sign(provider.claims(nonce, { sub: 'twice', email: org.email }));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', id_token: idToken }));
  };
  const results = await Promise.all(
    starts.map(({ state, cookie }, n) => openCallback(plane(), org.orgId, { code: String(n), state }, cookie)),
  );
  expect(results.map(({ status }) => status)).toEqual([200, 200]);
  expect(await memberOf(org.orgId, org.email)).toHaveLength(1);
});

test.each([
  ['closes the connection', (_request: unknown, response: { destroy(): void }) => response.destroy()],
  [
    'redirects',
    (_request: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) =>
      response.writeHead(307, { location: `${provider.issuer}/token` }).end(),
  ],
  [
    'answers a megabyte',
    (_request: unknown, response: { setHeader(name: string, value: string): { end(text: string): void } }) =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ access_token: 'x'.repeat(1_000_000) })),
  ],
  [
    'answers HTML',
    (_request: unknown, response: { setHeader(name: string, value: string): { end(text: string): void } }) =>
      response.setHeader('content-type', 'text/html').end('<script>alert(1)</script>'),
  ],
])('bad input: the token endpoint %s', async (_name, answer) => {
  const org = await createOrganization();
  provider.answerToken = answer as never;
  const result = await logIn(org, 'nobody');
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('was rejected') });
  expect(result.text).not.toContain('alert(1)');
  expect(provider.tokenRequests).toHaveLength(1);
});

test('a provider that is away: a text that says so, and the password still logs in', async () => {
  const gone = await HostileProvider.start();
  const owner = await plane().createMember('owner');
  const domain = newDomain();
  await verifyDomain(owner, domain, txt.records);
  await configure(owner, gone.issuer);
  await gone.stop();
  await expect(startLogin(plane(), `ada@${domain}`)).rejects.toThrow(/400 the identity provider failed/);
  const email = `owner@${domain}`;
  await signUp(email);
  const login = await plane().call('POST', '/v1/auth/login', { body: { email, password: 'correct horse battery' } });
  expect(login.status).toBe(200);
});

test('the start: unknown domains are 404, other pages are 403', async () => {
  const org = await createOrganization();
  for (const email of ['ada@unknown.example.com', `ada@sub.${org.domain}`, 'ada@gmail.com'])
    await expect(startLogin(plane(), email)).rejects.toThrow('404');
  const body = { email: org.email };
  expect((await plane().call('POST', '/v1/sso/start', { body })).status).toBe(403);
  const headers = { 'sec-fetch-site': 'cross-site' };
  expect((await plane().call('POST', '/v1/sso/start', { body, headers })).status).toBe(403);
});

test('domains: own ones only, verified by one organization, each checked again after a week', async () => {
  const org = await createOrganization();
  const rival = await plane().createMember('owner');
  for (const domain of ['gmail.com', 'GMAIL.com', 'com', 'a b.com', 'example', '127.0.0.1', 'ex_ample.com', ''])
    expect({ domain, ...(await rival.call('POST', '/v1/sso/domains', { domain })) }).toMatchObject({ status: 400 });
  const added = await rival.call('POST', '/v1/sso/domains', { domain: org.domain.toUpperCase() });
  const { id, domain, recordName, recordValue } = added.body.domain;
  expect(domain).toBe(org.domain);
  expect(added.body.domain).toMatchObject({ verifiedAt: null, checkedAt: null });
  expect((await rival.call('POST', '/v1/sso/domains', { domain })).status).toBe(409);
  const verify = (by: Member, domainId: string) => by.call('POST', `/v1/sso/domains/${domainId}/verify`);
  const ownRecord = txt.records.get(recordName)!;
  expect((await verify(rival, id)).body.domain).toMatchObject({ verifiedAt: null, checkedAt: expect.any(String) });
  txt.records.set(recordName, [...ownRecord, recordValue]);
  expect(await verify(rival, id)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('another organization') },
  });
  expect((await verify(rival, org.domainId)).status).toBe(404);
  txt.records.set(recordName, 'silent');
  expect((await verify(org.owner, org.domainId)).status).toBe(409);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains[0].verifiedAt).not.toBeNull();

  // A week later: no answer changes nothing, a record that is gone ends the verification.
  const settings = await weeklyCheck();
  const isVerified = async () => (await org.owner.call('GET', '/v1/sso')).body.domains[0].verifiedAt !== null;
  const weekLater = (minutes = 1) => sql()`
    update sso_domains set checked_at = now() - interval '7 days' - make_interval(mins => ${minutes})
     where id = ${org.domainId}`;
  await weekLater();
  await settings.recheckDomains();
  expect(await isVerified()).toBe(true);
  txt.records.set(recordName, [recordValue]);
  await weekLater(-10);
  await settings.recheckDomains();
  expect(await isVerified()).toBe(true);
  await weekLater();
  await settings.recheckDomains();
  expect(await isVerified()).toBe(false);
  await expect(startLogin(plane(), org.email)).rejects.toThrow('404');
  expect((await verify(rival, id)).body.domain.verifiedAt).not.toBeNull();
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${org.domainId}`)).status).toBe(200);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toEqual([]);
});

test('domains: at most 50, also by two requests at the same moment; a removal and a check concern one of them', async () => {
  const org = await createOrganization();
  const second = await org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  const secondId = second.body.domain.id;
  txt.records.set(second.body.domain.recordName, [second.body.domain.recordValue]);
  const verified = await org.owner.call('POST', `/v1/sso/domains/${secondId}/verify`);
  expect(verified.body.domain).toMatchObject({ id: secondId, verifiedAt: expect.any(String) });
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${secondId}`)).body).toEqual({ deleted: true });
  expect((await org.owner.call('DELETE', `/v1/sso/domains/${secondId}`)).status).toBe(404);
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toMatchObject([{ id: org.domainId }]);
  const { domain } = second.body.domain;
  expect(await entriesOf(org, 'sso_domain.create')).toEqual([
    { domain: [null, org.domain] },
    { domain: [null, domain] },
  ]);
  expect(await entriesOf(org, 'sso_domain.verify')).toContainEqual({
    domain: [domain, domain],
    verified: [false, true],
  });
  expect(await entriesOf(org, 'sso_domain.delete')).toEqual([{ domain: [domain, null] }]);
  await sql()`
    insert into sso_domains (id, org_id, domain, token)
    select gen_random_uuid(), ${org.orgId}, 'd' || n || '.example.com', 'token' from generate_series(1, 48) n`;
  const add = () => org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  let additions: Promise<Awaited<ReturnType<typeof add>>[]>;
  await sql().begin(async (tx) => {
    await tx`select 1 from organizations where id = ${org.orgId} for no key update`;
    additions = Promise.all([add(), add()]);
    const waiting = () => sql()`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await waitUntil('both wait for the organization', async () => (await waiting()).length >= 2);
  });
  const answers = await additions!;
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  const full = answers.find(({ status }) => status === 409)!;
  expect(full.body.error).toContain('50 domains');
  expect((await org.owner.call('GET', '/v1/sso')).body.domains).toHaveLength(50);
});

test('the weekly check takes 20 verified domains at a time, the oldest first, and waits for no other control plane', async () => {
  const org = await createOrganization();
  // Domains of other tests are not due.
  await sql()`update sso_domains set checked_at = now() where verified_at is not null`;
  await sql()`
    insert into sso_domains (id, org_id, domain, token, verified_at, checked_at)
    select gen_random_uuid(), ${org.orgId}, 'due-' || n || '.example.org', 'token', now(), now() - make_interval(days => 30 + n)
      from generate_series(1, 22) n`;
  await sql()`
    insert into sso_domains (id, org_id, domain, token, checked_at)
    values (gen_random_uuid(), ${org.orgId}, 'never.example.org', 'token', now() - interval '99 days')`;
  const settings = await weeklyCheck();
  const due = async () =>
    (
      await sql()<{ domain: string }[]>`
        select domain from sso_domains where org_id = ${org.orgId} and checked_at < now() - interval '8 days' order by checked_at`
    ).map(({ domain }) => domain);
  // Another control plane checks the oldest one.
  await sql().begin(async (tx) => {
    await tx`select 1 from sso_domains where org_id = ${org.orgId} and domain = 'due-22.example.org' for update`;
    await settings.recheckDomains();
  });
  expect(await due()).toEqual(['never.example.org', 'due-22.example.org', 'due-1.example.org']);
  await settings.recheckDomains();
  expect(await due()).toEqual(['never.example.org']);
  const verified = await sql()`select domain from sso_domains where org_id = ${org.orgId} and verified_at is not null`;
  expect(verified).toEqual([{ domain: org.domain }]);
});

test('settings: issuers inside of the network are rejected, secrets never shown, a new client needs its secret', async () => {
  const org = await createOrganization();
  const { owner } = org;
  for (const issuer of [
    'http://10.0.0.1',
    'https://metadata.internal',
    'ftp://example.com',
    'http://example.com',
    'no url',
  ])
    expect({ issuer, ...(await configure(owner, issuer)) }).toMatchObject({ status: 400 });
  const withoutDocument = await configure(owner, `${provider.issuer}/realms/none`);
  expect(withoutDocument).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('discovery document') },
  });
  const shown = await owner.call('GET', '/v1/sso');
  expect(shown.body.connection).toEqual({
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    defaultRole: 'viewer',
    groupsClaim: 'groups',
    groupRoles: [],
    breakGlassUserId: null,
    createdAt: expect.any(String),
  });
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('GET', '/v1/sso')).body).toMatchObject({ connection: null, domains: [] });
  const keep = { issuer: provider.issuer, clientId: CLIENT_ID, defaultRole: 'admin' };
  const another = await HostileProvider.start();
  expect((await owner.call('PUT', '/v1/sso', { ...keep, issuer: another.issuer })).status).toBe(400);
  await another.stop();
  const groupRoles = [{ group: 'g', role: 'admin' }];
  await owner.call('PUT', '/v1/sso', { ...keep, groupsClaim: 'teams', groupRoles });
  expect((await owner.call('PUT', '/v1/sso', keep)).body.connection).toMatchObject({
    groupsClaim: 'teams',
    groupRoles,
  });
  expect((await entriesOf(org, 'sso.configure')).slice(0, 2)).toEqual([
    {
      issuer: [null, provider.issuer],
      clientId: [null, CLIENT_ID],
      defaultRole: [null, 'viewer'],
      groupsClaim: [null, null],
      groupRoles: [[], []],
      breakGlassUserId: [null, null],
    },
    {
      issuer: [provider.issuer, provider.issuer],
      clientId: [CLIENT_ID, CLIENT_ID],
      defaultRole: ['viewer', 'admin'],
      groupsClaim: [null, 'teams'],
      groupRoles: [[], ['g: admin']],
      breakGlassUserId: [null, null],
    },
  ]);
  await owner.call('PUT', '/v1/sso', { ...keep, groupRoles: [] });
  expect((await owner.call('PUT', '/v1/sso', keep)).body.connection.defaultRole).toBe('admin');
  expect((await owner.call('PUT', '/v1/sso', { ...keep, clientId: 'other' })).status).toBe(400);
  expect((await owner.call('PUT', '/v1/sso', { ...keep, defaultRole: 'owner' })).status).toBe(400);
  expect((await logIn(org, 'still')).status).toBe(200);
});

test('a new client, or no provider any more, ends the sessions and logins of single sign-on and no others', async () => {
  /** A session, a login that has begun, and a person who waits for the login to the account. */
  async function open(org: Organization) {
    const session = (await logIn(org, 'in session')).cookies.acg_session;
    const waiting = { ...org, email: `waiting@${org.domain}` };
    await signUp(waiting.email);
    const link = (await logIn(waiting, 'waiting')).cookies.acg_sso;
    const begun = await startLogin(plane(), org.email);
    const finish = async () => {
      provider.idToken = provider.sign(provider.claims(begun.nonce, { sub: 'in session', email: org.email }));
      const parameters = { code: 'c', state: begun.state };
      const { status: callback } = await openCallback(plane(), org.orgId, parameters, begun.cookie);
      const linked = await callLink(plane(), link, { password: 'correct horse battery' });
      return { session: await sessionStatus(session), callback, link: linked.status };
    };
    return { session, finish };
  }
  const org = await createOrganization();
  const other = await createOrganization();
  const [own, foreign] = [await open(org), await open(other)];
  await configure(org.owner, provider.issuer, { defaultRole: 'member' });
  expect(await sessionStatus(own.session)).toBe(200);
  await configure(org.owner, provider.issuer, { clientId: 'another' });
  expect(await own.finish()).toEqual({ session: 401, callback: 403, link: 400 });
  expect((await org.owner.call('DELETE', '/v1/sso')).status).toBe(200);
  expect((await org.owner.call('DELETE', '/v1/sso')).status).toBe(404);
  expect(await entriesOf(org, 'sso.remove')).toEqual([{ issuer: [provider.issuer, null] }]);
  expect((await org.owner.call('GET', '/v1/me')).status).toBe(200);
  expect(await foreign.finish()).toEqual({ session: 200, callback: 200, link: 200 });
});

test('the second factor of the policy is the provider’s business in such a session; changes of it need a confirmed owner', async () => {
  const org = await createOrganization();
  const { cookies } = await logIn(org, 'policy');
  await sql()`update organizations set require_second_factor = true where id = ${org.orgId}`;
  expect((await callWithSession(plane(), cookies.acg_session, 'GET', '/v1/projects')).status).toBe(200);
  await sql()`
    insert into second_factors (user_id, key_id, nonce, ciphertext, confirmed_at) values (${org.owner.userId}, '', '', '', now())`;
  expect(await configure(org.owner, provider.issuer)).toMatchObject({ status: 403, body: { secondFactor: true } });
  expect((await org.owner.call('DELETE', '/v1/sso')).body.secondFactor).toBe(true);
});

interface TestStep {
  readonly name: string;
  readonly ok: boolean | null;
  readonly message: string;
  readonly action: string | null;
}
const runTest = async ({ owner }: Pick<Organization, 'owner'>) => {
  const { status, body } = await owner.call('POST', '/v1/sso/test');
  const steps = (body.steps ?? []) as readonly TestStep[];
  return { status, ok: body.ok, body, states: Object.fromEntries(steps.map(({ name, ok }) => [name, ok])), steps };
};
const answerError = (error: string) =>
  ((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }) satisfies HostileProvider['answerToken'];

test('test of the settings: every step, without a login; admins only, in the audit trail, 30 an hour', async () => {
  const groupRoles = [{ group: 'g', role: 'member' }];
  const org = await createOrganization({ groupRoles, groupsClaim: 'teams' });
  provider.answerToken = answerError('invalid_grant');
  provider.document = { claims_supported: ['sub', 'teams'] };
  const passed = await runTest(org);
  expect(passed).toMatchObject({ status: 200, ok: true });
  expect(passed.states).toEqual({
    provider: true,
    discovery: true,
    issuer: true,
    endpoints: true,
    keys: true,
    client: true,
    'redirect URI': null,
    groups: true,
    domains: true,
  });
  expect(passed.steps.find(({ name }) => name === 'redirect URI')!.message).toBe(
    `${plane().config.publicUrl}/sso/${org.orgId}/callback`,
  );
  expect(JSON.stringify(passed.body)).not.toContain(CLIENT_SECRET);
  const [request] = provider.tokenRequests;
  expect(Object.fromEntries(request!)).toMatchObject({
    grant_type: 'authorization_code',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    code: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(await countMembers(org.orgId)).toBe(1);

  await org.owner.call('POST', '/v1/sso/domains', { domain: newDomain() });
  const member = await plane().createMember('member', org.orgId);
  expect((await member.call('POST', '/v1/sso/test')).status).toBe(403);
  const admin = await plane().createMember('admin', org.orgId);
  expect((await runTest({ owner: admin })).states).toMatchObject({ domains: false });
  expect(await entriesOf(org, 'sso.test')).toEqual([{ failed: [null, []] }, { failed: [null, ['domains']] }]);
  await sql()`update throttle_windows set count = 29 where key = ${`sso-test:${org.orgId}`}`;
  expect((await runTest(org)).status).toBe(200);
  expect((await runTest(org)).status).toBe(429);

  const without = await runTest({ owner: await plane().createMember('owner') });
  expect(without).toMatchObject({ ok: false, states: { provider: false, 'redirect URI': null, domains: false } });
});

test.each<[string, () => void, Readonly<Record<string, boolean | null>>]>([
  [
    'another issuer',
    () => (provider.document = { issuer: 'https://other.example.com' }),
    { discovery: true, issuer: false },
  ],
  ['no token endpoint', () => (provider.document = { token_endpoint: undefined }), { endpoints: false, client: null }],
  [
    'an authorization endpoint that is a script',
    () => (provider.document = { authorization_endpoint: 'javascript:alert(1)' }),
    { endpoints: false },
  ],
  [
    'a token endpoint inside of the network',
    () => (provider.document = { token_endpoint: 'https://10.0.0.1/token' }),
    { endpoints: false, keys: true, client: null },
  ],
  [
    'a key set inside of the network',
    () => (provider.document = { jwks_uri: 'https://169.254.169.254/latest' }),
    { endpoints: false, keys: false },
  ],
  ['HMAC only', () => (provider.document = { id_token_signing_alg_values_supported: ['HS256'] }), { keys: false }],
  [
    'ES256 without such a key',
    () => (provider.document = { id_token_signing_alg_values_supported: ['ES256'] }),
    { keys: false },
  ],
  [
    'no list of algorithms',
    () => (provider.document = { id_token_signing_alg_values_supported: undefined }),
    { keys: true },
  ],
  [
    'an object as list of algorithms',
    () => (provider.document = { id_token_signing_alg_values_supported: {} }),
    { keys: true },
  ],
  [
    'a key set that redirects',
    () => (provider.answerKeys = (_, response) => void response.writeHead(302, { location: '/jwks' }).end()),
    { endpoints: true, keys: false },
  ],
  [
    'a key set that is no JSON',
    () => (provider.answerKeys = (_, response) => void response.end('<script>alert(1)</script>')),
    { keys: false },
  ],
  ['a wrong secret', () => (provider.answerToken = answerError('invalid_client')), { client: false }],
  ['a wrong secret at Keycloak', () => (provider.answerToken = answerError('unauthorized_client')), { client: false }],
  ['another error', () => (provider.answerToken = answerError('server_error')), { client: null }],
  ['HTML as an answer', () => (provider.answerToken = (_, response) => void response.end('<b>')), { client: null }],
])('test of the settings with %s', async (_name, change, expected) => {
  const org = await createOrganization();
  provider.answerToken = answerError('invalid_grant');
  change();
  const result = await runTest(org);
  expect(result).toMatchObject({ status: 200, states: expected });
  expect(result.ok).toBe(!Object.values(expected).includes(false));
  for (const { ok, action } of result.steps) expect(action === null).toBe(ok === true);
  expect(JSON.stringify(result.body)).not.toMatch(/alert\(1\)|a client secret/);
});

test('test of the settings while the provider is away', async () => {
  const gone = await HostileProvider.start();
  const owner = await plane().createMember('owner');
  await configure(owner, gone.issuer);
  await gone.stop();
  const result = await runTest({ owner });
  expect(result).toMatchObject({ status: 200, ok: false, states: { discovery: false } });
  expect(result.steps.find(({ name }) => name === 'discovery')!.message).toContain('ECONNREFUSED');
});

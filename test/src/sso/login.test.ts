/** Single sign-on: who gets in, what such a session may do, and what people who pretend to be others gain: nothing. */
import { expect, test } from 'vitest';
import type { Member } from '../fixtures/control-plane.js';
import { callWithSession, configure, openCallback, startLogin, verifyDomain } from './gateway-login.js';
import { CLIENT_ID, CLIENT_SECRET, HostileProvider, sendTokens } from './hostile-provider.js';
import { newDomain, useSingleSignOn } from './use-single-sign-on.js';

const {
  plane,
  sql,
  provider,
  txtRecords,
  createOrganization,
  logIn,
  entriesOf,
  rejectionReasons,
  membersWith,
  countMembers,
  signUp,
} = useSingleSignOn();

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
  expect(await rejectionReasons(org)).toEqual([reason]);
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
  expect(await rejectionReasons(org)).toEqual(['not_invited']);
  await configure(org.owner, provider.issuer, { defaultRole: 'viewer' });
  const joined = await logIn(org, 'stranger');
  expect(joined.status).toBe(200);
  const [{ userId } = { userId: '' }] = await membersWith(org.orgId, org.email);
  expect((await org.owner.call('DELETE', `/v1/members/${userId}`)).status).toBe(200);
  expect((await callWithSession(plane(), joined.cookies.acg_session, 'GET', '/v1/me')).status).toBe(401);
  expect((await logIn(org, 'stranger')).text).toContain('no longer a member');
  expect(await rejectionReasons(org)).toEqual(['not_invited', 'removed']);
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
  const [{ userId } = { userId: '' }] = await membersWith(org.orgId, org.email);
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
  const [window] = await sql()<{ left: number }[]>`
    update throttle_windows set count = 99 where key = ${`sso-reject:${org.orgId}`}
    returning extract(epoch from expires_at - now())::float8 as left`;
  expect(window!.left).toBeGreaterThan(3_000);
  expect(window!.left).toBeLessThanOrEqual(3_600);
  await logIn(org, 'hundredth');
  expect((await logIn(org, 'one more')).status).toBe(403);
  expect(await rejectionReasons(org)).toEqual(['not_invited', 'not_invited']);
  const [entry] = await sql()`
    select actor_email as email from audit_entries where org_id = ${org.orgId} and action = 'sso.reject'`;
  expect(entry).toEqual({ email: org.email });
});

test('two logins of one new person at the same moment create one account', async () => {
  const org = await createOrganization();
  const starts = await Promise.all([startLogin(plane(), org.email), startLogin(plane(), org.email)]);
  provider.answerToken = (_request, response) => {
    const { nonce } = starts[Number(provider.tokenRequests.at(-1)!.get('code'))]!;
    sendTokens(response, provider.sign(provider.claims(nonce, { sub: 'twice', email: org.email })));
  };
  const results = await Promise.all(
    starts.map(({ state, cookie }, n) => openCallback(plane(), org.orgId, { code: String(n), state }, cookie)),
  );
  expect(results.map(({ status }) => status)).toEqual([200, 200]);
  expect(await membersWith(org.orgId, org.email)).toHaveLength(1);
});

test('a provider that is away: a text that says so, and the password still logs in', async () => {
  const gone = await HostileProvider.start();
  const owner = await plane().createMember('owner');
  const domain = newDomain();
  await verifyDomain(owner, domain, txtRecords);
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

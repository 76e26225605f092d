/** Settings of single sign-on: who may change them, and which sessions a change ends. */
import { expect, test } from 'vitest';
import type { Member } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';
import { countLockWaiters, holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { callLink, callWithSession, configure, openCallback, startLogin } from './gateway-login.js';
import { CLIENT_ID, HostileProvider, sendTokens } from './hostile-provider.js';
import { type Organization, useSingleSignOn } from './use-single-sign-on.js';

const { plane, sql, provider, createOrganization, logIn, entriesOf, countMembers, sessionStatus, signUp } =
  useSingleSignOn();

test('settings: issuers inside of the network are rejected, secrets never shown, a new client needs its secret', async () => {
  const org = await createOrganization();
  const { owner } = org;
  // Without a request to the issuer.
  for (const issuer of [
    'http://10.0.0.1',
    'https://metadata.internal',
    'ftp://example.com',
    'http://example.com',
    'no url',
  ])
    expect({ issuer, ...(await configure(owner, issuer)) }).toMatchObject({
      status: 400,
      body: { error: expect.not.stringContaining('discovery document') },
    });
  const withoutDocument = await configure(owner, `${provider.issuer}/realms/none`);
  expect(withoutDocument).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('discovery document') },
  });
  provider.document = { authorization_endpoint: 'javascript:alert(1)' };
  expect(await configure(owner, provider.issuer)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('authorization_endpoint') },
  });
  provider.document = {};
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

test.each<[string, (owner: Member) => Promise<{ readonly status: number }>]>([
  ['gets another client', (owner) => configure(owner, provider.issuer, { clientId: 'another' })],
  [
    'gets another issuer',
    async (owner) => {
      const next = await HostileProvider.start();
      const changed = await configure(owner, next.issuer);
      await next.stop();
      return changed;
    },
  ],
  ['removes its provider', (owner) => owner.call('DELETE', '/v1/sso')],
])('a login that the provider answers while the organization %s opens nothing', async (_name, change) => {
  const org = await createOrganization();
  const started = await startLogin(plane(), org.email);
  const idToken = provider.sign(provider.claims(started.nonce, { sub: 'late', email: org.email }));
  let changed: Promise<{ readonly status: number }>;
  provider.answerToken = (_request, response) => {
    changed = change(org.owner);
    void changed.then(() => sendTokens(response, idToken));
  };
  const result = await openCallback(plane(), org.orgId, { code: 'c', state: started.state }, started.cookie);
  expect((await changed!).status).toBe(200);
  expect(result).toMatchObject({ status: 403, text: expect.stringContaining('Log in again') });
  expect(result.cookies).toEqual({});
  expect(await sql()`select 1 from sessions where org_id = ${org.orgId} and sso`).toEqual([]);
  expect(await countMembers(org.orgId)).toBe(1);
});

test.each(['a change', 'the removal'])('%s of the provider waits for a login that is being completed', async (what) => {
  const org = await createOrganization();
  const release = await holdPostgresLock(
    sql(),
    (tx) => tx`select 1 from organizations where id = ${org.orgId} for no key update`,
  );
  const change =
    what === 'a change'
      ? configure(org.owner, provider.issuer, { clientId: 'another' })
      : org.owner.call('DELETE', '/v1/sso');
  await waitUntil('it waits for the organization', async () => (await countLockWaiters(sql())) === 1);
  // As the login does at last. The owner, too, has logged in by single sign-on.
  await sql()`update sessions set sso = true where org_id = ${org.orgId}`;
  await release();
  expect((await change).status).toBe(200);
  expect(await sql()`select 1 from sessions where org_id = ${org.orgId}`).toEqual([]);
});

/** Begins a device login; returns how the session of that person approves it, and how the device polls for its own. */
async function startDevice(by: Organization) {
  const { cookies } = await logIn(by, 'ada');
  const { body: device } = await plane().call('POST', '/v1/auth/device', { body: { client: 'acg' } });
  const approval = { userCode: device.userCode, orgId: by.orgId, role: 'member' };
  return {
    approve: () => callWithSession(plane(), cookies.acg_session, 'POST', '/v1/auth/device/approve', approval),
    poll: () => plane().call('POST', '/v1/auth/device/token', { body: { deviceCode: device.deviceCode } }),
  };
}

test('a device that a session of single sign-on approved gets no session once the provider is another one', async () => {
  const org = await createOrganization({ defaultRole: 'member' });
  const other = await createOrganization({ defaultRole: 'member' });
  const [device, deviceOfOther] = [await startDevice(org), await startDevice(other)];
  for (const { approve } of [device, deviceOfOther]) expect((await approve()).status).toBe(200);
  await configure(org.owner, provider.issuer, { clientId: 'another' });
  expect(await device.poll()).toMatchObject({ status: 400, body: { error: 'access_denied' } });
  expect((await deviceOfOther.poll()).status).toBe(200);
});

test('a change of the provider waits for an approval of a device that is under way, and ends it', async () => {
  const org = await createOrganization({ defaultRole: 'member' });
  const device = await startDevice(org);
  const release = await holdPostgresLock(
    sql(),
    (tx) => tx`select 1 from device_logins where status = 'pending' for update`,
  );
  const approved = device.approve();
  await waitUntil('the approval waits for the device', async () => (await countLockWaiters(sql())) === 1);
  const changed = configure(org.owner, provider.issuer, { clientId: 'another' });
  await waitUntil('the change waits for the approval', async () => (await countLockWaiters(sql())) === 2);
  await release();
  expect([(await approved).status, (await changed).status]).toEqual([200, 200]);
  expect(await device.poll()).toMatchObject({ status: 400, body: { error: 'access_denied' } });
});

test.each([
  ['another client', ({ owner }: Organization) => configure(owner, provider.issuer, { clientId: 'another' })],
  ['no provider', ({ owner }: Organization) => owner.call('DELETE', '/v1/sso')],
  ['a checked domain', ({ owner, domainId }: Organization) => owner.call('POST', `/v1/sso/domains/${domainId}/verify`)],
])('%s: settings that lose their database connection at any write change nothing', async (_, change) => {
  const org = await createOrganization();
  expect((await logIn(org, 'ada')).status).toBe(200);
  await startLogin(plane(), org.email);
  expect(await expectCutsChangeNothing(sql(), () => change(org))).toMatchObject({ status: 200 });
});

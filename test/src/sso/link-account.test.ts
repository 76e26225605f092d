/** Single sign-on: an account that exists is linked after its own login only. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { callLink, callWithSession } from './gateway-login.js';
import { useSingleSignOn } from './use-single-sign-on.js';

const { plane, sql, createOrganization, logIn, entriesOf, membersWith, signUp } = useSingleSignOn();

test('an account that exists is linked after its own login only, with its second factor; then single sign-on opens it', async () => {
  const org = await createOrganization();
  const { userId } = await signUp(org.email);
  const first = await logIn(org, 'owner of an account');
  expect(first).toMatchObject({ status: 200, text: expect.stringContaining('Connect your account') });
  expect(first.cookies.acg_session).toBeUndefined();
  expect(await membersWith(org.orgId, org.email)).toEqual([]);
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
  expect(await membersWith(org.orgId, org.email)).toEqual([{ role: 'viewer', userId }]);
  expect((await callLink(plane(), first.cookies.acg_sso, { password: 'correct horse battery' })).status).toBe(400);
  const second = await logIn(org, 'owner of an account');
  expect((await callWithSession(plane(), second.cookies.acg_session, 'GET', '/v1/me')).body.user.id).toBe(userId);
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
    expect(await membersWith(org.orgId, email)).toEqual([{ role: 'viewer', userId: accounts[n]!.userId }]);
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
  expect(await membersWith(org.orgId, org.email)).toEqual([]);
  await sql()`update sso_connections set default_role = 'member' where org_id = ${org.orgId}`;
  expect((await link()).status).toBe(200);
  expect(await membersWith(org.orgId, org.email)).toEqual([{ role: 'member', userId }]);
});

test('a member whose organization admits by invitation only connects the account and keeps the role', async () => {
  const org = await createOrganization({ defaultRole: null });
  const { userId } = await signUp(org.email);
  await sql()`insert into memberships (org_id, user_id, role) values (${org.orgId}, ${userId}, 'owner')`;
  const waiting = await logIn(org, 'ada');
  expect(waiting.text).toContain('Connect your account');
  expect((await callLink(plane(), waiting.cookies.acg_sso, { password: 'correct horse battery' })).status).toBe(200);
  expect(await membersWith(org.orgId, org.email)).toEqual([{ role: 'owner', userId }]);
  expect(await entriesOf(org, 'member.join')).toEqual([]);
  expect((await logIn(org, 'ada')).cookies.acg_session).toBeDefined();
});

test('a member who is removed before the login to the account joins no more', async () => {
  const org = await createOrganization({ defaultRole: 'viewer' });
  const { userId } = await signUp(org.email);
  await sql()`insert into memberships (org_id, user_id, role) values (${org.orgId}, ${userId}, 'member')`;
  const waiting = await logIn(org, 'ada');
  expect((await org.owner.call('DELETE', `/v1/members/${userId}`)).status).toBe(200);
  expect((await callLink(plane(), waiting.cookies.acg_sso, { password: 'correct horse battery' })).status).toBe(400);
  expect(await membersWith(org.orgId, org.email)).toEqual([]);
});

test('one identity that waits in two browsers is linked once', async () => {
  const org = await createOrganization();
  await signUp(org.email);
  const waiting = [await logIn(org, 'ada'), await logIn(org, 'ada')];
  const link = (n: number) => callLink(plane(), waiting[n]!.cookies.acg_sso, { password: 'correct horse battery' });
  expect((await link(0)).status).toBe(200);
  expect(await link(1)).toMatchObject({ status: 400, body: { error: expect.stringContaining('at the same moment') } });
  expect(await entriesOf(org, 'sso.link')).toHaveLength(1);
});

/** Attacks through invitations: taking over an existing account, or returning to an organization after a removal. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const accept = (body: object, session: string | null = null) =>
  plane().call('POST', '/v1/invitations/accept', { body, token: session });
const login = (email: string, password: string) =>
  plane().call('POST', '/v1/auth/login', { body: { email, password } });
const PASSWORD = 'the first password';

async function invite(by: Member, email: string, role = 'member') {
  const { status, body } = await by.call('POST', '/v1/members', { email, role });
  expect(status).toBe(201);
  return { id: body.member.userId as string, token: (await plane().waitForMail(email, 'Invitation')).token };
}

/** As with SMTP_URL set: the link is in the e-mail only, so its holder reads the mailbox. */
async function hideLinkInApi(id: string): Promise<void> {
  await plane().database.sql`update invitations set link_shown = false where id = ${id}`;
}

async function signUp(verified: boolean) {
  const email = newEmail();
  const body = { email, password: PASSWORD, name: 'Ada', orgName: 'Own' };
  const own = (await plane().call('POST', '/v1/auth/signup', { body })).body;
  if (verified) {
    const { token } = await plane().waitForMail(email, 'Confirm');
    await plane().call('POST', '/v1/auth/verify-email', { body: { token } });
  }
  return { email, own };
}

test('invitation: the link alone gives no session of an existing account; the error names what is required', async () => {
  const owner = await plane().createMember('owner');
  const { email, own } = await signUp(true);
  const { token } = await invite(owner, email);
  for (const [session, body] of [
    [null, { token }],
    [null, { token, name: 'Mallory', password: 'a password of the mailbox reader' }],
    [owner.token, { token }],
    ['nonsense', { token }],
  ] as const) {
    const refused = await accept(body, session);
    expect([refused.status, refused.body]).toEqual([401, { error: expect.stringContaining('log in'), existing: true }]);
  }
  expect((await owner.call('GET', '/v1/members')).body.total).toBe(2); // the owner and the pending invitation
  expect((await login(email, PASSWORD)).status).toBe(200); // nothing about the account has changed
  const joined = await accept({ token, password: PASSWORD });
  expect(joined.body).toMatchObject({ user: own.user, orgId: owner.orgId });
});

test('invitation: a session of the invited account is enough, and the account stays as it is', async () => {
  const owner = await plane().createMember('owner');
  const { email, own } = await signUp(true);
  const { token } = await invite(owner, email.toUpperCase().toLowerCase());
  expect(await accept({ token, name: 'Renamed' }, own.token)).toMatchObject({ status: 200, body: { user: own.user } });
  expect((await plane().call('GET', '/v1/me', { token: own.token })).status).toBe(200);
});

test('invitation: wrong passwords for an existing account count as failed logins', async () => {
  const owner = await plane().createMember('owner');
  const { email } = await signUp(true);
  const { token } = await invite(owner, email);
  for (let n = 0; n < 10; n++) expect((await accept({ token, password: `a wrong password ${n}` })).status).toBe(401);
  expect((await accept({ token, password: PASSWORD })).status).toBe(429);
  expect((await login(email, PASSWORD)).status).toBe(429);
});

test.each(['none', 'its own'])(
  'invitation: an account whose address was never verified passes to the mailbox, with %s session shown',
  async (kind) => {
    const owner = await plane().createMember('owner');
    const squatter = await signUp(false); // never read the mailbox
    const { id, token } = await invite(owner, squatter.email, 'admin');
    await hideLinkInApi(id);
    const session = kind === 'none' ? null : squatter.own.token;
    const blank = await accept({ token }, session);
    expect([blank.status, blank.body.error]).toEqual([400, expect.stringContaining('password is required')]);
    const joined = await accept({ token, name: 'Rightful', password: 'the rightful password' }, session);
    expect(joined).toMatchObject({ status: 200, body: { orgId: owner.orgId, user: { name: 'Rightful' } } });
    expect((await plane().call('GET', '/v1/me', { token: squatter.own.token })).status).toBe(401);
    expect((await plane().call('POST', '/v1/auth/refresh', { token: squatter.own.token })).status).toBe(401);
    expect((await login(squatter.email, PASSWORD)).status).toBe(401);
    expect((await login(squatter.email, 'the rightful password')).status).toBe(200);
  },
);

test('invitation: e-mail links requested by the previous holder of an unverified account are invalid', async () => {
  const owner = await plane().createMember('owner');
  const squatter = await signUp(false);
  const verify = await plane().waitForMail(squatter.email, 'Confirm');
  await plane().call('POST', '/v1/auth/forgot-password', { body: { email: squatter.email } });
  const reset = await plane().waitForMail(squatter.email, 'new password');
  const { id, token } = await invite(owner, squatter.email);
  await hideLinkInApi(id);
  expect((await accept({ token, password: 'the rightful password' })).status).toBe(200);
  const again = { token: reset.token, password: 'yet another password' };
  expect((await plane().call('POST', '/v1/auth/reset-password', { body: again })).status).toBe(400);
  expect((await plane().call('POST', '/v1/auth/verify-email', { body: { token: verify.token } })).status).toBe(400);
});

test.each(['removed', 'left', 'demoted'])(
  'invitation: of an inviter who was %s, none is good any more',
  async (how) => {
    const owner = await plane().createMember('owner');
    const inviter = await plane().createMember('owner', owner.orgId);
    const email = newEmail(); // a second address of the inviter
    const { token } = await invite(inviter, email, 'owner');
    if (how === 'removed') await owner.call('DELETE', `/v1/members/${inviter.userId}`);
    else if (how === 'left') await inviter.call('DELETE', '/v1/members/me');
    else await owner.call('PATCH', `/v1/members/${inviter.userId}`, { role: 'admin' });
    const members = (await owner.call('GET', '/v1/members')).body.members.map((m: { email: string }) => m.email);
    expect(members).not.toContain(email);
    expect((await accept({ token, name: 'Second', password: 'a long password' })).status).toBe(400);
  },
);

test('invitation: it stays pending while its inviter keeps the role', async () => {
  const owner = await plane().createMember('owner');
  const inviter = await plane().createMember('admin', owner.orgId);
  const { token } = await invite(inviter, newEmail(), 'member');
  expect((await owner.call('PATCH', `/v1/members/${inviter.userId}`, { role: 'owner' })).status).toBe(200);
  expect((await accept({ token, name: 'Guest', password: 'a long password' })).status).toBe(200);
});

test.each([
  ['gone', `delete from memberships where user_id = $1`],
  ['a member now', `update memberships set role = 'member' where user_id = $1`],
  ['an admin now, who may make no owner', `update memberships set role = 'admin' where user_id = $1`],
])('invitation: the inviter is looked at again: %s is 403', async (_how, statement) => {
  const owner = await plane().createMember('owner');
  const inviter = await plane().createMember('owner', owner.orgId);
  const { token } = await invite(inviter, newEmail(), 'owner');
  await plane().database.sql.unsafe(statement, [inviter.userId]); // as if the removal had kept the invitation
  const refused = await accept({ token, name: 'Guest', password: 'a long password' });
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('invited you')]);
});

test('invitation: the member who changes its role becomes responsible for it', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const { id, token } = await invite(admin, newEmail(), 'member');
  expect((await owner.call('PATCH', `/v1/members/${id}`, { role: 'owner' })).status).toBe(200);
  expect((await accept({ token, name: 'Guest', password: 'a long password' })).body.orgs[0].role).toBe('owner');
});

test('invitation: a link that the inviter has seen takes over no account and verifies no address', async () => {
  const owner = await plane().createMember('owner');
  const victim = await signUp(false);
  const invited = await owner.call('POST', '/v1/members', { email: victim.email, role: 'viewer' });
  const token = /#token=(.+)$/.exec(invited.body.invitationUrl)![1]!;
  expect(token).toBe((await plane().waitForMail(victim.email, 'Invitation')).token);
  const taken = await accept({ token, name: 'Inviter', password: 'the password of the inviter' });
  expect([taken.status, taken.body.existing]).toEqual([401, true]);
  expect((await login(victim.email, PASSWORD)).status).toBe(200);
  expect((await accept({ token }, victim.own.token)).status).toBe(200);
  const stranger = newEmail();
  const other = await owner.call('POST', '/v1/members', { email: stranger, role: 'viewer' });
  const link = /#token=(.+)$/.exec(other.body.invitationUrl)![1]!;
  const joined = await accept({ token: link, name: 'New', password: 'a long password' });
  const me = await plane().call('GET', '/v1/me', { token: joined.body.token });
  expect(me.body.user.emailVerified).toBe(false);
});

test('invitation: resent, the new link works and the old one does not; the member who resends it becomes responsible for it', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const email = newEmail();
  const { id, token } = await invite(admin, email, 'member');
  const resent = await owner.call('POST', `/v1/members/${id}/resend`);
  expect(resent.body.member).toMatchObject({ email, role: 'member', status: 'invited' });
  expect((await owner.call('GET', '/v1/members')).body.total).toBe(3);
  await owner.call('DELETE', `/v1/members/${admin.userId}`); // revoked the first one, not this one
  expect((await accept({ token, name: 'Guest', password: 'a long password' })).status).toBe(400);
  const fresh = /#token=(.+)$/.exec(resent.body.invitationUrl)![1];
  expect((await accept({ token: fresh, name: 'Guest', password: 'a long password' })).status).toBe(200);
  expect((await owner.call('POST', `/v1/members/${resent.body.member.userId}/resend`)).status).toBe(404);
  expect((await owner.call('POST', `/v1/members/${owner.userId}/resend`)).status).toBe(404);
});

test('invitation: an admin cannot resend one for the role owner', async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const { id } = await invite(owner, newEmail(), 'owner');
  expect((await admin.call('POST', `/v1/members/${id}/resend`)).status).toBe(403);
});

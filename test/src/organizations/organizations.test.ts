/** Who may sign up, and organizations created after the signup. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startControlPlane, type TestControlPlane, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane({ DATAPLANE_PUBLIC_URL: 'https://proxy.example/base/' });
const PASSWORD = 'correct horse battery';
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const signup = (at: TestControlPlane, email = newEmail()) =>
  at.call('POST', '/v1/auth/signup', {
    body: { email, password: PASSWORD, name: 'Ada', orgName: 'Engines' },
  });

test('config: only what a client needs before the login', async () => {
  const { status, body } = await plane().call('GET', '/v1/config');
  expect([status, body]).toEqual([
    200,
    {
      version: plane().config.version,
      proxyUrl: 'https://proxy.example/base',
      publicUrl: plane().config.publicUrl,
      signup: 'open',
      mail: 'outbox',
      standIns: [],
    },
  ]);
});

test('SIGNUP=closed: signups and new organizations are rejected; invited users can join', async () => {
  const closed = await startControlPlane({ SIGNUP: 'closed' });
  const refused = await signup(closed);
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('invitation')]);
  const owner = await closed.createMember('owner');
  expect((await owner.call('POST', '/v1/orgs', { name: 'More' })).status).toBe(403);
  const email = newEmail();
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const { token } = await closed.waitForMail(email, 'Invitation');
  const body = { token, name: 'Guest', password: 'a long password' };
  expect((await closed.call('POST', '/v1/invitations/accept', { body })).status).toBe(200);
  const { body: config } = await closed.call('GET', '/v1/config');
  expect([config.signup, config.proxyUrl]).toEqual(['closed', null]);
  await closed.stop();
});

test('SIGNUP=first: of concurrent signups one succeeds, and later ones are rejected', async () => {
  const first = await startControlPlane({ SIGNUP: 'first' });
  expect((await first.call('GET', '/v1/config')).body.signup).toBe('first');
  const answers = await Promise.all(Array.from({ length: 10 }, () => signup(first)));
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(403)]);
  expect((await signup(first)).status).toBe(403);
  expect((await first.call('GET', '/v1/config')).body.signup).toBe('closed');
  const { token } = answers.find((answer) => answer.status === 201)!.body;
  expect((await first.call('POST', '/v1/orgs', { token, body: { name: 'More' } })).status).toBe(403);
  await first.stop();
});

test('a new organization has its owner and a first project; a user can create at most five', async () => {
  const { token, org } = (await signup(plane())).body;
  const create = () => plane().call('POST', '/v1/orgs', { token, body: { name: 'Next' } });
  const made = await create();
  expect([made.status, made.body]).toEqual([
    201,
    { org: { id: expect.any(String), name: 'Next', slug: expect.stringMatching(/^next/), role: 'owner' } },
  ]);
  const body = { orgId: made.body.org.id };
  const moved = (await plane().call('POST', '/v1/auth/switch-org', { token, body })).body.token;
  const projects = await plane().call('GET', '/v1/projects', { token: moved });
  expect(projects.body.projects).toMatchObject([{ name: 'Default' }]);
  const answers = await Promise.all(Array.from({ length: 6 }, create));
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
  expect(
    (await plane().call('DELETE', `/v1/orgs/${made.body.org.id}`, { token: moved, body: { password: PASSWORD } }))
      .status,
  ).toBe(200);
  expect((await create()).status).toBe(201);
  expect(org.id).not.toBe(made.body.org.id);
});

/** Settings of a new organization. */
const UNSET = { budgetCentsMonthly: null, budgets: [], agentDefaults: null, requireSecondFactor: false };

test('rename: by an admin, of the own organization; its slug stays', async () => {
  const owner = await plane().createMember('owner');
  const renamed = await owner.call('PATCH', `/v1/orgs/${owner.orgId}`, { name: 'Renamed' });
  expect(renamed.body).toEqual({
    org: { id: owner.orgId, name: 'Renamed', slug: `org-${owner.orgId}`, role: 'owner', ...UNSET },
  });
  const other = await plane().createMember('owner');
  expect((await owner.call('PATCH', `/v1/orgs/${other.orgId}`, { name: 'x' })).status).toBe(404);
  expect((await owner.call('PATCH', `/v1/orgs/${owner.orgId}`, { name: 'see evil.com' })).status).toBe(400);
});

test('settings: its budget shows to a viewer, and only to those in it', async () => {
  const owner = await plane().createMember('owner');
  const viewer = await plane().createMember('viewer', owner.orgId);
  const path = `/v1/orgs/${owner.orgId}`;
  expect((await viewer.call('GET', path)).body).toEqual({
    org: { id: owner.orgId, name: 'Test org', slug: `org-${owner.orgId}`, role: 'viewer', ...UNSET },
  });
  await owner.call('PATCH', path, { budgetCentsMonthly: 12_500 });
  expect((await viewer.call('GET', path)).body.org.budgetCentsMonthly).toBe(12_500);
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('GET', path)).status).toBe(404);
});

test('PATCH /v1/me: the own name, in the trail', async () => {
  const owner = await plane().createMember('owner');
  const renamed = await owner.call('PATCH', '/v1/me', { name: 'Countess' });
  expect(renamed.body).toMatchObject({ user: { id: owner.userId, name: 'Countess' }, orgId: owner.orgId });
  const { body } = await owner.call('GET', '/v1/audit?action=user.update');
  expect(body.entries).toMatchObject([{ changes: { name: ['Test', 'Countess'] } }]);
});

/**
 * An attacker signs up with the e-mail address of another user and prepares the account (pre-hijacking). After the
 * address's owner verifies it, nothing that the attacker created works until the owner keeps it.
 */
import { randomBytes } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { hashEmailToken } from '@acg/controlplane/auth/users/email-token';
import { SUSPENDABLE_KINDS } from '@acg/controlplane/suspension/suspendable-tables';
import { Vault } from '@acg/controlplane/vault/aes-gcm-vault';
import { checkMasterKeys } from '@acg/controlplane/vault/master-key-check';
import { reencryptAll } from '@acg/controlplane/vault/reencrypt';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, parseMail, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { startSmtpServer } from '../fixtures/smtp-server.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { connectContextCache } from '../plane-link/connected-context-cache.js';
import { HostileProvider } from '../sso/hostile-provider.js';
import { SigningKey } from '../trust-rules/stand-in-issuer.js';
import { startReceiver } from '../webhooks/webhook-receiver.js';

type Smtp = Awaited<ReturnType<typeof startSmtpServer>>;

let smtp: Smtp;
let plane: TestControlPlane;
let provider: HostileProvider;
beforeAll(async () => {
  provider = await HostileProvider.start();
  smtp = await startSmtpServer();
  plane = await startControlPlane({ SMTP_URL: smtp.url });
});
afterAll(async () => {
  await plane.stop();
  await smtp.close();
  await provider.stop();
});

const PASSWORD = 'the password of the stranger';
const OWNER_PASSWORD = 'the password of the reader';
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;
const sql = () => plane.database.sql;
const bearer = (token: string) => ({
  token,
  call: (method: string, path: string, body?: unknown) => plane.call(method, path, { token, body }),
});
type Caller = ReturnType<typeof bearer>;

async function readMail(email: string, subject: string): Promise<{ text: string; token: string }> {
  return waitUntil(`the mail ${subject} is there`, () => {
    const mails = smtp.received.filter(({ to }) => to.includes(email)).map(({ source }) => parseMail(source));
    const mail = mails.findLast(({ header }) => header('subject').includes(subject));
    return mail !== undefined && { text: mail.text, token: /#token=([A-Za-z0-9_-]+)/.exec(mail.text)?.[1] ?? '' };
  });
}

async function signup(email: string) {
  const body = { email, password: PASSWORD, name: 'Somebody', orgName: 'Acme' };
  const { status, body: answer } = await plane.call('POST', '/v1/auth/signup', { body });
  expect(status).toBe(201);
  return { ...bearer(answer.token), userId: answer.user.id as string, orgId: answer.org.id as string };
}

const login = async (email: string, password: string): Promise<Caller> => {
  const { status, body } = await plane.call('POST', '/v1/auth/login', { body: { email, password } });
  expect(status).toBe(200);
  return bearer(body.token);
};

async function reset(email: string, session: string | null = null): Promise<void> {
  await plane.call('POST', '/v1/auth/forgot-password', { body: { email } });
  const { token } = await readMail(email, 'new password');
  const answer = await plane.call('POST', '/v1/auth/reset-password', {
    body: { token, password: OWNER_PASSWORD },
    token: session,
  });
  expect(answer.status).toBe(200);
}

/** One thing of every kind, and the secrets of what has one. */
async function createOneOfEachKind(stranger: Caller & { orgId: string }, webhookUrl: string) {
  const made = async (path: string, body: object) => {
    const answer = await stranger.call('POST', path, body);
    expect([path, answer.status, answer.body.error]).toEqual([path, 201, undefined]);
    return answer.body;
  };
  const projectId = (await stranger.call('GET', '/v1/projects')).body.projects[0].id;
  const agentId = (await made('/v1/agents', { projectId, name: 'Support' })).agent.id;
  const key = await made('/v1/api-keys', { name: 'planted', agentId });
  const program = await made('/v1/management-tokens', { name: 'CI', role: 'admin' });
  const webhook = await made('/v1/webhooks', { url: webhookUrl, events: ['agent.created'] });
  await made('/v1/custom-providers', {
    slug: 'mine',
    displayName: 'Mine',
    baseUrl: 'http://127.0.0.1:9',
    authType: 'bearer',
  });
  await made('/v1/credentials', {
    name: 'shared',
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-planted-0123456789' },
  });
  await made('/v1/providers/accounts', {
    agentId,
    providerSlug: 'mine',
    credentials: { apiKey: 'sk-mine-0123456789' },
  });
  await made('/v1/providers/accounts', {
    agentId,
    providerSlug: 'anthropic',
    credentials: { apiKey: 'sk-ant-planted-0123456789' },
  });
  const sso = {
    issuer: provider.issuer,
    clientId: 'gateway',
    clientSecret: 'planted client secret',
    defaultRole: 'admin',
  };
  expect((await stranger.call('PUT', '/v1/sso', sso)).status).toBe(200);
  await made('/v1/scim/tokens', { name: 'Directory' });
  const jwks = { keys: [new SigningKey('k1').jwk] };
  const conditions = [{ claim: 'repository_id', values: ['4711'] }];
  await made('/v1/trust-rules', { name: 'deploy', agentId, issuer: 'https://issuer.example', jwks, conditions });
  const run = await made('/v1/runs', { agentId, budgetCents: 100, expiresIn: 3_600, label: 'planted' });
  // Members and invitations as they are from a time without mail delivery.
  const second: Member = await plane.createMember('owner', stranger.orgId);
  const [invitee, invitation] = [newEmail(), randomBytes(16).toString('hex')];
  await sql()`
    insert into invitations (id, org_id, email, role, token_hash, invited_by, expires_at)
    select gen_random_uuid(), ${stranger.orgId}, ${invitee}, 'owner', ${hashEmailToken(invitation)},
           ${second.userId},
           now() + interval '1 day'`;
  return {
    agentId,
    key,
    run,
    program: bearer(program.secretToken),
    webhook: webhook.endpoint,
    second,
    projectId,
    invitation,
  };
}

/** A gateway token of the personal agent of `member`, in a new project of the organization of `admin`. */
async function createPersonalKey(admin: Pick<Caller, 'call'>, member: Pick<Caller, 'call'>): Promise<string> {
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Own agents' })).body.project.id;
  const allowed = await admin.call('PATCH', `/v1/projects/${projectId}`, { personalAgents: { credentialIds: [] } });
  expect(allowed.status).toBe(200);
  const { status, body } = await member.call('POST', '/v1/personal-agents/keys', { projectId, name: 'laptop' });
  expect(status).toBe(201);
  return body.secretKey;
}

/** Data planes reject the token of the former holder, and accept that of the colleague. */
async function assertEnded(former: string, colleague: string): Promise<void> {
  const data = connectContextCache([plane.grpcAddress], plane.config.link);
  expect((await data.resolve(former)).rejection).toBe('unknown_token');
  expect((await data.resolve(colleague)).context).not.toBeNull();
  data.stop();
}

const accept = (token: string) =>
  plane.call('POST', '/v1/invitations/accept', { body: { token, name: 'Guest', password: 'a long password' } });

interface SuspendedItem {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
}
const listSuspendedItems = async (owner: Caller): Promise<SuspendedItem[]> =>
  (await owner.call('GET', '/v1/suspended-items?limit=100')).body.items;

test('takeover: nothing created before the verification works, and each item can be kept or revoked', async () => {
  const receiver = await startReceiver();
  const email = newEmail();
  const stranger = await signup(email);
  const planted = await createOneOfEachKind(stranger, receiver.url);
  const data = connectContextCache([plane.grpcAddress], plane.config.link);
  expect((await data.resolve(planted.key.secretKey)).context).not.toBeNull();
  expect((await data.resolve(planted.run.secretKey)).context).not.toBeNull();

  await reset(email);

  await waitUntil('the planted gateway token is refused', async () => {
    return (await data.resolve(planted.key.secretKey)).rejection === 'unknown_token';
  });
  await waitUntil('the token of the planted run is refused', async () => {
    return (await data.resolve(planted.run.secretKey)).rejection === 'unknown_token';
  });
  for (const caller of [stranger, planted.program, planted.second]) {
    expect((await caller.call('GET', '/v1/projects')).status).toBe(401);
  }
  expect((await accept(planted.invitation)).status).toBe(400);
  const owner = await login(email, OWNER_PASSWORD);
  const agent = { projectId: planted.projectId, name: 'Of the owner' };
  const created = await owner.call('POST', '/v1/agents', agent);
  expect(created.status).toBe(201);
  await waitUntil('the event is fanned out', async () => {
    const rows = await sql()`select 1 from events where org_id = ${stranger.orgId} and fanned_out_at is null`;
    return rows.length === 0;
  });
  expect(receiver.received).toEqual([]);
  for (const path of [
    '/v1/api-keys',
    '/v1/webhooks',
    '/v1/management-tokens',
    '/v1/providers/accounts',
    '/v1/credentials',
    '/v1/trust-rules',
    '/v1/runs',
  ]) {
    expect([path, (await owner.call('GET', path)).body.total]).toEqual([path, 0]);
  }
  expect((await owner.call('GET', '/v1/members')).body.members).toMatchObject([{ email, role: 'owner' }]);

  expect((await owner.call('GET', '/v1/sso')).body.connection).toBeNull();
  expect((await owner.call('GET', '/v1/scim')).body.tokens).toEqual([]);

  const items = await listSuspendedItems(owner);
  expect([...new Set(items.map(({ kind }) => kind))].sort()).toEqual([...SUSPENDABLE_KINDS].sort());
  expect((await readMail(email, 'Review')).text).toContain(`${items.length} items`);
  const trail = await owner.call('GET', '/v1/audit?action=organization.suspend_items');
  expect(trail.body.entries).toMatchObject([{ changes: { items: [0, items.length] } }]);

  // Each kept item works again.
  const order = ['member', 'custom_provider', 'credential', 'account'];
  const rank = ({ kind }: SuspendedItem) => (order.indexOf(kind) + 1) / 10 || 1;
  for (const item of [...items].sort((a, b) => rank(a) - rank(b))) {
    const kept = await owner.call('POST', `/v1/suspended-items/${item.id}/keep`);
    expect([item.kind, kept.status, kept.body.error]).toEqual([item.kind, 201, undefined]);
  }
  expect(await listSuspendedItems(owner)).toEqual([]);
  expect((await planted.second.call('GET', '/v1/projects')).status).toBe(200);
  expect((await owner.call('GET', '/v1/sso')).body.connection.issuer).toBe(provider.issuer);
  expect((await owner.call('GET', '/v1/api-keys')).body.total).toBe(1);
  const context = await waitUntil('the kept gateway token is accepted', async () => {
    return (await data.resolve(planted.key.secretKey)).context;
  });
  expect(context.upstreams.size).toBe(2);
  await waitUntil('the token of the kept run is accepted', async () => {
    return (await data.resolve(planted.run.secretKey)).context !== null;
  });
  expect((await owner.call('GET', '/v1/trust-rules')).body.total).toBe(1);
  expect((await owner.call('GET', '/v1/scim')).body.tokens).toHaveLength(1);
  expect((await accept(planted.invitation)).status).toBe(200);
  await owner.call('POST', '/v1/agents', agent);
  await waitUntil('the kept webhook delivers', () => receiver.received.length === 1);
  data.stop();
  await receiver.close();
});

test('takeover: a revoked item is deleted; other members and the attacker cannot decide', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  const planted = await createOneOfEachKind(stranger, 'http://127.0.0.1:9/');
  await reset(email);
  const owner = await login(email, OWNER_PASSWORD);
  const items = await listSuspendedItems(owner);
  const other = await plane.createMember('owner');
  const admin = await plane.createMember('admin', stranger.orgId);
  const [first] = items;
  expect((await other.call('DELETE', `/v1/suspended-items/${first!.id}`)).status).toBe(404);
  expect((await other.call('POST', `/v1/suspended-items/${first!.id}/keep`)).status).toBe(404);
  expect((await admin.call('POST', `/v1/suspended-items/${first!.id}/keep`)).status).toBe(403);
  for (const { id } of items) {
    expect((await owner.call('DELETE', `/v1/suspended-items/${id}`)).body).toEqual({ deleted: true });
    expect((await owner.call('POST', `/v1/suspended-items/${id}/keep`)).status).toBe(404);
  }
  expect(await listSuspendedItems(owner)).toEqual([]);
  expect((await planted.program.call('GET', '/v1/projects')).status).toBe(401);
  const { body } = await owner.call('GET', '/v1/audit?action=suspended_item.revoke&limit=100');
  expect(body.total).toBe(items.length);
});

test('takeover: an item that no longer fits is 409 and stays in the list', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  await createOneOfEachKind(stranger, 'http://127.0.0.1:9/');
  await reset(email);
  const owner = await login(email, OWNER_PASSWORD);
  const items = await listSuspendedItems(owner);
  const keep = async (wanted: (item: SuspendedItem) => boolean) => {
    const answer = await owner.call('POST', `/v1/suspended-items/${items.find(wanted)!.id}/keep`);
    return [answer.status, answer.body.error ?? ''];
  };
  expect(await keep(({ kind, name }) => kind === 'account' && name === 'mine')).toEqual([
    409,
    expect.stringContaining('Keep what it belongs to first'),
  ]);
  const mine = { slug: 'mine', displayName: 'M', baseUrl: 'http://127.0.0.1:9', authType: 'bearer' };
  expect((await owner.call('POST', '/v1/custom-providers', mine)).status).toBe(201);
  expect(await keep(({ kind }) => kind === 'custom_provider')).toEqual([
    409,
    expect.stringContaining('its name is in use'),
  ]);
  // A token of a removed member would work again with the creator's next membership.
  await sql()`
    update suspended_items set contents = jsonb_set(contents, '{created_by}', to_jsonb((select user_id from memberships
      where org_id <> ${stranger.orgId} limit 1))) where org_id = ${stranger.orgId} and kind = 'management_token'`;
  expect(await keep(({ kind }) => kind === 'management_token')).toEqual([
    409,
    expect.stringContaining('no longer a member'),
  ]);
  expect((await listSuspendedItems(owner)).length).toBe(items.length);
});

test('takeover: by the link of an invitation alike', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  const planted = await createOneOfEachKind(stranger, 'http://127.0.0.1:9/');
  const inviter = await plane.createMember('owner');
  await sql()`update users set email_verified_at = now() where id = ${inviter.userId}`;
  expect((await inviter.call('POST', '/v1/members', { email, role: 'viewer' })).status).toBe(201);
  const { token } = await readMail(email, 'Invitation');
  const joined = await plane.call('POST', '/v1/invitations/accept', { body: { token, password: OWNER_PASSWORD } });
  expect([joined.status, joined.body.orgId]).toEqual([200, inviter.orgId]);
  expect((await planted.program.call('GET', '/v1/projects')).status).toBe(401);
  const moved = await plane.call('POST', '/v1/auth/switch-org', {
    token: joined.body.token,
    body: { orgId: stranger.orgId },
  });
  expect((await listSuspendedItems(bearer(moved.body.token))).length).toBeGreaterThan(7);
});

test.each(['a live session, in a reset', 'the password, in an invitation'])(
  'takeover: the founder who shows %s loses nothing',
  async (how) => {
    const email = newEmail();
    const founder = await signup(email);
    const planted = await createOneOfEachKind(founder, 'http://127.0.0.1:9/');
    if (how.startsWith('a live')) await reset(email, founder.token);
    else {
      const inviter = await plane.createMember('owner');
      await sql()`update users set email_verified_at = now() where id = ${inviter.userId}`;
      await inviter.call('POST', '/v1/members', { email, role: 'viewer' });
      const { token } = await readMail(email, 'Invitation');
      const body = { token, password: PASSWORD };
      expect((await plane.call('POST', '/v1/invitations/accept', { body })).status).toBe(200);
    }
    expect((await planted.program.call('GET', '/v1/projects')).status).toBe(200);
    expect((await planted.second.call('GET', '/v1/projects')).status).toBe(200);
    expect(await sql()`select 1 from suspended_items where org_id = ${founder.orgId}`).toEqual([]);
    expect((await plane.call('GET', '/v1/me', { token: founder.token })).status).toBe(401); // the sessions are revoked as well
  },
);

test('takeover: a verified account loses nothing by a reset', async () => {
  const email = newEmail();
  const founder = await signup(email);
  const { token } = await readMail(email, 'Confirm');
  await plane.call('POST', '/v1/auth/verify-email', { body: { token, password: PASSWORD } });
  const planted = await createOneOfEachKind(founder, 'http://127.0.0.1:9/');
  await reset(email);
  expect((await planted.program.call('GET', '/v1/projects')).status).toBe(200);
});

test('takeover: an organization whose founder is no longer its owner is left, and the user gets a new one', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  const second = await plane.createMember('owner', stranger.orgId);
  expect((await second.call('PATCH', `/v1/members/${stranger.userId}`, { role: 'admin' })).status).toBe(200);
  const own = await createPersonalKey(second, stranger);
  const colleague = await createPersonalKey(second, second);
  await reset(email);
  await assertEnded(own, colleague);
  const owner = await login(email, OWNER_PASSWORD);
  const { body } = await owner.call('GET', '/v1/me');
  expect(body.orgs).toMatchObject([{ name: 'My organization', role: 'owner' }]);
  expect((await second.call('GET', '/v1/members')).body.total).toBe(1); // none of their items is suspended
  expect((await second.call('GET', '/v1/audit?action=member.leave')).body.total).toBe(1);
});

test('takeover: personal agents in organizations of others end', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  const other = await plane.createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${stranger.userId}, 'member')`;
  const there = await stranger.call('POST', '/v1/auth/switch-org', { orgId: other.orgId });
  const elsewhere = await createPersonalKey(other, bearer(there.body.token));
  const colleague = await createPersonalKey(other, other);
  await reset(email);
  await assertEnded(elsewhere, colleague);
});

test('takeover: an organization that is being deleted is not the only one of the account', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  const second = await plane.createMember('owner', stranger.orgId);
  const doomed = (await stranger.call('POST', '/v1/orgs', { name: 'Doomed' })).body.org.id;
  const there = bearer((await stranger.call('POST', '/v1/auth/switch-org', { orgId: doomed })).body.token);
  expect((await there.call('DELETE', `/v1/orgs/${doomed}`, { password: PASSWORD })).status).toBe(200);
  expect((await second.call('PATCH', `/v1/members/${stranger.userId}`, { role: 'admin' })).status).toBe(200);
  await reset(email);
  const owner = await login(email, OWNER_PASSWORD);
  const { body } = await owner.call('GET', '/v1/me');
  expect(body.orgs).toMatchObject([{ id: doomed }, { name: 'My organization', role: 'owner' }]);
  expect(body.orgId).toBe(body.orgs[1].id);
});

test('takeover: suspended secrets are rotated with the master keys', async () => {
  const email = newEmail();
  const stranger = await signup(email);
  await createOneOfEachKind(stranger, 'http://127.0.0.1:9/');
  await reset(email);
  const old = { id: 'test', key: new Secret(Buffer.alloc(32, 7)) };
  const fresh = { id: 'fresh', key: new Secret(Buffer.alloc(32, 9)) };
  const { written, unreadable } = await reencryptAll(sql(), new Vault([fresh, old]));
  expect(unreadable).toEqual([]);
  expect(written).toMatchObject({ suspended_webhooks: expect.any(Number), suspended_accounts: expect.any(Number) });
  expect([written.suspended_webhooks! > 0, written.suspended_accounts! > 0]).toEqual([true, true]);
  expect(written.suspended_sso).toBeGreaterThan(0);
  await checkMasterKeys(sql(), new Vault([fresh]));
  await reencryptAll(sql(), new Vault([old, fresh]));
  const owner = await login(email, OWNER_PASSWORD);
  const accounts = (await listSuspendedItems(owner)).filter(
    ({ kind, name }) => kind === 'account' && name === 'anthropic',
  );
  expect((await owner.call('POST', `/v1/suspended-items/${accounts[0]!.id}/keep`)).status).toBe(201);
});

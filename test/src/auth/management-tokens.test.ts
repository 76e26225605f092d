/** Tokens of programs: never more than their creator may now, never outside their project, and named in the trail. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;
type Fields = Record<string, unknown>;

async function createToken(by: Member, fields: Fields = {}) {
  const answer = await by.call('POST', '/v1/management-tokens', { name: 'CI', role: 'admin', ...fields });
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  const secret = answer.body.secretToken as string;
  const call = (method: string, path: string, body?: unknown) => plane().call(method, path, { token: secret, body });
  return { ...answer.body.token, secret, call };
}

test('create: the token is shown once, kept as a hash, and listed without it', async () => {
  const owner = await plane().createMember('owner');
  const made = await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'member' });
  expect(made.body).toEqual({
    token: {
      id: expect.any(String),
      name: 'CI',
      tokenPrefix: made.body.secretToken.slice(0, 13),
      role: 'member',
      projectId: null,
      createdBy: owner.userId,
      lastUsedAt: null,
      expiresAt: null,
      createdAt: expect.stringMatching(/Z$/),
    },
    secretToken: expect.stringMatching(/^acgm_[0-9a-f]{64}$/),
  });
  const [row] = await sql()`select token_hash from management_tokens where id = ${made.body.token.id}`;
  expect(row!.token_hash).toEqual(createHash('sha256').update(made.body.secretToken).digest());
  const list = await owner.call('GET', '/v1/management-tokens');
  expect(list.body).toEqual({ tokens: [made.body.token], total: 1, limit: 50, offset: 0 });
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('GET', '/v1/management-tokens')).body.total).toBe(0);
  expect((await stranger.call('DELETE', `/v1/management-tokens/${made.body.token.id}`)).status).toBe(404);
});

test('create: rejects roles above admin or above the creator’s, projects of other organizations and past expiries', async () => {
  const owner = await plane().createMember('owner');
  const stranger = await plane().createMember('owner');
  const foreign = (await stranger.call('POST', '/v1/projects', { name: 'Foreign' })).body.project.id;
  const create = async (fields: Fields) =>
    (await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer', ...fields })).status;
  expect(await create({ role: 'owner' })).toBe(400);
  expect(await create({ projectId: foreign })).toBe(404);
  expect(await create({ expiresAt: '2020-01-01T00:00:00.000Z' })).toBe(400);
  const member = await plane().createMember('member', owner.orgId);
  expect((await member.call('POST', '/v1/management-tokens', { name: 'x', role: 'viewer' })).status).toBe(403);
});

test('create: an organization has at most 200', async () => {
  const owner = await plane().createMember('owner');
  await sql()`
    insert into management_tokens (id, org_id, name, role, token_prefix, token_hash, created_by)
    select gen_random_uuid(), ${owner.orgId}, 'x', 'viewer', 'x', sha256(gen_random_uuid()::text::bytea), ${owner.userId}
      from generate_series(1, 199)`;
  const create = () => owner.call('POST', '/v1/management-tokens', { name: 'x', role: 'viewer' });
  expect((await Promise.all([create(), create(), create()])).map((a) => a.status).sort()).toEqual([201, 409, 409]);
});

test("rights: the lower of its role and its creator's current role; none after the creator is removed", async () => {
  const owner = await plane().createMember('owner');
  const admin = await plane().createMember('admin', owner.orgId);
  const token = await createToken(admin, { role: 'admin' });
  const write = async () => (await token.call('POST', '/v1/projects', { name: 'by token' })).status;
  const read = async () => (await token.call('GET', '/v1/projects')).status;
  expect([await write(), await read()]).toEqual([201, 200]);
  await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'viewer' });
  expect([await write(), await read()]).toEqual([403, 200]);
  await owner.call('PATCH', `/v1/members/${admin.userId}`, { role: 'owner' });
  expect(await write()).toBe(201);
  expect((await token.call('GET', '/v1/members')).status).toBe(403);
  await owner.call('DELETE', `/v1/members/${admin.userId}`);
  expect([await write(), await read()]).toEqual([401, 401]);
  // Coming back does not bring them back.
  await sql()`insert into memberships (org_id, user_id, role) values (${owner.orgId}, ${admin.userId}, 'admin')`;
  expect(await read()).toBe(401);
});

test('rights: the creator s role in another organization does not count', async () => {
  const owner = await plane().createMember('owner');
  const elsewhere = await plane().createMember('owner');
  const token = await createToken(owner);
  const read = async () => (await token.call('GET', '/v1/projects')).status;
  await sql()`insert into memberships (org_id, user_id, role) values (${elsewhere.orgId}, ${owner.userId}, 'owner')`;
  expect(await read()).toBe(200);
  await sql()`delete from memberships where org_id = ${owner.orgId} and user_id = ${owner.userId}`;
  expect(await read()).toBe(401);
});

test('a deleted, expired or unknown token is 401, and one token is no session', async () => {
  const owner = await plane().createMember('owner');
  const token = await createToken(owner, { expiresAt: '2999-01-01T00:00:00.000Z' });
  const read = async (secret = token.secret) => (await plane().call('GET', '/v1/projects', { token: secret })).status;
  expect(await read()).toBe(200);
  expect(await read(`acgm_${'0'.repeat(64)}`)).toBe(401);
  expect(await read(token.secret.toUpperCase())).toBe(401);
  expect((await token.call('POST', '/v1/auth/refresh')).status).toBe(401);
  const own = { 'sec-fetch-site': 'same-origin' };
  expect((await plane().call('POST', '/v1/session', { token: token.secret, headers: own })).status).toBe(401);
  await sql()`update management_tokens set expires_at = now() where id = ${token.id}`;
  expect(await read()).toBe(401);
  await sql()`update management_tokens set expires_at = null where id = ${token.id}`;
  expect(await read()).toBe(200);
  await owner.call('DELETE', `/v1/management-tokens/${token.id}`);
  expect(await read()).toBe(401);
});

test('a management token does not verify an invited account', async () => {
  const owner = await plane().createMember('owner');
  const guest = await plane().createMember('owner');
  const [{ email }] = (await sql()`
    update users set email_verified_at = now() where id = ${guest.userId} returning email`) as unknown as [
    { email: string },
  ];
  const token = await createToken(guest);
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  const mail = await plane().waitForMail(email, 'Invitation');
  const body = { token: mail.token };
  expect((await plane().call('POST', '/v1/invitations/accept', { token: token.secret, body })).status).toBe(401);
  expect((await plane().call('POST', '/v1/invitations/accept', { token: guest.token, body })).status).toBe(200);
});

test('the audit trail names the token and can be filtered by it', async () => {
  const owner = await plane().createMember('owner');
  const token = await createToken(owner, { name: 'Terraform' });
  await token.call('POST', '/v1/projects', { name: 'by token' });
  const { body } = await owner.call('GET', `/v1/audit?actorId=${token.id}`);
  expect(body.entries).toMatchObject([{ action: 'project.create' }]);
  expect(body.entries[0].actor).toEqual({ tokenId: token.id, name: 'Terraform' });
  expect((await owner.call('GET', `/v1/audit?actorId=${owner.userId}`)).body.entries).toMatchObject([
    { action: 'management_token.create', actor: { userId: owner.userId } },
  ]);
});

test('a token of one project deletes that project, and itself with it', async () => {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Short-lived' })).body.project.id;
  const token = await createToken(owner, { projectId });
  expect((await token.call('DELETE', `/v1/projects/${projectId}`)).status).toBe(200);
  expect((await token.call('GET', '/v1/projects')).status).toBe(401);
  const { entries } = (await owner.call('GET', `/v1/audit?targetId=${projectId}&action=project.delete`)).body;
  expect(entries).toMatchObject([{ actor: { tokenId: token.id } }]);
});

test('use is written down, at most once a minute', async () => {
  const owner = await plane().createMember('owner');
  const token = await createToken(owner);
  const used = async () => (await owner.call('GET', '/v1/management-tokens')).body.tokens[0].lastUsedAt;
  expect(await used()).toBeNull();
  await token.call('GET', '/v1/projects');
  const first = await used();
  expect(first).toMatch(/Z$/);
  await token.call('GET', '/v1/projects');
  expect(await used()).toBe(first);
});

test('an account that its e-mail owner takes over loses the tokens it created', async () => {
  const owner = await plane().createMember('owner');
  const email = `${owner.userId}@example.com`;
  const signup = { email, password: 'the first password', name: 'Squatter', orgName: 'Own' };
  const squatter = (await plane().call('POST', '/v1/auth/signup', { body: signup })).body;
  const made = await plane().call('POST', '/v1/management-tokens', {
    token: squatter.token,
    body: { name: 'back door', role: 'admin' },
  });
  const read = async () => (await plane().call('GET', '/v1/projects', { token: made.body.secretToken })).status;
  expect(await read()).toBe(200);
  await owner.call('POST', '/v1/members', { email, role: 'viewer' });
  await sql()`update invitations set link_shown = false where email = ${email}`; // in the mail alone
  const { token } = await plane().waitForMail(email, 'Invitation');
  const body = { token, password: 'the rightful password' };
  expect((await plane().call('POST', '/v1/invitations/accept', { body })).status).toBe(200);
  expect(await read()).toBe(401);
});

test('a reset by e-mail revokes the tokens of an unverified account, and no others', async () => {
  for (const [verified, status] of [
    [false, 401],
    [true, 200],
  ] as const) {
    const email = `reset-${verified}@example.com`;
    const signup = { email, password: 'the first password', name: 'Ada', orgName: 'Own' };
    const { token } = (await plane().call('POST', '/v1/auth/signup', { body: signup })).body;
    if (verified) await sql()`update users set email_verified_at = now() where email = ${email}`;
    const made = await plane().call('POST', '/v1/management-tokens', { token, body: { name: 'CI', role: 'admin' } });
    await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
    const mail = await plane().waitForMail(email, 'new password');
    await plane().call('POST', '/v1/auth/reset-password', { body: { token: mail.token, password: 'a whole new one' } });
    expect((await plane().call('GET', '/v1/projects', { token: made.body.secretToken })).status).toBe(status);
  }
});

/** Two projects of one organization, each with an agent, its key and its account. */
async function createTwoProjects() {
  const owner = await plane().createMember('owner');
  const make = async (name: string) => {
    const projectId = (await owner.call('POST', '/v1/projects', { name })).body.project.id as string;
    const agentId = (await owner.call('POST', '/v1/agents', { projectId, name })).body.agent.id as string;
    const keyId = (await owner.call('POST', '/v1/api-keys', { name, agentId })).body.key.id as string;
    const account = { agentId, providerSlug: 'openai', credentials: { apiKey: 'sk-0123456789' } };
    const accountId = (await owner.call('POST', '/v1/providers/accounts', account)).body.account.id as string;
    return { projectId, agentId, keyId, accountId };
  };
  const [own, other] = [await make('Own'), await make('Other')];
  await owner.call('POST', '/v1/api-keys', { name: 'of all', scope: 'org' });
  return { owner, own, other, token: await createToken(owner, { projectId: own.projectId }) };
}

test('project: lists show its rows and count nothing else', async () => {
  const { own, token } = await createTwoProjects();
  const list = async (path: string, name: string) => {
    const { body } = await token.call('GET', path);
    return [body.total, body[name].map((row: { id: string }) => row.id)];
  };
  expect(await list('/v1/projects', 'projects')).toEqual([1, [own.projectId]]);
  expect(await list('/v1/api-keys', 'keys')).toEqual([1, [own.keyId]]);
  expect(await list('/v1/providers/accounts', 'accounts')).toEqual([1, [own.accountId]]);
  expect(await list(`/v1/agents?projectId=${own.projectId}`, 'agents')).toEqual([1, [own.agentId]]);
});

test('project: resources of another project of the same organization are 404 in every position', async () => {
  const { own, other, token } = await createTwoProjects();
  const calls: [string, string, Fields?][] = [
    ['GET', `/v1/projects/${other.projectId}`],
    ['PATCH', `/v1/projects/${other.projectId}`, { name: 'x' }],
    ['DELETE', `/v1/projects/${other.projectId}`],
    ['GET', `/v1/agents?projectId=${other.projectId}`],
    ['GET', `/v1/agents/${other.agentId}`],
    ['PATCH', `/v1/agents/${other.agentId}`, { name: 'x' }],
    ['PATCH', `/v1/agents/${other.agentId}/status`, { status: 'paused' }],
    ['DELETE', `/v1/agents/${other.agentId}`],
    ['POST', '/v1/agents', { projectId: other.projectId, name: 'x' }],
    ['GET', `/v1/api-keys?agentId=${other.agentId}`],
    ['GET', `/v1/api-keys?projectId=${other.projectId}`],
    ['GET', `/v1/api-keys?projectId=${own.projectId}&agentId=${other.agentId}`],
    ['POST', '/v1/api-keys', { name: 'x', agentId: other.agentId }],
    ['POST', '/v1/api-keys', { name: 'x', scope: 'project', projectId: other.projectId }],
    ['POST', '/v1/api-keys', { name: 'x', projectId: own.projectId, agentId: other.agentId }],
    ['DELETE', `/v1/api-keys/${other.keyId}`],
    ['GET', `/v1/providers/accounts?agentId=${other.agentId}`],
    ['GET', `/v1/providers/accounts?projectId=${other.projectId}`],
    ['POST', '/v1/providers/accounts', { agentId: other.agentId, providerSlug: 's3', credentials: {} }],
    ['POST', `/v1/providers/accounts/${other.accountId}/rotate`, { credentials: { apiKey: 'sk-9876543210' } }],
    ['DELETE', `/v1/providers/accounts/${other.accountId}`],
    ['GET', `/v1/usage/agents/${other.agentId}`],
    ['GET', `/v1/usage/agents/${other.agentId}/logs`],
    ['GET', `/v1/usage/agents/compare?agentIds=${own.agentId},${other.agentId}`],
    ['GET', `/v1/usage/agents/compare?agentIds=${other.agentId.toUpperCase()}`],
  ];
  for (const [method, path, body] of calls) {
    expect([method, path, (await token.call(method, path, body)).status]).toEqual([method, path, 404]);
  }
});

test('project: what concerns more than the project is 403', async () => {
  const { own, token } = await createTwoProjects();
  const calls: [string, string, Fields?][] = [
    ['POST', '/v1/projects', { name: 'x' }],
    ['POST', '/v1/api-keys', { name: 'x', scope: 'org' }],
    ['GET', '/v1/audit'],
    ['GET', '/v1/webhooks'],
    ['POST', '/v1/webhooks', { url: 'https://example.com', events: ['agent.created'] }],
    ['GET', '/v1/custom-providers'],
    ['GET', '/v1/members'],
    ['PATCH', '/v1/me', { name: 'x' }],
    ['GET', '/v1/management-tokens'],
  ];
  for (const [method, path, body] of calls) {
    expect([method, path, (await token.call(method, path, body)).status]).toEqual([method, path, 403]);
  }
  const scoped = { name: 'x', scope: 'org', projectId: own.projectId };
  expect((await token.call('POST', '/v1/api-keys', scoped)).status).toBe(400); // the project scope does not narrow it
});

test('project: inside it, the token does what an admin does', async () => {
  const { own, token } = await createTwoProjects();
  const agent = await token.call('POST', '/v1/agents', { projectId: own.projectId, name: 'New' });
  expect(agent.status).toBe(201);
  const { id } = agent.body.agent;
  const calls: [string, string, Fields?][] = [
    ['GET', `/v1/agents/${id.toUpperCase()}`],
    ['PATCH', `/v1/agents/${id}`, { rpmLimit: 5 }],
    ['POST', '/v1/api-keys', { name: 'x', agentId: id.toUpperCase() }],
    ['POST', '/v1/api-keys', { name: 'x', scope: 'project', projectId: own.projectId }],
    ['DELETE', `/v1/api-keys/${own.keyId}`],
    ['POST', `/v1/providers/accounts/${own.accountId}/rotate`, { credentials: { apiKey: 'sk-9876543210' } }],
    ['GET', `/v1/usage/agents/${id}/summary`],
    ['GET', `/v1/usage/agents/compare?agentIds=${id},${own.agentId},${id}`],
    ['DELETE', `/v1/agents/${id}`],
  ];
  for (const [method, path, body] of calls) {
    expect([method, path, (await token.call(method, path, body)).status]).toEqual([
      method,
      path,
      method === 'POST' && !path.endsWith('rotate') ? 201 : 200,
    ]);
  }
  expect((await token.call('GET', '/v1/usage/agents/compare?agentIds=x')).status).toBe(400);
});

test('project: personal agents get no credential of the whole organization or of another project', async () => {
  const { owner, own, other, token } = await createTwoProjects();
  const share = async (projectId?: string): Promise<string> => {
    const body = { name: 'Shared', providerSlug: 'groq', credentials: { apiKey: 'sk-0123456789' }, projectId };
    return (await owner.call('POST', '/v1/credentials', body)).body.credential.id;
  };
  const allow = (caller: Pick<typeof owner, 'call'>, id: string) =>
    caller.call('PATCH', `/v1/projects/${own.projectId}`, { personalAgents: { credentialIds: [id] } });
  const ofOrganization = await share();
  const unknown = await allow(token, '019a3f5e-0000-7000-8000-000000000000');
  expect(unknown.status).toBe(400);
  for (const id of [ofOrganization, await share(other.projectId)])
    expect(await allow(token, id)).toMatchObject({ status: 400, body: { error: unknown.body.error } });
  expect((await allow(token, await share(own.projectId))).status).toBe(200);
  expect((await allow(owner, ofOrganization)).status).toBe(200);
});

test('project: a custom provider of another organization is 404', async () => {
  const { own, token } = await createTwoProjects();
  const account = { agentId: own.agentId, providerSlug: 'nowhere', credentials: {} };
  expect((await token.call('POST', '/v1/providers/accounts', account)).status).toBe(404);
});

test('whoami: a token sees its name, its organization and its current rights, but nothing about its creator', async () => {
  const owner = await plane().createMember('owner');
  const other = await plane().createMember('owner');
  await sql()`insert into memberships (org_id, user_id, role) values (${other.orgId}, ${owner.userId}, 'viewer')`;
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'Mine' })).body.project.id;
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const token = await createToken(owner, { projectId, expiresAt });
  await sql()`update memberships set role = 'member' where user_id = ${owner.userId} and org_id = ${owner.orgId}`;
  const { id, tokenPrefix, createdAt } = token;
  expect((await token.call('GET', '/v1/me')).body).toEqual({
    user: null,
    token: { id, name: 'CI', tokenPrefix, projectId, expiresAt, createdAt },
    orgId: owner.orgId,
    role: 'member',
    orgs: [{ id: owner.orgId, name: 'Test org', slug: `org-${owner.orgId}`, role: 'member' }],
  });
  expect((await owner.call('GET', '/v1/me')).body).toMatchObject({ token: null, user: { id: owner.userId } });
});

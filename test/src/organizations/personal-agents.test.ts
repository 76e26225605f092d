/** Personal agents: who gets one, what it may use, and what ends it. */
import { erasePerson } from '@acg/controlplane/erase-person/erase-person';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { expectCutsChangeNothing } from '../fixtures/cut-writes.js';

const plane = useControlPlane();
const sql = () => plane().database.sql;

const shared = async (owner: Member, name: string, providerSlug: string, projectId?: string): Promise<string> => {
  const body = { name, providerSlug, credentials: { apiKey: 'sk-example-example-example' }, projectId };
  return (await owner.call('POST', '/v1/credentials', body)).body.credential.id;
};

async function setUp() {
  const owner = await plane().createMember('owner');
  const member = await plane().createMember('member', owner.orgId);
  await sql()`update users set name = 'Ada Lovelace' where id = ${member.userId}`;
  const projectId: string = (await owner.call('POST', '/v1/projects', { name: 'Personal agents' })).body.project.id;
  const credentialId = await shared(owner, 'OpenAI of the team', 'openai', projectId);
  const path = `/v1/projects/${projectId}`;
  const personalAgents = { credentialIds: [credentialId] };
  const allowed = await owner.call('PATCH', path, { personalAgents, agentDefaults: { rpmLimit: 7 } });
  expect(allowed.body.project.personalAgents).toEqual(personalAgents);
  const createKey = (caller = member, body = {}) =>
    caller.call('POST', '/v1/personal-agents/keys', { projectId, name: 'laptop', ...body });
  return { owner, member, projectId, credentialId, path, personalAgents, createKey };
}

/** As by an agent with the token of that run. */
async function insertSubRun(parentId: string): Promise<string> {
  const [row] = await sql()<{ id: string }[]>`
    insert into runs (id, org_id, agent_id, root_id, ancestors, label, budget_cents, token_hash, key_prefix, created_at, expires_at)
    select gen_random_uuid(), org_id, agent_id, id, array[id], 'step', budget_cents, sha256(id::text::bytea), 'x', now(), expires_at
      from runs where id = ${parentId} returning id`;
  return row!.id;
}

const openKeys = async (agentId: string): Promise<number> =>
  (await sql()`select 1 from api_keys where agent_id = ${agentId} and revoked_at is null`).length;

const sessionsEnded = (agentId: string) => sql()`
  select 1 from invalidations where kind = 'agent' and id = ${agentId} and ends_sessions`;

test('a member gets one agent, named after the member, with the limits and credentials of the project', async () => {
  const { owner, member, projectId, createKey, credentialId } = await setUp();
  const before = await member.call('GET', '/v1/personal-agents');
  expect(before.body).toMatchObject({
    total: 1,
    personalAgents: [{ projectId, projectName: 'Personal agents', agent: null }],
  });
  const [first, second] = [await createKey(), await createKey(member, { lifetimeSeconds: 60 })];
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({ agent: { name: 'Ada Lovelace', slug: 'ada-lovelace', status: 'active' } });
  expect(first.body.secretKey).toMatch(/^acg_[0-9a-f]{64}$/);
  expect(second.body.agent).toEqual(first.body.agent);
  expect(Date.parse(second.body.key.expiresAt)).toBeLessThan(Date.now() + 61_000);
  const agentId = first.body.agent.id;
  const { agent } = (await owner.call('GET', `/v1/agents/${agentId}`)).body;
  expect(agent).toMatchObject({ rpmLimit: 7, ownerUserId: member.userId, projectId });
  const listed = await owner.call('GET', `/v1/agents?projectId=${projectId}`);
  expect(listed.body.agents).toMatchObject([{ id: agentId, ownerUserId: member.userId }]);
  const figures = await owner.call('GET', `/v1/usage/agents?projectId=${projectId}`);
  expect(figures.body.agents).toMatchObject([{ id: agentId, ownerUserId: member.userId }]);
  const accounts = await owner.call('GET', `/v1/providers/accounts?agentId=${agentId}`);
  expect(accounts.body.accounts).toMatchObject([{ providerSlug: 'openai', credentialId }]);
  const entries = await sql()`
    select action, actor_user_id as actor, changes -> 'ownerUserId' as owner from audit_entries
     where org_id = ${owner.orgId} and target_id = ${agentId}`;
  expect(entries).toEqual([{ action: 'agent.create', actor: member.userId, owner: [null, member.userId] }]);
  const after = await member.call('GET', '/v1/personal-agents');
  expect(after.body.personalAgents[0].agent).toEqual(first.body.agent);
  // A project that allows no personal agents is not listed.
  await owner.call('POST', '/v1/projects', { name: 'Closed' });
  expect((await member.call('GET', '/v1/personal-agents')).body).toMatchObject({
    total: 1,
    personalAgents: [{ projectId }],
  });
  // Another member gets another agent, and does not see this one as the own.
  const colleague = await plane().createMember('member', owner.orgId);
  expect((await colleague.call('GET', '/v1/personal-agents')).body.personalAgents[0].agent).toBeNull();
  const colleagues = (await createKey(colleague)).body.agent.id;
  expect(colleagues).not.toBe(agentId);
  const others = await owner.call('GET', `/v1/providers/accounts?agentId=${colleagues}`);
  expect(others.body.accounts).toMatchObject([{ providerSlug: 'openai', credentialId }]);
});

test('a member has an agent of each project; the end of one setting leaves the others and all other agents of the project', async () => {
  const { owner, member, projectId, path, personalAgents, createKey, credentialId } = await setUp();
  const colleague = await plane().createMember('member', owner.orgId);
  const second = (await owner.call('POST', '/v1/projects', { name: 'Second' })).body.project.id;
  await owner.call('PATCH', `/v1/projects/${second}`, { personalAgents: { credentialIds: [] } });
  const own = (await createKey()).body.agent.id;
  const others = (await createKey(colleague)).body.agent.id;
  const elsewhere = await createKey(member, { projectId: second });
  expect(elsewhere.status).toBe(201);
  expect(elsewhere.body.agent.id).not.toBe(own);
  const listed = (await member.call('GET', '/v1/personal-agents')).body.personalAgents;
  expect(listed.map(({ agent }: { agent: { id: string } }) => agent.id)).toEqual([own, elsewhere.body.agent.id]);
  const accountsElsewhere = await owner.call('GET', `/v1/providers/accounts?agentId=${elsewhere.body.agent.id}`);
  expect(accountsElsewhere.body.total).toBe(0);
  // An agent of the project that no member owns, with the same shared credential.
  const bot = (await owner.call('POST', '/v1/agents', { projectId, name: 'Bot' })).body.agent.id;
  const account = { agentId: bot, providerSlug: 'openai', credentialId };
  expect((await owner.call('POST', '/v1/providers/accounts', account)).status).toBe(201);
  await owner.call('POST', '/v1/api-keys', { name: 'bot', agentId: bot });
  await owner.call('PATCH', path, { personalAgents: null });
  const status = async (id: string) => (await owner.call('GET', `/v1/agents/${id}`)).body.agent.status;
  expect([await status(own), await status(others)]).toEqual(['revoked', 'revoked']);
  expect([await status(elsewhere.body.agent.id), await status(bot)]).toEqual(['active', 'active']);
  expect([await openKeys(elsewhere.body.agent.id), await openKeys(bot)]).toEqual([1, 1]);
  expect((await owner.call('GET', `/v1/providers/accounts?agentId=${bot}`)).body.total).toBe(1);
  // The restoration of one agent restores no other.
  await owner.call('PATCH', path, { personalAgents });
  await createKey();
  expect([await status(own), await status(others)]).toEqual(['active', 'revoked']);
});

test('the end of a membership leaves the personal agent of another organization, and a key keeps the time of its revocation', async () => {
  const [here, there] = [await setUp(), await setUp()];
  const { member, owner, createKey } = here;
  const { agent, key } = (await createKey()).body;
  await member.call('DELETE', `/v1/personal-agents/keys/${key.id}`);
  await sql()`update api_keys set revoked_at = revoked_at - interval '1 hour' where id = ${key.id}`;
  await sql()`insert into memberships (org_id, user_id, role) values (${there.owner.orgId}, ${member.userId}, 'member')`;
  const elsewhere = (await there.owner.call('POST', '/v1/agents', { projectId: there.projectId, name: 'x' })).body.agent
    .id;
  await sql()`update agents set owner_user_id = ${member.userId} where id = ${elsewhere}`;
  expect((await owner.call('DELETE', `/v1/members/${member.userId}`)).status).toBe(200);
  expect((await owner.call('GET', `/v1/agents/${agent.id}`)).body.agent.status).toBe('revoked');
  expect((await there.owner.call('GET', `/v1/agents/${elsewhere}`)).body.agent.status).toBe('active');
  const kept = await sql()`
    select 1 from api_keys where id = ${key.id} and revoked_at < now() - interval '30 minutes'`;
  expect(kept).toHaveLength(1);
});

test('two first keys at the same time create one agent', async () => {
  const { createKey } = await setUp();
  const replies = await Promise.all([createKey(), createKey(), createKey()]);
  expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(replies.map(({ body }) => body.agent.id)).size).toBe(1);
});

test('members cannot widen their agent, viewers and management tokens get none, and one project does not open another', async () => {
  const { owner, member, createKey } = await setUp();
  const { agent, key } = (await createKey()).body;
  expect((await member.call('PATCH', `/v1/agents/${agent.id}`, { rpmLimit: 1_000 })).status).toBe(403);
  expect((await owner.call('PATCH', `/v1/agents/${agent.id}`, { rpmLimit: 9 })).status).toBe(200);
  const viewer = await plane().createMember('viewer', owner.orgId);
  expect((await createKey(viewer)).status).toBe(403);
  const closed = (await owner.call('POST', '/v1/projects', { name: 'Closed' })).body.project.id;
  const denied = await member.call('POST', '/v1/personal-agents/keys', { projectId: closed, name: 'x' });
  expect([denied.status, denied.body.error]).toEqual([403, expect.stringContaining('does not allow personal agents')]);
  const stranger = await plane().createMember('owner');
  expect((await createKey(stranger)).status).toBe(404);
  // A colleague, an admin too, does not revoke the key through this route.
  for (const other of [owner, stranger])
    expect((await other.call('DELETE', `/v1/personal-agents/keys/${key.id}`)).status).toBe(404);
  // Nor does a colleague who has a key of an own agent.
  const colleague = await plane().createMember('member', owner.orgId);
  expect((await createKey(colleague)).status).toBe(201);
  expect((await colleague.call('DELETE', `/v1/personal-agents/keys/${key.id}`)).status).toBe(404);
  expect(await openKeys(agent.id)).toBe(1);
  expect((await member.call('DELETE', `/v1/personal-agents/keys/${key.id}`)).status).toBe(200);
  expect((await member.call('DELETE', `/v1/personal-agents/keys/${key.id}`)).status).toBe(404);
  expect(await openKeys(agent.id)).toBe(0);
  expect((await createKey(member, { lifetimeSeconds: 2_592_001 })).status).toBe(400);
});

test('an agent has at most 20 valid keys', async () => {
  const { createKey, projectId } = await setUp();
  for (let at = 0; at < 20; at++) expect((await createKey()).status).toBe(201);
  const refused = await createKey();
  expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('20 valid keys')]);
  // A revoked key and an expired one do not count.
  const change = async (column: 'revoked_at' | 'expires_at') => {
    await sql()`
      update api_keys set ${sql()(column)} = now() - interval '1 second' where id = (
        select k.id from api_keys k join agents a on a.id = k.agent_id
         where a.project_id = ${projectId} and k.revoked_at is null and k.expires_at > now() limit 1)`;
  };
  for (const column of ['revoked_at', 'expires_at'] as const) {
    await change(column);
    expect((await createKey()).status).toBe(201);
    expect((await createKey()).status).toBe(409);
  }
});

test('the setting accepts shared credentials that the project may use, one per provider', async () => {
  const { owner, path, credentialId, projectId } = await setUp();
  const elsewhere = (await owner.call('POST', '/v1/projects', { name: 'Elsewhere' })).body.project.id;
  const foreign = await shared(await plane().createMember('owner'), 'Foreign', 'groq');
  const second = await shared(owner, 'Second', 'openai');
  for (const [ids, text] of [
    [
      [await shared(owner, 'Other project', 'groq', elsewhere)],
      'must be a shared credential that this project may use',
    ],
    [[foreign], 'must be a shared credential that this project may use'],
    [[credentialId, second], 'two are of openai'],
  ] as const) {
    const { status, body } = await owner.call('PATCH', path, { personalAgents: { credentialIds: ids } });
    expect([status, body.error]).toEqual([400, expect.stringContaining(text)]);
  }
  const groq = await shared(owner, 'Groq', 'groq');
  await owner.call('PATCH', path, { personalAgents: { credentialIds: [credentialId, groq] } });
  await sql()`delete from credentials where id = ${groq}`;
  const read = await owner.call('GET', `/v1/projects/${projectId}`);
  expect(read.body.project.personalAgents).toEqual({ credentialIds: [credentialId] });
});

test('accounts follow the setting: a new credential with the next key, a removed one at once', async () => {
  const { owner, path, credentialId, createKey } = await setUp();
  const { agent } = (await createKey()).body;
  const groq = await shared(owner, 'Groq', 'groq');
  await owner.call('PATCH', path, { personalAgents: { credentialIds: [credentialId, groq] } });
  await createKey();
  const providers = async () =>
    (await owner.call('GET', `/v1/providers/accounts?agentId=${agent.id}`)).body.accounts
      .map(({ providerSlug }: { providerSlug: string }) => providerSlug)
      .sort();
  expect(await providers()).toEqual(['groq', 'openai']);
  const [removed] = await sql()<{ id: string }[]>`
    select id from provider_accounts where agent_id = ${agent.id} and credential_id = ${credentialId}`;
  await owner.call('PATCH', path, { personalAgents: { credentialIds: [groq] } });
  expect(await providers()).toEqual(['groq']);
  const ended = await sql()`
    select id from invalidations where kind = 'account' and ends_sessions and starts_with(id, ${agent.id})`;
  expect(ended).toEqual([{ id: `${agent.id}/${removed!.id}` }]);
  const deletions = async () => sql()`
    select target_id as id, actor_user_id as actor, changes from audit_entries
     where action = 'account.delete' and org_id = ${owner.orgId} order by at, id`;
  const changes = { agentId: [agent.id, null], providerSlug: ['openai', null] };
  expect(await deletions()).toEqual([{ id: removed!.id, actor: owner.userId, changes }]);
  await owner.call('PATCH', path, { personalAgents: null });
  expect((await deletions()).map((entry) => entry.changes.providerSlug[0])).toEqual(['openai', 'groq']);
});

test('switching the setting off ends agents, keys and runs; switching it on lets the owner restore the agent', async () => {
  const { owner, member, path, personalAgents, createKey } = await setUp();
  const { agent } = (await createKey()).body;
  const run = { agentId: agent.id, budgetCents: 100, expiresIn: 600, label: 'nightly' };
  const started = await owner.call('POST', '/v1/runs', run);
  expect(started.status).toBe(201);
  const subRunId = await insertSubRun(started.body.run.id);
  expect((await owner.call('PATCH', path, { personalAgents: null })).body.project.personalAgents).toBeNull();
  expect((await owner.call('GET', `/v1/agents/${agent.id}`)).body.agent.status).toBe('revoked');
  expect(await openKeys(agent.id)).toBe(0);
  expect(await sql()`select 1 from runs where agent_id = ${agent.id} and ended_at is null`).toHaveLength(0);
  expect(await sql()`select end_reason as reason from runs where id = ${subRunId}`).toEqual([{ reason: 'ended' }]);
  const events = await sql()`select data from events where event = 'run.ended' and org_id = ${owner.orgId}`;
  const runId = started.body.run.id;
  const figures = { budgetCents: 100, spentCents: 0, reason: 'ended', label: 'nightly' };
  expect(events).toEqual([
    { data: { runId, agentId: agent.id, agentName: agent.name, orgId: owner.orgId, ...figures } },
  ]);
  expect(await sessionsEnded(agent.id)).toHaveLength(1);
  expect((await owner.call('GET', `/v1/providers/accounts?agentId=${agent.id}`)).body.total).toBe(0);
  expect((await createKey()).status).toBe(403);
  await owner.call('PATCH', path, { personalAgents });
  expect((await createKey()).body.agent).toEqual({ ...agent, status: 'active' });
  const changes = await sql()`
    select changes, actor_user_id as actor from audit_entries where action = 'agent.set_status' and target_id = ${agent.id}`;
  expect(changes).toEqual([{ changes: { status: ['revoked', 'active'] }, actor: member.userId }]);
});

test.each(['paused', 'revoked'])(
  'an agent that an admin set to %s stays so, also over the end of the setting',
  async (status) => {
    const { owner, path, personalAgents, createKey } = await setUp();
    const { agent } = (await createKey()).body;
    await owner.call('PATCH', `/v1/agents/${agent.id}/status`, { status });
    await owner.call('PATCH', path, { personalAgents: null });
    await owner.call('PATCH', path, { personalAgents });
    const refused = await createKey();
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining(`to ${status}`)]);
    // An admin may also stop one that had ended by itself.
    await owner.call('PATCH', `/v1/agents/${agent.id}/status`, { status: 'active' });
    await owner.call('PATCH', path, { personalAgents: null });
    await owner.call('PATCH', `/v1/agents/${agent.id}/status`, { status: 'revoked' });
    await owner.call('PATCH', path, { personalAgents });
    expect((await createKey()).status).toBe(403);
  },
);

test.each<[string, (owner: Member, member: Member) => Promise<unknown>]>([
  ['removal', (owner, member) => owner.call('DELETE', `/v1/members/${member.userId}`)],
  ['leave', (_, member) => member.call('DELETE', '/v1/members/me')],
  ['role viewer', (owner, member) => owner.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })],
])('%s ends the personal agent of the member, and of nobody else', async (_, end) => {
  const { owner, member, createKey } = await setUp();
  const colleague = await plane().createMember('member', owner.orgId);
  const [own, other] = [(await createKey()).body.agent.id, (await createKey(colleague)).body.agent.id];
  await end(owner, member);
  const status = async (id: string) => (await owner.call('GET', `/v1/agents/${id}`)).body.agent.status;
  expect([await status(own), await status(other)]).toEqual(['revoked', 'active']);
  expect([await openKeys(own), await openKeys(other)]).toEqual([0, 1]);
  expect(await sessionsEnded(own)).toHaveLength(1);
  expect(await sessionsEnded(other)).toHaveLength(0);
  expect((await createKey()).status).toBeGreaterThanOrEqual(401);
});

test('the erased account of a member leaves no key of a personal agent', async () => {
  const { createKey, member } = await setUp();
  const { agent } = (await createKey()).body;
  const [user] = await sql()<{ email: string }[]>`select email from users where id = ${member.userId}`;
  await erasePerson(sql(), user!.email, 'operator', false);
  expect(await openKeys(agent.id)).toBe(0);
  expect(await sessionsEnded(agent.id)).toHaveLength(1);
  const rows = await sql()`
    select name, slug from agents where id = ${agent.id} and owner_user_id is null
    union all select changes::text, '' from audit_entries where target_id = ${agent.id}
    union all select data::text, '' from events where data ->> 'agentId' = ${agent.id}`;
  expect(rows).toHaveLength(3);
  expect(JSON.stringify(rows)).not.toMatch(/lovelace/i);
});

type PersonalAgentSetup = Awaited<ReturnType<typeof setUp>>;

test.each<[string, number, (setup: PersonalAgentSetup) => ReturnType<PersonalAgentSetup['createKey']>]>([
  ['first key', 201, ({ createKey }) => createKey()],
  ['key that restores the agent', 201, ({ createKey }) => createKey()],
  ['member who leaves', 200, ({ member }) => member.call('DELETE', '/v1/members/me')],
  ['role viewer', 200, ({ owner, member }) => owner.call('PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })],
  ['end of the setting', 200, ({ owner, path }) => owner.call('PATCH', path, { personalAgents: null })],
])('a %s that loses its database connection at any write changes nothing', async (what, status, change) => {
  const setup = await setUp();
  const { owner, createKey, path, personalAgents } = setup;
  if (what !== 'first key') {
    const { agent } = (await createKey()).body;
    expect((await owner.call('POST', '/v1/runs', { agentId: agent.id, budgetCents: 1, expiresIn: 600 })).status).toBe(
      201,
    );
  }
  if (what === 'key that restores the agent')
    for (const setting of [null, personalAgents])
      expect((await owner.call('PATCH', path, { personalAgents: setting })).status).toBe(200);
  expect(await expectCutsChangeNothing(sql(), () => change(setup))).toMatchObject({ status });
});

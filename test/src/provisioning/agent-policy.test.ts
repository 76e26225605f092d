/** Rules for calls: agents' policies, accounts that allow sensitive calls, and sensitive calls of custom providers. */
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });

async function createTenant() {
  const owner = await plane().createMember('owner');
  const projectId = (await owner.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  const agentId: string = (await owner.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
  return { owner, projectId, agentId };
}

const assignAccount = (owner: Member, agentId: string, more: object = {}) =>
  owner.call('POST', '/v1/providers/accounts', {
    agentId,
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-0123456789' },
    ...more,
  });

const lastAudit = async (owner: Member) => (await owner.call('GET', '/v1/audit?limit=1')).body.entries[0];

test('accounts: sensitive calls are rejected until an admin allows them, on assignment or later', async () => {
  const { owner, projectId, agentId } = await createTenant();
  const made = (await assignAccount(owner, agentId)).body.account;
  expect(made.allowSensitivePaths).toBe(false);
  const path = `/v1/providers/accounts/${made.id}`;
  const member = await plane().createMember('member', owner.orgId);
  expect((await member.call('PATCH', path, { allowSensitivePaths: true })).status).toBe(403);
  const allowed = await owner.call('PATCH', path, { allowSensitivePaths: true });
  expect([allowed.status, allowed.body.account.allowSensitivePaths]).toEqual([200, true]);
  expect(await lastAudit(owner)).toMatchObject({
    action: 'account.update',
    changes: { allowSensitivePaths: [false, true] },
  });
  expect((await owner.call('GET', `/v1/providers/accounts?agentId=${agentId}`)).body.accounts).toMatchObject([
    { allowSensitivePaths: true },
  ]);
  const other = (await owner.call('POST', '/v1/agents', { projectId, name: 'B' })).body.agent.id;
  expect((await assignAccount(owner, other, { allowSensitivePaths: true })).body.account.allowSensitivePaths).toBe(
    true,
  );
});

test('accounts: a change names what it changes, and only an account of the organization', async () => {
  const { owner, agentId } = await createTenant();
  const path = `/v1/providers/accounts/${(await assignAccount(owner, agentId)).body.account.id}`;
  for (const body of [{}, { allowSensitivePaths: 'yes' }, { allowSensitivePaths: true, credentials: {} }]) {
    expect((await owner.call('PATCH', path, body)).status).toBe(400);
  }
  const stranger = await plane().createMember('owner');
  expect((await stranger.call('PATCH', path, { allowSensitivePaths: true })).status).toBe(404);
});

const POLICY = {
  openai: { calls: ['POST /v1/chat/completions', 'GET /v1/models/**'], models: { allow: ['gpt-5-mini*'], deny: [] } },
  supabase: {},
  inhouse: { tools: { allow: ['read_*'] }, resources: { deny: ['x://*'] }, prompts: {} },
};

test('agents: admins set, change and remove a policy', async () => {
  const { owner, projectId } = await createTenant();
  const { id } = (await owner.call('POST', '/v1/agents', { projectId, name: 'C', policy: POLICY })).body.agent;
  const path = `/v1/agents/${id}`;
  expect((await owner.call('GET', path)).body.agent.policy).toEqual(POLICY);
  const member = await plane().createMember('member', owner.orgId);
  expect((await member.call('PATCH', path, { policy: null })).status).toBe(403);
  expect((await member.call('PATCH', path, { name: 'D' })).body.agent).toMatchObject({ name: 'D', policy: POLICY });
  const changed = await owner.call('PATCH', path, { policy: {} });
  expect(changed.body.agent.policy).toEqual({});
  expect(await lastAudit(owner)).toMatchObject({ action: 'agent.update', changes: { policy: [POLICY, {}] } });
  expect((await owner.call('PATCH', path, { policy: null })).body.agent.policy).toBeNull();
});

const manyPatterns = (count: number): string[] => Array.from({ length: count }, (_, i) => `GET /v1/x${i}`);

test.each([
  [[]],
  ['everything'],
  [{ OpenAI: {} }],
  [{ openai: null }],
  [{ openai: { call: [] } }],
  [{ openai: { calls: 'GET /x' } }],
  [{ openai: { calls: ['/v1/models'] } }],
  [{ openai: { calls: ['get /v1/models'] } }],
  [{ openai: { calls: ['GET v1/models'] } }],
  [{ openai: { calls: ['GET /v1/mod els'] } }],
  [{ openai: { calls: [`GET /${'x'.repeat(200)}`] } }],
  [{ openai: { calls: manyPatterns(101) } }],
  [{ openai: { calls: manyPatterns(60) }, anthropic: { calls: manyPatterns(41) } }],
  [{ openai: { models: ['gpt-5'] } }],
  [{ openai: { models: { allow: [''] } } }],
  [{ openai: { models: { only: ['x'] } } }],
  [{ supabase: { models: { deny: ['x'] } } }],
  [{ supabase: { tools: { deny: ['x'] } } }],
  [{ inhouse: { tools: ['x'] } }],
  [{ inhouse: { tools: { deny: manyPatterns(60) }, prompts: { allow: manyPatterns(41) } } }],
])('agents: the policy %j is 400', async (policy) => {
  const { owner, agentId } = await createTenant();
  const answer = await owner.call('PATCH', `/v1/agents/${agentId}`, { policy });
  expect([answer.status, typeof answer.body.error]).toEqual([400, 'string']);
});

const CUSTOM = { slug: 'inhouse', displayName: 'In-house', baseUrl: 'http://127.0.0.1:9/a', authType: 'none' };

test('custom providers: sensitive calls are stored, shown and changed; built-in providers show theirs', async () => {
  const { owner } = await createTenant();
  const sensitivePaths = ['* /keys/**', 'POST /tokens'];
  const made = (await owner.call('POST', '/v1/custom-providers', { ...CUSTOM, sensitivePaths })).body.provider;
  expect(made.sensitivePaths).toEqual(sensitivePaths);
  const path = `/v1/custom-providers/${made.id}`;
  expect((await owner.call('PUT', path, { displayName: 'New' })).body.provider.sensitivePaths).toEqual(sensitivePaths);
  expect((await owner.call('PUT', path, { sensitivePaths: [] })).body.provider.sensitivePaths).toEqual([]);
  expect(await lastAudit(owner)).toMatchObject({ changes: { sensitivePaths: [sensitivePaths, []] } });
  expect((await owner.call('PUT', path, { sensitivePaths: ['keys'] })).status).toBe(400);
  const { providers } = (await owner.call('GET', '/v1/custom-providers')).body;
  expect(providers.find((one: { slug: string }) => one.slug === 'resend').sensitivePaths).toEqual(['* /api-keys/**']);
});

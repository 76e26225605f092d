/** Agents, their status, limits and events, from outside (docs/contract.md#management-api, docs/contract.md#limits). */
import { AGENT_LIMITS } from '@acg/base/limit-definitions';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { createAgent, firstProjectId, inviteMember, signUp, TIMESTAMP, UUID } from './api-user.js';

const plane = useControlPlane();

test('POST /v1/agents returns agent with exactly its fields; a new agent is active; defaults 60, 10000, none', async () => {
  const owner = await signUp(plane());
  const projectId = await firstProjectId(owner);
  const { status, body } = await owner.post('/v1/agents', { projectId, name: 'Support Bot', description: 'Helps' });
  expect(status).toBe(201);
  expect(body).toEqual({
    agent: {
      id: UUID,
      projectId,
      name: 'Support Bot',
      slug: 'support-bot',
      status: 'active',
      budgetCentsMonthly: null,
      rpmLimit: 60,
      rpdLimit: 10_000,
    },
  });
});

test('GET /v1/agents needs projectId and returns agents, total, limit, offset with exactly their fields', async () => {
  const owner = await signUp(plane());
  const projectId = await firstProjectId(owner);
  const limits = { budgetCentsMonthly: 5_000, rpmLimit: 30, rpdLimit: 500 };
  const first = await createAgent(owner, limits);
  const second = await createAgent(owner, { name: 'Second' });
  const missing = await owner.get('/v1/agents');
  expect([missing.status, missing.body]).toEqual([400, { error: 'projectId is required' }]);
  const { body } = await owner.get(`/v1/agents?projectId=${projectId}`);
  expect(body).toMatchObject({ total: 2, limit: 50, offset: 0 });
  expect(body.agents.map((agent: { id: string }) => agent.id)).toEqual([second.id, first.id]);
  expect(body.agents[1]).toEqual({
    id: first.id,
    name: 'Support Bot',
    slug: 'support-bot',
    status: 'active',
    ...limits,
    createdAt: TIMESTAMP,
  });
  const other = (await owner.post('/v1/projects', { name: 'Empty' })).body.project;
  expect((await owner.get(`/v1/agents?projectId=${other.id}`)).body).toMatchObject({ agents: [], total: 0 });
});

test('GET /v1/agents/:id returns every field of the agent', async () => {
  const owner = await signUp(plane());
  const { id } = await createAgent(owner, { description: 'Helps', budgetCentsMonthly: 0 });
  const { status, body } = await owner.get(`/v1/agents/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    agent: {
      ...Object.fromEntries(AGENT_LIMITS.map((row) => [row.field, row.default])),
      id,
      projectId: await firstProjectId(owner),
      name: 'Support Bot',
      slug: 'support-bot',
      description: 'Helps',
      status: 'active',
      budgetCentsMonthly: 0,
      rpmLimit: 60,
      rpdLimit: 10_000,
      usageThresholds: [80],
      policy: null,
      tpmLimit: null,
      budgetMode: 'soft',
      holdMaxOutputTokens: 4_096,
      onStoreLoss: 'allow',
      budgets: [{ window: 'month', cents: 0, models: [], mode: 'soft', spentCents: 0, resetAt: TIMESTAMP }],
      auditLimits: [],
      createdAt: TIMESTAMP,
    },
  });
});

test('PATCH accepts each field; null removes the custom limit and restores the default', async () => {
  const owner = await signUp(plane());
  const { id } = await createAgent(owner, { budgetCentsMonthly: 1, rpmLimit: 2, rpdLimit: 3 });
  const path = `/v1/agents/${id}`;
  const changes = {
    name: 'New',
    description: 'New',
    budgetCentsMonthly: 10,
    rpmLimit: 20,
    rpdLimit: 30,
    usageThresholds: [50, 90],
  };
  expect((await owner.patch(path, changes)).body.agent).toMatchObject({ ...changes, slug: 'support-bot' });
  expect((await owner.patch(path, { rpmLimit: null })).body.agent).toMatchObject({ ...changes, rpmLimit: 60 });
  const cleared = await owner.patch(path, { rpdLimit: null, budgetCentsMonthly: null });
  expect(cleared.body.agent).toMatchObject({ rpmLimit: 60, rpdLimit: 10_000, budgetCentsMonthly: null });
  expect((await owner.get(path)).body).toEqual(cleared.body);
});

test('usage thresholds can be set at creation', async () => {
  const owner = await signUp(plane());
  const { id } = await createAgent(owner, { usageThresholds: [25, 100] });
  expect((await owner.get(`/v1/agents/${id}`)).body.agent.usageThresholds).toEqual([25, 100]);
  const none = await createAgent(owner, { usageThresholds: [] });
  expect((await owner.get(`/v1/agents/${none.id}`)).body.agent.usageThresholds).toEqual([]);
});

test('the status endpoint accepts exactly active, paused and revoked', async () => {
  const owner = await signUp(plane());
  const { id } = await createAgent(owner);
  for (const status of ['paused', 'active', 'revoked', 'active'] as const) {
    const answer = await owner.patch(`/v1/agents/${id}/status`, { status });
    expect([answer.status, answer.body.agent.status]).toEqual([200, status]);
  }
  for (const status of ['deleted', 'ACTIVE', '', null, 1]) {
    expect([status, (await owner.patch(`/v1/agents/${id}/status`, { status })).status]).toEqual([status, 400]);
  }
  expect((await owner.patch(`/v1/agents/${id}`, { status: 'paused' })).status).toBe(400);
});

test('DELETE is permanent: it deletes the agent, its keys and its accounts, and then its project can be deleted', async () => {
  const owner = await signUp(plane());
  const projectId = await firstProjectId(owner);
  const { id } = await createAgent(owner);
  await owner.post('/v1/api-keys', { name: 'Key', agentId: id });
  await owner.post('/v1/providers/accounts', {
    agentId: id,
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-12345678' },
  });
  expect((await owner.delete(`/v1/projects/${projectId}`)).status).toBe(409);
  const answer = await owner.delete(`/v1/agents/${id}`);
  expect([answer.status, answer.body]).toEqual([200, { deleted: true }]);
  expect((await owner.get(`/v1/agents/${id}`)).status).toBe(404);
  expect((await owner.delete(`/v1/agents/${id}`)).status).toBe(404);
  expect((await owner.get('/v1/api-keys')).body).toMatchObject({ keys: [], total: 0 });
  expect((await owner.get('/v1/providers/accounts')).body).toMatchObject({ accounts: [], total: 0 });
  expect((await owner.delete(`/v1/projects/${projectId}`)).status).toBe(200);
});

const BOUNDS: readonly (readonly [string, number, number])[] = [
  ['rpmLimit', 1, 1_000_000],
  ['rpdLimit', 1, 1_000_000_000],
  ['budgetCentsMonthly', 0, 1e12],
];
const limitsWithoutBounds = AGENT_LIMITS.filter(({ field }) => !BOUNDS.some(([name]) => name === field));
test.each([...BOUNDS, ...limitsWithoutBounds.map(({ field, minimum, maximum }) => [field, minimum, maximum] as const)])(
  '%s is an integer from %d to %d',
  async (field, min, max) => {
    const owner = await signUp(plane());
    const { id } = await createAgent(owner);
    const status = async (value: unknown) => (await owner.patch(`/v1/agents/${id}`, { [field]: value })).status;
    for (const good of [min, max]) expect([good, await status(good)]).toEqual([good, 200]);
    for (const bad of [min - 1, max + 1, min + 0.5, `${min + 1}`]) expect([bad, await status(bad)]).toEqual([bad, 400]);
  },
);

test('slugs are derived from the name, unique in their project and not accepted as input', async () => {
  const owner = await signUp(plane());
  const projectId = await firstProjectId(owner);
  const agents = await Promise.all(
    Array.from({ length: 30 }, () => owner.post('/v1/agents', { projectId, name: 'Same' })),
  );
  expect(agents.map((answer) => answer.status)).toEqual(Array(30).fill(201));
  expect(new Set(agents.map((answer) => answer.body.agent.slug)).size).toBe(30);
  expect((await owner.post('/v1/agents', { projectId, name: 'x', slug: 'mine' })).body.error).toContain('slug');
});

test('agent.created and agent.deleted are emitted, in the organization of the agent', async () => {
  const owner = await signUp(plane());
  const projectId = await firstProjectId(owner);
  const { id } = await createAgent(owner);
  await owner.delete(`/v1/agents/${id}`);
  const events = await plane().database
    .sql`select event, data from events where org_id = ${owner.orgId} order by occurred_at`;
  const data = { agentId: id, agentName: 'Support Bot', projectId, orgId: owner.orgId };
  expect([...events]).toEqual([
    { event: 'agent.created', data },
    { event: 'agent.deleted', data },
  ]);
});

test('concurrent changes of two admins lose nothing: every field has a value that one of them sent', async () => {
  const owner = await signUp(plane());
  const admin = await inviteMember(plane(), owner, 'admin');
  const { id } = await createAgent(owner);
  const path = `/v1/agents/${id}`;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => [
      owner.patch(path, { rpmLimit: n + 1 }),
      admin.patch(path, { rpdLimit: n + 1, description: `change ${n}` }),
    ]).flat(),
  );
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
  const { agent } = (await owner.get(path)).body;
  // Each change is atomic: the description and the daily limit come from the same change, and neither overwrote the
  // other.
  expect(agent.description).toBe(`change ${agent.rpdLimit - 1}`);
  expect(agent.rpmLimit).not.toBe(60);
  const trail = (await owner.get('/v1/audit?action=agent.update&limit=100')).body;
  expect(trail.total).toBe(100);
  // Read backwards, each entry starts with the values at which the previous one ended.
  const rpm = trail.entries.flatMap((e: { changes: { rpmLimit?: unknown[] } }) => e.changes.rpmLimit ?? []).reverse();
  for (let n = 1; n + 1 < rpm.length; n += 2) expect(rpm[n + 1 - 1]).toBe(rpm[n]);
});

test('a change of an agent during its deletion returns 200 or 404, never 500', async () => {
  const owner = await signUp(plane());
  for (let round = 0; round < 5; round++) {
    const { id } = await createAgent(owner);
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, (_, n) => owner.patch(`/v1/agents/${id}`, { rpmLimit: n + 1 })),
      owner.post('/v1/api-keys', { name: 'Key', agentId: id }),
      owner.delete(`/v1/agents/${id}`),
    ]);
    for (const { status } of answers) expect([200, 201, 404]).toContain(status);
  }
});

test('budgetMode, holdMaxOutputTokens, tpmLimit and onStoreLoss: on create and on PATCH, within their bounds', async () => {
  const owner = await signUp(plane());
  const strict = { budgetMode: 'hard', holdMaxOutputTokens: 100, tpmLimit: 5_000, onStoreLoss: 'refuse' };
  const { id } = await createAgent(owner, strict);
  const path = `/v1/agents/${id}`;
  expect((await owner.get(path)).body.agent).toMatchObject(strict);
  const changes = { budgetMode: 'soft', holdMaxOutputTokens: 1_000_000, tpmLimit: null, onStoreLoss: 'allow' };
  expect((await owner.patch(path, changes)).body.agent).toMatchObject(changes);
  expect((await owner.patch(path, { tpmLimit: 7 })).body.agent).toMatchObject({ ...changes, tpmLimit: 7 });
  for (const wrong of [
    { budgetMode: 'firm' },
    { holdMaxOutputTokens: 0 },
    { holdMaxOutputTokens: 1_000_001 },
    { holdMaxOutputTokens: null },
    { tpmLimit: 0 },
    { tpmLimit: 1_000_000_001 },
    { onStoreLoss: 'maybe' },
  ]) {
    expect((await owner.patch(path, wrong)).status).toBe(400);
  }
});

test('onStoreLoss: hard budgets default to `refuse` and soft budgets to `allow`; an explicit value stays, null removes it', async () => {
  const owner = await signUp(plane());
  const { id } = await createAgent(owner, { budgetMode: 'hard' });
  const path = `/v1/agents/${id}`;
  const shown = async (): Promise<string> => (await owner.get(path)).body.agent.onStoreLoss;
  expect(await shown()).toBe('refuse');
  expect((await owner.patch(path, { budgetMode: 'soft' })).body.agent.onStoreLoss).toBe('allow');
  expect((await owner.patch(path, { onStoreLoss: 'allow', budgetMode: 'hard' })).body.agent.onStoreLoss).toBe('allow');
  expect(await shown()).toBe('allow');
  expect((await owner.patch(path, { onStoreLoss: null })).body.agent.onStoreLoss).toBe('refuse');
});

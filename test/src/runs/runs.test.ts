/** Runs: their rules, as the management API and data planes see them (docs/contract.md#runs). */
import { createHash } from 'node:crypto';
import { deleteOldRuns } from '@acg/controlplane/runs/delete-old-runs';
import { ControlPlaneClient } from '@acg/proto/control-plane-client';
import { Outcome } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import type { ApiResponse } from '../fixtures/api-call.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();

const HOUR_S = 3_600;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

interface StartedRun {
  readonly run: { readonly id: string };
  readonly secretKey: string;
}

interface Setup {
  readonly admin: Member;
  readonly projectId: string;
  readonly agentId: string;
  readonly token: string;
  readonly keyId: string;
  start(body: object): ReturnType<Member['call']>;
  /** As a data plane: `POST`, `GET` and `DELETE /v1/runs` with a gateway token. */
  asAgent(token: string, method: string, runId?: string, body?: unknown): Promise<Pick<ApiResponse, 'status' | 'body'>>;
}

async function setUp(agent: object = {}): Promise<Setup> {
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Runs' })).body.project.id;
  const { id: agentId } = (await admin.call('POST', '/v1/agents', { projectId, name: 'Worker', ...agent })).body.agent;
  const created = (await admin.call('POST', '/v1/api-keys', { name: 'worker', agentId })).body;
  const client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
  return {
    admin,
    projectId,
    agentId,
    token: created.secretKey,
    keyId: created.key.id,
    start: (body) => admin.call('POST', '/v1/runs', { agentId, budgetCents: 100, expiresIn: HOUR_S, ...body }),
    async asAgent(token, method, runId = '', body = undefined) {
      const request = { tokenHash: hashOf(token), orgId: admin.orgId, agentId, method, runId, dataPlaneId: 'test' };
      const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const response = await client.callRuns({ ...request, body: text }, 5_000);
      return { status: response.status!, body: JSON.parse(response.body!) };
    },
  };
}

/** The context of a gateway token, as a data plane that enforces budget rows, or one that does not, gets it. */
async function resolve(token: string, budgetRows = true) {
  const client = new ControlPlaneClient([plane().grpcAddress], plane().config.link);
  const tokens = [{ tokenHash: hashOf(token), agentRef: '' }];
  return (await client.resolveTokens({ tokens, dataPlaneId: 'test', budgetRows }, 5_000)).answers![0]!;
}

test('a run: started, listed, read, ended; its token is shown once', async () => {
  const { admin, start, agentId, projectId } = await setUp();
  const { status, body } = await start({ label: 'nightly', budgetCents: 250 });
  expect(status).toBe(201);
  expect(body.secretKey).toMatch(/^acg_[0-9a-f]{64}$/);
  expect(body.boundBy).toBeNull();
  const { run } = body;
  expect(run).toMatchObject({
    agentId,
    projectId,
    parentId: null,
    rootId: run.id,
    depth: 1,
    label: 'nightly',
    state: 'running',
    budgetCents: 250,
    spentCents: 0,
    spentUsd: 0,
    calls: 0,
    endedAt: null,
  });
  expect(Date.parse(run.expiresAt) - Date.parse(run.createdAt)).toBe(HOUR_S * 1_000);
  const listed = (await admin.call('GET', `/v1/runs?projectId=${projectId}`)).body;
  expect(listed).toMatchObject({ total: 1, runs: [run] });
  expect(JSON.stringify(listed)).not.toContain(body.secretKey);
  expect((await admin.call('DELETE', `/v1/runs/${run.id}`)).body.run.state).toBe('ended');
  expect((await admin.call('DELETE', `/v1/runs/${run.id}`)).status).toBe(200); // again: stays ended
  const actions = (await admin.call('GET', '/v1/audit?limit=100')).body.entries.map(
    ({ action }: { action: string }) => action,
  );
  expect(actions.filter((action: string) => action.startsWith('run.'))).toEqual(['run.end', 'run.start']);
  const events = (await admin.call('GET', '/v1/events?event=run.ended')).body.events;
  expect(events).toMatchObject([{ data: { runId: run.id, label: 'nightly', reason: 'ended', budgetCents: 250 } }]);
});

test.each([
  [{ budgetCents: 0 }, 400, 'budgetCents'],
  [{ budgetCents: -5 }, 400, 'budgetCents'],
  [{ budgetCents: 1.5 }, 400, 'budgetCents'],
  [{ expiresIn: 59 }, 400, 'expiresIn'],
  [{ expiresIn: -60 }, 400, 'expiresIn'],
  [{ expiresIn: 2_592_001 }, 400, 'expiresIn'],
  [{ label: 'a\u0007b' }, 400, 'label'],
  [{ policy: { openai: { calls: ['nonsense'] } } }, 400, 'policy.openai.calls'],
  [{ agentId: '01a1ff05-9d40-7b32-8e55-1c7a4f90d204' }, 404, 'no such agent'],
  [{ surprise: 1 }, 400, 'unknown field "surprise"'],
])('bad input %j: %i names %s', async (fields, status, text) => {
  const { start } = await setUp();
  const response = await start(fields);
  expect(response.status).toBe(status);
  expect(response.body.error).toContain(text);
});

test('sub-runs: four levels, none outlives its parent, a budget above the parent’s rest says what binds', async () => {
  const { asAgent, token, admin, projectId } = await setUp({ budgetCentsMonthly: 5_000 });
  const first = await asAgent(token, 'POST', '', { budgetCents: 300, expiresIn: 600, label: 'top' });
  expect(first).toMatchObject({ status: 201, body: { run: { depth: 1, parentId: null }, boundBy: null } });
  let parent = first.body;
  for (const depth of [2, 3, 4]) {
    const sub = await asAgent(parent.secretKey, 'POST', '', { budgetCents: 301 });
    expect(sub).toMatchObject({
      status: 201,
      body: {
        run: { depth, parentId: parent.run.id, rootId: first.body.run.id, expiresAt: parent.run.expiresAt },
        boundBy: { scope: 'run', remainingCents: 300 },
      },
    });
    parent = sub.body;
  }
  const fifth = await asAgent(parent.secretKey, 'POST', '', { budgetCents: 1 });
  expect(fifth).toMatchObject({ status: 400, body: { error: expect.stringContaining('at most 4 levels') } });
  const late = await asAgent(first.body.secretKey, 'POST', '', { budgetCents: 1, expiresIn: 601 });
  expect(late).toMatchObject({ status: 400, body: { error: expect.stringContaining('the end of the parent run') } });
  const without = await asAgent(token, 'POST', '', { budgetCents: 1 });
  expect(without).toMatchObject({ status: 400, body: { error: expect.stringContaining('expiresIn is required') } });
  expect(await asAgent(token, 'POST', '', '{')).toMatchObject({ status: 400 });
  const twice = await asAgent(token, 'POST', '', '{"budgetCents":1,"expiresIn":600,"budgetCents":100}');
  expect(twice).toMatchObject({ status: 400, body: { error: expect.stringContaining('"budgetCents" twice') } });
  expect(await asAgent(token, 'POST', '', { budgetCents: 6_000, expiresIn: 60 })).toMatchObject({
    body: { boundBy: { scope: 'agent', remainingCents: 5_000 } },
  });
  const tree = (await admin.call('GET', `/v1/runs?rootId=${first.body.run.id}`)).body;
  expect(tree.runs.map(({ depth }: { depth: number }) => depth)).toEqual([4, 3, 2, 1]);
  const tops = (await admin.call('GET', `/v1/runs?projectId=${projectId}`)).body;
  expect(tops).toMatchObject({ total: 2, runs: [{ label: '' }, { label: 'top', subRuns: 1 }] });
  const audited = (await admin.call('GET', '/v1/audit?limit=100')).body.entries.filter(
    ({ action }: { action: string }) => action === 'run.start',
  );
  expect(audited).toHaveLength(2); // top runs only
});

test('the end of a key’s run: not beyond the key’s own, and with its revocation, which is an event', async () => {
  const { admin, asAgent, agentId } = await setUp();
  const expiresAt = new Date(Date.now() + 120_000).toISOString();
  const { key, secretKey } = (await admin.call('POST', '/v1/api-keys', { name: 'short', agentId, expiresAt })).body;
  const late = await asAgent(secretKey, 'POST', '', { budgetCents: 1, expiresIn: 121 });
  expect(late).toMatchObject({ status: 400, body: { error: expect.stringContaining('the end of the gateway token') } });
  const started = await asAgent(secretKey, 'POST', '', { budgetCents: 1, expiresIn: 60, label: 'of the key' });
  expect(started).toMatchObject({ status: 201 });
  expect((await asAgent(started.body.secretKey, 'POST', '', { budgetCents: 1 })).status).toBe(201);
  await admin.call('DELETE', `/v1/api-keys/${key.id}`);
  expect((await admin.call('GET', `/v1/runs?rootId=${started.body.run.id}&state=running`)).body.total).toBe(0);
  const { events } = (await admin.call('GET', '/v1/events?event=run.ended')).body;
  expect(events).toMatchObject([{ data: { runId: started.body.run.id, label: 'of the key', reason: 'ended' } }]);
});

test('policies only narrow: a wider one is 403 and says which rule; contexts have what all levels allow', async () => {
  const policy = { openai: { calls: ['POST /v1/**'], models: { allow: ['gpt-5*'] } } };
  const { admin, start, asAgent, agentId } = await setUp({ policy });
  const credentials = { apiKey: 'sk-example-0123456789' };
  for (const providerSlug of ['openai', 'anthropic'])
    await admin.call('POST', '/v1/providers/accounts', { agentId, providerSlug, credentials });
  const wide = await start({ policy: { openai: { models: { allow: ['gpt-*'] } } } });
  expect(wide.status).toBe(403);
  expect(wide.body.error).toContain('policy.openai.models.allow: the parent does not allow all of "gpt-*"');
  const top = (await start({ policy: { openai: { models: { allow: ['gpt-5-mini*'] } } } })).body;
  const other = await asAgent(top.secretKey, 'POST', '', { budgetCents: 1, policy: { anthropic: {} } });
  expect(other).toMatchObject({ status: 403, body: { error: expect.stringContaining('policy.anthropic') } });
  const sub = await asAgent(top.secretKey, 'POST', '', {
    budgetCents: 1,
    policy: { openai: { calls: ['POST /v1/responses'] } },
  });
  const { context } = await resolve(sub.body.secretKey);
  const openai = context!.upstreams!.find(({ providerSlug }) => providerSlug === 'openai')!;
  expect(openai.policy).toMatchObject({
    calls: { patterns: ['POST /v1/responses'] },
    models: { allow: { patterns: ['gpt-5-mini*'] } },
  });
  const anthropic = context!.upstreams!.find(({ providerSlug }) => providerSlug === 'anthropic')!;
  expect(anthropic.policy?.closed).toBe(true);
  // The agent's policy narrows later.
  await admin.call('PATCH', `/v1/agents/${agentId}`, { policy: { openai: { models: { allow: ['gpt-5-nano'] } } } });
  const later = (await resolve(sub.body.secretKey)).context!.upstreams!;
  expect(later.find(({ providerSlug }) => providerSlug === 'openai')!.policy!.models!.allow!.patterns).toEqual([]);
});

test('contexts of runs: hard budgets of every level; none for data planes that do not enforce them', async () => {
  const { asAgent, token, keyId } = await setUp();
  const top = (await asAgent(token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
  const sub = (await asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body;
  const answer = await resolve(sub.secretKey);
  expect(answer).toMatchObject({
    outcome: Outcome.FOUND,
    context: { keyId, runId: sub.run.id, runAncestors: [top.run.id] },
  });
  const run = { scope: 'run', window: 'total', mode: 'hard' };
  expect(answer.context!.budgets).toMatchObject([
    { ...run, id: sub.run.id, scopeId: sub.run.id, cents: 20 },
    { ...run, id: top.run.id, scopeId: top.run.id, cents: 300 },
  ]);
  expect(Math.abs(answer.context!.keyExpiresAtMs! - Date.parse(sub.run.expiresAt))).toBeLessThan(1);
  expect((await resolve(sub.secretKey, false)).outcome).toBe(Outcome.UNKNOWN_TOKEN);
  expect((await resolve(token, false)).outcome).toBe(Outcome.FOUND);
});

test.each([
  ['the run', (s: Setup, top: StartedRun) => s.admin.call('DELETE', `/v1/runs/${top.run.id}`)],
  ['the run, by its agent', (s: Setup, top: StartedRun) => s.asAgent(s.token, 'DELETE', top.run.id)],
  ['the run, by itself', (s: Setup, top: StartedRun) => s.asAgent(top.secretKey, 'DELETE', top.run.id)],
  ['its key', (s: Setup) => s.admin.call('DELETE', `/v1/api-keys/${s.keyId}`)],
])('the end of %s ends its sub-runs', async (_what, end) => {
  const setup = await setUp();
  const top = (await setup.asAgent(setup.token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
  const sub = (await setup.asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body;
  const other = (await setup.start({})).body;
  expect((await end(setup, top)).status).toBe(200);
  expect((await resolve(sub.secretKey)).outcome).toBe(Outcome.UNKNOWN_TOKEN);
  expect((await resolve(top.secretKey)).outcome).toBe(Outcome.UNKNOWN_TOKEN);
  expect((await resolve(other.secretKey)).outcome).toBe(Outcome.FOUND);
  const tree = (await setup.admin.call('GET', `/v1/runs?rootId=${top.run.id}&state=ended`)).body;
  expect(tree.total).toBe(2);
  expect(await setup.asAgent(top.secretKey, 'POST', '', { budgetCents: 1 })).toMatchObject({ status: 401 });
});

test('a sub-run reads and ends only runs below itself; a key those of its agent', async () => {
  const setup = await setUp();
  const top = (await setup.asAgent(setup.token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
  const [one, two] = [
    (await setup.asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body,
    (await setup.asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body,
  ];
  const status = async (token: string, id: string) => (await setup.asAgent(token, 'GET', id)).status;
  expect(await status(one.secretKey, one.run.id)).toBe(200);
  expect(await status(one.secretKey, two.run.id)).toBe(404);
  expect(await status(one.secretKey, top.run.id)).toBe(404);
  expect((await setup.asAgent(one.secretKey, 'DELETE', two.run.id)).status).toBe(404);
  expect(await status(setup.token, two.run.id)).toBe(200);
  const stranger = await setUp();
  expect((await stranger.asAgent(stranger.token, 'GET', top.run.id)).status).toBe(404);
  expect((await setup.asAgent(setup.token, 'GET', 'nonsense')).status).toBe(404);
});

test('sub-runs that start while their run ends do not outlive it', async () => {
  const setup = await setUp();
  for (let round = 0; round < 10; round++) {
    const top = (await setup.asAgent(setup.token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
    const starts = Array.from({ length: 4 }, () => setup.asAgent(top.secretKey, 'POST', '', { budgetCents: 1 }));
    const [ended, ...started] = await Promise.all([setup.asAgent(setup.token, 'DELETE', top.run.id), ...starts]);
    expect(ended!.status).toBe(200);
    for (const { status, body } of started) {
      expect([201, 401]).toContain(status);
      if (status === 201) expect((await resolve(body.secretKey)).outcome).toBe(Outcome.UNKNOWN_TOKEN);
    }
    expect((await setup.admin.call('GET', `/v1/runs?rootId=${top.run.id}&state=running`)).body.total).toBe(0);
  }
});

test('agents: text that cannot be stored and large policies are 400', async () => {
  const { asAgent, token } = await setUp();
  const run = (policy: object) => asAgent(token, 'POST', '', { budgetCents: 1, expiresIn: 60, policy });
  expect(await run({ openai: { models: { allow: ['a\u0000'] } } })).toMatchObject({ status: 400 });
  const calls = Array.from({ length: 21 }, (_, i) => `GET /v1/${i}`);
  expect(await run({ openai: { calls } })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('at most 20 patterns (got 21)') },
  });
});

test('a run with thousands of sub-runs: they are counted up to 1 000, and every page of them can be read', async () => {
  const { admin, asAgent, start } = await setUp();
  const top = (await start({})).body;
  const one = (await asAgent(top.secretKey, 'POST', '', { budgetCents: 1 })).body.run;
  await plane().database.sql`
    insert into runs (id, org_id, agent_id, root_id, ancestors, label, budget_cents, token_hash, key_prefix, created_at, expires_at)
    select gen_random_uuid(), org_id, agent_id, root_id, ancestors, 'n ' || n, 1, sha256(('n ' || n)::bytea), '', now(), expires_at
      from runs, generate_series(1, 1999) n where id = ${one.id}`;
  expect((await asAgent(top.secretKey, 'GET', top.run.id)).body.run.subRuns).toBe(1_000);
  const seen = new Set<string>();
  for (const offset of [0, 1_000, 1_900]) {
    const { runs, total } = (await admin.call('GET', `/v1/runs?parentId=${top.run.id}&limit=100&offset=${offset}`))
      .body;
    expect(total).toBe(2_000);
    const ids = runs.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    for (const id of ids) seen.add(id);
  }
  expect(seen.size).toBe(300);
  expect((await admin.call('DELETE', `/v1/runs/${top.run.id}`)).body.run.state).toBe('ended');
  expect((await admin.call('GET', `/v1/runs?rootId=${top.run.id}&state=ended`)).body.total).toBe(2_001);
});

test('requests at once share transactions, and each gets its own answer', async () => {
  const { asAgent, token, admin } = await setUp();
  const stranger = await setUp();
  const top: StartedRun = (await asAgent(token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
  const kinds = [
    { of: token, expiresIn: 300, expected: 201, parentId: null },
    { of: top.secretKey, expiresIn: 300, expected: 201, parentId: top.run.id },
    { of: top.secretKey, expiresIn: 1_200, expected: 400 },
    { of: `${token}x`, expiresIn: 300, expected: 401 },
  ];
  const sent = Array.from({ length: 40 }, async (_, i) => {
    const { of, expiresIn, expected, ...fields } = kinds[i % kinds.length]!;
    const input = { budgetCents: i + 1, label: `n ${i}` };
    const { status, body } = await asAgent(of, 'POST', '', { ...input, expiresIn });
    expect(status).toBe(expected);
    if (status === 201) expect(body.run).toMatchObject({ ...input, ...fields, state: 'running' });
    return status === 201 ? [body as StartedRun] : [];
  });
  const started = (await Promise.all(sent)).flat();
  expect(new Set(started.map(({ secretKey }) => secretKey)).size).toBe(20);

  const ends = await Promise.all([
    ...started.map(({ run, secretKey }) => asAgent(secretKey, 'DELETE', run.id)),
    asAgent(started[0]!.secretKey, 'DELETE', started[1]!.run.id),
    stranger.asAgent(stranger.token, 'DELETE', started[0]!.run.id),
  ]);
  expect(ends.splice(started.length).map(({ status }) => status)).toEqual([404, 404]);
  expect(ends.map(({ status, body }) => [status, body.run.id, body.run.state])).toEqual(
    started.map(({ run }) => [200, run.id, 'ended']),
  );
  const entries: { action: string }[] = (await admin.call('GET', '/v1/audit?limit=100')).body.entries;
  expect(entries.filter(({ action }) => action === 'run.start')).toHaveLength(11);
  const events = (await admin.call('GET', '/v1/events?event=run.ended&limit=100')).body.events;
  expect(events).toHaveLength(10);
});

test('a paused agent starts no run', async () => {
  const { admin, start, asAgent, token, agentId } = await setUp();
  await admin.call('PATCH', `/v1/agents/${agentId}/status`, { status: 'paused' });
  expect(await start({})).toMatchObject({ status: 403, body: { error: expect.stringContaining('paused') } });
  expect(await asAgent(token, 'POST', '', { budgetCents: 1, expiresIn: 60 })).toMatchObject({ status: 403 });
});

test('a run whose time has passed is expired, once', async () => {
  const { admin, start } = await setUp();
  const { run, secretKey } = (await start({ label: 'short' })).body;
  await plane().database.sql`update runs set expires_at = now() - interval '1 second' where id = ${run.id}`;
  expect((await resolve(secretKey)).outcome).toBe(Outcome.UNKNOWN_TOKEN);
  expect((await admin.call('GET', `/v1/runs/${run.id}`)).body.run).toMatchObject({ state: 'expired' });
  const events = async () => (await admin.call('GET', '/v1/events?event=run.ended')).body.events;
  await waitUntil('the event', async () => (await events()).length > 0);
  expect(await events()).toMatchObject([{ data: { reason: 'expired', label: 'short' } }]);
});

test('data planes receive the expiry of a run, so that they keep nothing of it', async () => {
  const { asAgent, token } = await setUp();
  const { sql } = plane().database;
  const top = (await asAgent(token, 'POST', '', { budgetCents: 300, expiresIn: 600 })).body;
  const sub = (await asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body;
  const alone = (await asAgent(top.secretKey, 'POST', '', { budgetCents: 20, expiresIn: 60 })).body;
  const expire = (ids: readonly string[]) =>
    sql`update runs set expires_at = now() - interval '1 second' where id = any(${[...ids]}::uuid[])`;
  const invalidated = async () => {
    const ids = [top.run.id, sub.run.id, alone.run.id];
    const rows = await sql<{ id: string; ends: boolean }[]>`
      select id, ends_sessions as ends from invalidations where kind = 'key' and id = any(${ids}::text[]) order by revision`;
    return rows.map(({ id, ends }) => [id, ends]);
  };
  await expire([alone.run.id]);
  await waitUntil('the end of a sub-run', async () => (await invalidated()).length > 0);
  expect(await invalidated()).toEqual([[alone.run.id, true]]);
  await expire([top.run.id, sub.run.id]);
  await waitUntil('the end of its tree', async () => (await invalidated()).length > 1);
  // Contexts name all runs above theirs.
  expect(await invalidated()).toEqual([
    [alone.run.id, true],
    [top.run.id, true],
  ]);
});

test('sub-runs of a run that no key started count under it, not each as a key of its own', async () => {
  const { asAgent, start } = await setUp();
  const top = (await start({})).body;
  const sub = (await asAgent(top.secretKey, 'POST', '', { budgetCents: 20 })).body;
  expect((await resolve(top.secretKey)).context).toMatchObject({ keyId: top.run.id, runId: top.run.id });
  expect((await resolve(sub.secretKey)).context).toMatchObject({ keyId: top.run.id, runId: sub.run.id });
});

test('ended runs are deleted after 30 days with their spend and audit entries; running ones stay', async () => {
  const { admin, start } = await setUp();
  const { sql } = plane().database;
  const old = (await start({})).body.run;
  const running = (await start({})).body.run;
  await admin.call('DELETE', `/v1/runs/${old.id}`);
  await sql`update runs set ended_at = now() - interval '31 days' where id = ${old.id}`;
  await sql.begin((tx) => deleteOldRuns(tx));
  expect((await admin.call('GET', `/v1/runs/${old.id}`)).status).toBe(404);
  expect((await admin.call('GET', `/v1/runs/${running.id}`)).status).toBe(200);
  const targets = (await admin.call('GET', '/v1/audit?limit=100')).body.entries.map(
    ({ target }: { target: { id: string } }) => target.id,
  );
  expect(targets).not.toContain(old.id);
  expect(targets).toContain(running.id);
});

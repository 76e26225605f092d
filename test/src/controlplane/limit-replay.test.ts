/** `POST /v1/limits/replay`: figures, bounds, and what it rejects. */
import { ReplayService } from '@acg/controlplane/limits-replay/replay-service';
import { QueryConcurrencyLimiter } from '@acg/controlplane/reports/query/query-concurrency-limiter';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const CENT = 10_000_000;
const START_MS = Date.now() - (Date.now() % 3_600_000) - 26 * 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

async function createAgent(admin: Member): Promise<string> {
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'P' })).body.project.id;
  return (await admin.call('POST', '/v1/agents', { projectId, name: 'A' })).body.agent.id;
}

/** Ten calls in ten seconds, of one cent each, then one after an hour. */
async function recordCalls(admin: Member, agentId: string): Promise<void> {
  const starts = [...Array.from({ length: 10 }, (_, i) => START_MS + i * 1_000), START_MS + 3_600_000];
  const records = starts.map((startedAtMs) =>
    usageRecord({ orgId: admin.orgId, agentId, startedAtMs, costNanos: CENT, durationMs: 100 }),
  );
  await createIngest(plane().database.sql).report({ dataPlaneId: 'dp', records });
}

test('a replay says how many calls each limit would have rejected, from when, and what they cost', async () => {
  const admin = await plane().createMember('admin');
  const [agentId, idle] = [await createAgent(admin), await createAgent(admin)];
  await recordCalls(admin, agentId);
  const body = {
    agentIds: [agentId, idle],
    from: iso(START_MS - 3_600_000),
    to: iso(START_MS + 2 * 3_600_000),
    limits: {
      rpmLimit: 7,
      budgets: [
        { window: 'total', cents: 5, models: ['gpt-4o*'] },
        { window: 'day', cents: 900, tag: 'a=b' },
      ],
    },
  };
  const { status, body: answer } = await admin.call('POST', '/v1/limits/replay', body);
  expect(status, JSON.stringify(answer)).toBe(200);
  const sixth = { rejected: 6, rejectedCents: 6, firstRejectedAt: iso(START_MS + 5_000) };
  expect(answer).toMatchObject({
    calls: 11,
    costCents: 11,
    ...sixth,
    complete: true,
    replayedUntil: body.to,
    interval: 'hour',
    limits: [{ limit: 'budget', budgetIndex: 0, ...sixth }],
    agents: [
      { agentId, calls: 11, ...sixth },
      { agentId: idle, calls: 0, rejected: 0, rejectedCents: 0, firstRejectedAt: null },
    ],
  });
  expect(
    answer.timeseries.map(({ calls, rejected }: { calls: number; rejected: number }) => [calls, rejected]),
  ).toEqual([
    [0, 0],
    [10, 5],
    [1, 1],
  ]);
  expect(answer.notes.length).toBeGreaterThan(2);
  const rpm = await admin.call('POST', '/v1/limits/replay', { ...body, limits: { rpmLimit: 7 } });
  expect(rpm.body).toMatchObject({ rejected: 3, limits: [{ limit: 'rpm', budgetIndex: null, rejected: 3 }] });
});

test('a replay is bounded in agents, range and calls, and shows nothing of another organization', async () => {
  const admin = await plane().createMember('viewer');
  const owner = await plane().createMember('owner', admin.orgId);
  const stranger = await plane().createMember('owner');
  const agentId = await createAgent(owner);
  await recordCalls(owner, agentId);
  const body = { agentIds: [agentId], from: iso(START_MS), to: iso(START_MS + 3_600_001), limits: { rpmLimit: 1 } };
  const ask = async (of: Member, changes: object = {}) => {
    const { status, body: answer } = await of.call('POST', '/v1/limits/replay', { ...body, ...changes });
    return [status, answer.error];
  };
  expect(await ask(admin)).toEqual([200, undefined]);
  expect((await ask(stranger))[0]).toBe(404);
  expect((await ask(owner, { agentIds: [] }))[0]).toBe(400);
  expect((await ask(owner, { agentIds: Array.from({ length: 21 }, () => agentId) }))[0]).toBe(400);
  expect(await ask(owner, { limits: {} })).toEqual([400, expect.stringContaining('at least one of')]);
  expect(await ask(owner, { from: body.to })).toEqual([400, 'from must be before to']);
  expect(await ask(owner, { from: iso(START_MS - 93 * 86_400_000) })).toEqual([
    400,
    expect.stringContaining('92 days'),
  ]);
  // Nothing is recorded there, and patterns of many parts cost no more than short ones.
  const models = Array.from({ length: 20 }, (_, i) => `${'*a'.repeat(99)}${i}`);
  const budgets = Array.from({ length: 20 }, () => ({ window: 'total', cents: 0, models }));
  for (const from of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z']) {
    const to = new Date(Date.parse(from) + 92 * 86_400_000).toISOString();
    const empty = await owner.call('POST', '/v1/limits/replay', { ...body, from, to, limits: { budgets } });
    expect(empty).toMatchObject({ status: 200, body: { calls: 0, rejected: 0, complete: true, limits: [] } });
    expect(empty.body.timeseries.length).toBeLessThanOrEqual(93);
  }
  const { sql } = plane().database;
  const bounded = new ReplayService(new QueryConcurrencyLimiter(sql), Date.now, 4);
  const stopped = await bounded.replay({ orgId: owner.orgId } as never, body);
  expect([stopped.calls, stopped.complete, stopped.replayedUntil]).toEqual([4, false, iso(START_MS + 4_000)]);
  const hurried = new ReplayService(new QueryConcurrencyLimiter(sql));
  expect((await hurried.replay({ orgId: owner.orgId } as never, body)).complete).toBe(true);
});

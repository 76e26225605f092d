/** The list of agents with their usage, compared with a plain recount of the recorded calls. */
import { createLogger } from '@acg/base/log';
import { startOfUtcDay } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { LatencySketch } from '@acg/controlplane/ledger/latency-sketch';
import {
  AGENT_SORTS,
  type AgentFigures,
  type AgentSort,
} from '@acg/controlplane/reports/aggregates/agent-figures-schema';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NANOS_PER_CENT = 10_000_000;
const now = Date.now();
const monthStart = Date.parse(`${new Date(now).toISOString().slice(0, 7)}-01`);

type AgentUsageRow = Record<AgentSort | 'id' | 'slug' | 'projectId' | 'p95Latency', never> & AgentFigures;
let owner: Member;
let agents: { id: string; name: string; slug: string; projectId: string; status: string; budget: number | null }[];
const records: ReturnType<typeof usageRecord>[] = [];
const rejectedCalls: { agentId: string; minuteMs: number; count: number }[] = [];

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const { sql } = plane().database;
  const { orgId } = owner;
  agents = [];
  for (let i = 0; i < 9; i++) {
    const budget = [null, 0, 40, 1_000][i % 4]!;
    const { id } = await insertAgent(sql, orgId, { budgetCents: budget, createdAt: new Date(now - (i % 5) * DAY) });
    const name = ['Zeta', 'alpha', 'Beta 100%', 'beta_1', 'Gamma'][i % 5]! + (i > 4 ? ' two' : '');
    const status = ['active', 'paused', 'revoked'][i % 3]!;
    const [row] = await sql<{ projectId: string; slug: string }[]>`
      update agents set name = ${name}, status = ${status}, slug = ${`slug-${i}`},
        project_id = ${agents[i - (i % 3)]?.projectId ?? sql`project_id`}
       where id = ${id} returning project_id as "projectId", slug`;
    agents.push({ id, name, status, budget, ...row! });
  }
  for (let i = 0; i < 700; i++) {
    const agent = agents[Math.floor(i ** 1.5) % 8]!; // the last one never calls; some more do not either
    records.push(
      usageRecord({
        agentId: agent.id,
        orgId,
        projectId: agent.projectId,
        providerSlug: ['openai', 'anthropic', 'resend'][i % 3]!,
        model: `m${i % 4}`,
        startedAtMs: now - ((i * 7_919_317) % (6 * DAY)),
        durationMs: 40 + ((i * 97) % 3_000),
        costNanos: (i * 7_654_321) % 9_000_000,
        responseStatus: i % 7 === 0 ? 500 : 200,
      }),
    );
    if (i % 3 === 0) {
      const minuteMs = now - ((i * 5_919_317) % (4 * DAY));
      rejectedCalls.push({ agentId: agents[i % 9]!.id, minuteMs: minuteMs - (minuteMs % 60_000), count: 1 + (i % 5) });
    }
  }
  const ingest = createIngest(sql);
  const rejections = rejectedCalls.map((refusal) => ({
    id: newId(),
    orgId,
    providerSlug: 'openai',
    reason: 'rpm',
    ...refusal,
  }));
  await ingest.report({ dataPlaneId: 'd', records: records.slice(0, 400), rejections });
  await new DailyRollups(sql, createLogger('test', 'silent')).rollUpFinishedAndLateDays(startOfUtcDay(now) + 2 * HOUR);
  await ingest.report({ dataPlaneId: 'd', records: records.slice(400) }); // late for most of their days
  const others = await plane().createMember('owner');
  const { id } = await insertAgent(sql, others.orgId);
  await ingest.report({ dataPlaneId: 'd', records: [usageRecord({ agentId: id, orgId: others.orgId })] });
});

const cents = (nanos: number): number => nanos / NANOS_PER_CENT;
const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100);

/** The expected values of each agent. */
function expectedUsageByAgent(fromMs: number, toMs: number) {
  return agents.map((agent) => {
    const all = records.filter(({ agentId }) => agentId === agent.id);
    const own = all.filter(({ startedAtMs }) => startedAtMs! >= fromMs && startedAtMs! < toMs);
    const sum = (of: typeof records, value: (record: (typeof records)[number]) => number): number =>
      of.reduce((total, record) => total + value(record), 0);
    const errors = own.filter(({ responseStatus }) => responseStatus! >= 400).length;
    const monthNanos = sum(
      all.filter(({ startedAtMs }) => startedAtMs! >= monthStart),
      ({ costNanos }) => costNanos!,
    );
    const sketch = new LatencySketch();
    for (const { durationMs } of own) sketch.addLatency(durationMs!);
    return {
      id: agent.id,
      name: agent.name,
      slug: agent.slug,
      status: agent.status,
      projectId: agent.projectId,
      budgetCentsMonthly: agent.budget,
      requests: own.length,
      errors,
      errorRate: percent(errors, own.length),
      rejectedRequests: rejectedCalls
        .filter(({ agentId, minuteMs }) => agentId === agent.id && minuteMs >= fromMs && minuteMs < toMs)
        .reduce((total, { count }) => total + count, 0),
      tokensIn: sum(own, (r) => r.tokensInUncached! + r.tokensCacheRead! + r.tokensCacheWrite!),
      tokensOut: sum(own, (r) => r.tokensOut!),
      costCents: cents(sum(own, (r) => r.costNanos!)),
      avgLatency: own.length === 0 ? 0 : Math.round((100 * sum(own, (r) => r.durationMs!)) / own.length) / 100,
      p95Latency: sketch.quantile(0.95),
      monthCents: cents(monthNanos),
      budgetUsedPercent: agent.budget ? percent(cents(monthNanos), agent.budget) : null,
      lastCallAt:
        all.length === 0 ? null : new Date(Math.max(...all.map(({ startedAtMs }) => startedAtMs!))).toISOString(),
    };
  });
}

const byId = <T extends { readonly id: string }>(rows: readonly T[]): T[] =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));
const listAgents = async (query: string) => {
  const { status, body } = await owner.call('GET', `/v1/usage/agents?${query}`);
  expect([query, status, body.error]).toEqual([query, 200, undefined]);
  return body as { agents: AgentUsageRow[]; total: number; from: string; to: string; buckets?: string[] };
};
const day = (daysAgo: number): string => new Date(now - daysAgo * DAY).toISOString().slice(0, 10);

test.each([
  ['', 1],
  ['period=7d', 7],
  [`start=${day(4)}&end=${day(2)}`, 3],
])('agents with figures over %s: each figure is what a recount of the records gives', async (query, days) => {
  const { agents: rows, total, from, to } = await listAgents(query);
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  expect(toMs - fromMs).toBe(days * DAY);
  expect(query.startsWith('start') ? toMs : toMs - HOUR).toBeLessThanOrEqual(Date.now());
  expect(total).toBe(agents.length);
  expect(byId(rows)).toMatchObject(byId(expectedUsageByAgent(fromMs, toMs)));
  expect(rows.some(({ requests }) => requests > 0)).toBe(true);
  expect(rows.some(({ lastCallAt }) => lastCallAt === null)).toBe(true);
});

test.each([
  ['period=24h&series=hour', 24, HOUR],
  ['period=7d&series=day', 7, DAY],
  [`start=${day(4)}&end=${day(2)}&series=day`, 3, DAY],
])('agents with figures and their series, %s: each point is what a recount gives', async (query, points, width) => {
  const { agents: rows, buckets = [], from, to } = await listAgents(`${query}&limit=5&sort=requests`);
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  expect(toMs - fromMs).toBe(points * width);
  // One more where it begins within a day, which it does in all hours but the last of one.
  expect(buckets).toHaveLength(points + (fromMs % width === 0 ? 0 : 1));
  for (const { id, series, requests } of rows) {
    const own = records.filter(
      ({ agentId, startedAtMs }) => agentId === id && startedAtMs! >= fromMs && startedAtMs! < toMs,
    );
    const inBucket = buckets.map((name) => {
      const ms = Date.parse(`${name.replace(' ', 'T')}Z`);
      return own.filter(({ startedAtMs }) => startedAtMs! >= ms && startedAtMs! < ms + width);
    });
    expect(series!.requests).toEqual(inBucket.map((of) => of.length));
    expect(series!.requests.reduce((sum, n) => sum + n, 0)).toBe(requests);
    const nanos = inBucket.map((of) => of.reduce((sum, { costNanos }) => sum + costNanos!, 0));
    expect(series!.costUsd).toEqual(nanos.map((sum) => Math.round(sum / 1_000) / 1e6));
  }
  expect(rows.some(({ requests }) => requests > 0)).toBe(true);
  expect((await listAgents('period=24h')).agents[0]!.series).toBeUndefined();
  expect((await owner.call('GET', '/v1/usage/agents?period=90d&series=hour')).status).toBe(400);
});

test.each(AGENT_SORTS)('agents with usage: sorted by %s in both directions and in pages', async (sort) => {
  const value = (row: AgentUsageRow): number | string | null => {
    const own = row[sort] as number | string | null;
    if (sort === 'errorRate' && row.requests === 0) return null; // none is no rate
    return sort === 'name' ? String(own).toLowerCase() : own;
  };
  for (const order of ['asc', 'desc'] as const) {
    const { agents: rows } = await listAgents(`period=7d&sort=${sort}&order=${order}`);
    const values = rows.map(value);
    const known = values.filter((own) => own !== null);
    const sorted = [...known].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    expect(values).toEqual([
      ...(order === 'asc' ? sorted : sorted.reverse()),
      ...values.filter((own) => own === null), // rows without a value come last
    ]);
    expect(new Set(known).size).toBeGreaterThan(1);
    const pages = await Promise.all(
      [0, 4, 8].map(
        async (offset) => (await listAgents(`period=7d&sort=${sort}&order=${order}&limit=4&offset=${offset}`)).agents,
      ),
    );
    expect(pages.flat().map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  }
});

test('agents with figures: search, status and project narrow the list and its total', async () => {
  const narrowed = async (query: string) => {
    const { agents: rows, total } = await listAgents(query);
    expect(rows).toHaveLength(total);
    return rows.map(({ id }) => id).sort();
  };
  const those = (keep: (agent: (typeof agents)[number]) => boolean) =>
    agents
      .filter(keep)
      .map(({ id }) => id)
      .sort();
  expect(await narrowed('search=BETA')).toEqual(those(({ name }) => name.toLowerCase().includes('beta')));
  expect(await narrowed('search=100%25')).toEqual(those(({ name }) => name.includes('100%')));
  expect(await narrowed('search=a_1')).toEqual(those(({ name }) => name.includes('a_1')));
  expect(await narrowed('search=slug-7')).toEqual([agents[7]!.id]);
  expect(await narrowed(`search=${agents[3]!.id.toUpperCase()}`)).toEqual([agents[3]!.id]);
  expect(await narrowed('search=nobody')).toEqual([]);
  expect(await narrowed('status=paused')).toEqual(those(({ status }) => status === 'paused'));
  const { projectId } = agents[3]!;
  expect(await narrowed(`projectId=${projectId}`)).toEqual(those((agent) => agent.projectId === projectId));
  expect(await narrowed(`projectId=${projectId}&status=active&search=two`)).toEqual(
    those((agent) => agent.projectId === projectId && agent.status === 'active' && agent.name.includes('two')),
  );
});

test('agents with figures: the thresholds that each has', async () => {
  const patched = await owner.call('PATCH', `/v1/agents/${agents[2]!.id}`, { usageThresholds: [50, 90] });
  expect(patched.status).toBe(200);
  const { agents: rows } = await listAgents(`search=${agents[2]!.id}`);
  expect(rows.map(({ usageThresholds }) => usageThresholds)).toEqual([[50, 90]]);
});

test('agents with usage: no query shows another organization', async () => {
  const stranger = await plane().createMember('owner');
  const { status, body } = await stranger.call('GET', '/v1/usage/agents?period=90d');
  expect([status, body.agents, body.total]).toEqual([200, [], 0]);
  for (const query of [`projectId=${agents[0]!.projectId}`, `projectId=${newId()}`])
    expect((await stranger.call('GET', `/v1/usage/agents?${query}`)).status).toBe(404);
});

test('agents with usage: the last call keeps its day when its hour has been deleted', async () => {
  const { sql } = plane().database;
  const { id, orgId } = await insertAgent(sql, (await plane().createMember('owner')).orgId);
  const startedAtMs = startOfUtcDay(now) - 2 * DAY + 5 * HOUR;
  await createIngest(sql).report({ dataPlaneId: 'd', records: [usageRecord({ agentId: id, orgId, startedAtMs })] });
  await new DailyRollups(sql, createLogger('test', 'silent')).rollUpFinishedAndLateDays(startOfUtcDay(now) + 2 * HOUR);
  await sql`delete from usage_hourly where agent_id = ${id}`;
  const reader = await plane().createMember('viewer', orgId);
  const { body } = await reader.call('GET', '/v1/usage/agents?period=7d');
  expect(body.agents).toMatchObject([
    { id, requests: 1, lastCallAt: new Date(startOfUtcDay(now) - 2 * DAY).toISOString() },
  ]);
});

test.each([
  ['period=24h&start=2026-01-01', 'give either period, or start and end, not both'],
  ['start=2026-01-02&end=2026-01-01', 'start must not be after end (2026-01-02 is after 2026-01-01)'],
  ['sort=p95', expect.stringContaining('sort must be one of name, createdAt')],
  ['order=up', 'order must be one of asc, desc'],
  ['status=gone', 'status must be one of active, paused, revoked'],
])('agents with figures: %s is 400', async (query, error) => {
  const { status, body } = await owner.call('GET', `/v1/usage/agents?${query}`);
  expect([status, body]).toEqual([400, { error }]);
});

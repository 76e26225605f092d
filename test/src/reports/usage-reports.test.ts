import { AgentReports } from '@acg/controlplane/reports/aggregates/agent-reports';
import { QueryConcurrencyLimiter } from '@acg/controlplane/reports/query/query-concurrency-limiter';
import type { IUsageRecord } from '@acg/proto/messages';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, type InsertedAgent, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CENT = 10_000_000;
/** Far from any border of hour, day or month. */
const NOW = Date.parse('2024-11-21T10:40:00.000Z');
const at = (hours: number) => NOW - hours * HOUR;
const KEY = newId();
const ACCOUNT = newId();

let viewer: Member;
let agent: InsertedAgent;
let other: InsertedAgent;

/** The fixed set of calls: 4 of openai, 2 of anthropic, 1 of resend in 24 h; older ones beyond. */
const sampleCalls = (agentId: string, orgId: string): IUsageRecord[] => {
  const call = (changes: Partial<IUsageRecord>) =>
    usageRecord({
      agentId,
      orgId,
      keyId: KEY,
      accountId: ACCOUNT,
      tokensCacheRead: 0,
      tokensCacheWrite: 0,
      ...changes,
    });
  return [
    call({ startedAtMs: at(1), durationMs: 100, costNanos: 0.4 * CENT, tokensInUncached: 10, tokensOut: 5 }),
    call({
      startedAtMs: at(1),
      durationMs: 200,
      costNanos: 0.4 * CENT,
      tokensInUncached: 20,
      tokensCacheRead: 4,
      tokensCacheWrite: 1,
      tokensOut: 6,
    }),
    call({
      startedAtMs: at(1),
      durationMs: 300,
      costNanos: 0.4 * CENT,
      tokensInUncached: 30,
      tokensOut: 7,
      responseStatus: 500,
      status: 500,
    }),
    call({ startedAtMs: at(5), durationMs: 1_000, costNanos: 2.5 * CENT, tokensInUncached: 40, tokensOut: 8 }),
    call({
      startedAtMs: at(5),
      providerSlug: 'anthropic',
      durationMs: 2_000,
      costNanos: 3 * CENT,
      tokensInUncached: 7,
      tokensOut: 70,
      error: 'client_aborted',
    }),
    call({
      startedAtMs: at(9),
      providerSlug: 'anthropic',
      durationMs: 51,
      costNanos: 0,
      tokensInUncached: 0,
      tokensOut: 0,
      status: 0,
      responseStatus: 502,
      error: 'connect',
    }),
    call({
      startedAtMs: at(9),
      providerSlug: 'resend',
      durationMs: 80,
      costNanos: 0.1 * CENT,
      tokensInUncached: 0,
      tokensOut: 0,
    }),
    call({ startedAtMs: NOW - 3 * DAY, durationMs: 10, costNanos: 100 * CENT, tokensInUncached: 1, tokensOut: 1 }),
    call({ startedAtMs: NOW - 40 * DAY, durationMs: 20, costNanos: 1_000 * CENT, tokensInUncached: 2, tokensOut: 2 }),
  ];
};

beforeAll(async () => {
  viewer = await plane().createMember('viewer');
  const { sql } = plane().database;
  agent = await insertAgent(sql, viewer.orgId, { budgetCents: 1_000, createdAt: new Date(NOW - 60 * DAY) });
  other = await insertAgent(sql, viewer.orgId);
  const ids = { agentId: agent.id, orgId: agent.orgId };
  const rejection = (providerSlug: string, reason: string, count: number, startedMs: number) => ({
    id: newId(),
    ...ids,
    providerSlug,
    reason,
    count,
    minuteMs: startedMs - (startedMs % 60_000),
  });
  await createIngest(sql, [], 36_500).report({
    dataPlaneId: 'dp-1',
    records: [
      ...sampleCalls(agent.id, agent.orgId),
      usageRecord({ agentId: other.id, orgId: other.orgId, startedAtMs: at(2) }),
    ],
    rejections: [
      rejection('openai', 'rpm', 30, at(1)),
      rejection('openai', 'budget', 7, at(2)),
      rejection('vercel', 'not_assigned', 2, at(3)),
      rejection('', 'paused', 5, at(3)),
    ],
  });
});

const createReports = () =>
  new AgentReports(plane().database.sql, new QueryConcurrencyLimiter(plane().database.sql), () => NOW);
const actor = () => ({
  userId: viewer.userId,
  email: '',
  orgId: viewer.orgId,
  role: 'viewer' as const,
  ip: '',
  session: null,
  token: null,
});

test('usage: sums per provider over inclusive days, each figure', async () => {
  const usage = await createReports().usage(actor(), agent.id, '2024-11-20', '2024-11-21');
  expect(usage).toEqual([
    {
      providerSlug: 'openai',
      totalRequests: 4,
      totalTokensIn: 105,
      totalTokensOut: 26,
      totalCostCents: 4,
      totalCostUsd: 0.037,
      avgDurationMs: 400,
      rejectedRequests: 37,
    },
    {
      providerSlug: 'anthropic',
      totalRequests: 2,
      totalTokensIn: 7,
      totalTokensOut: 70,
      totalCostCents: 3,
      totalCostUsd: 0.03,
      avgDurationMs: 1_025.5,
      rejectedRequests: 0,
    },
    {
      providerSlug: 'resend',
      totalRequests: 1,
      totalTokensIn: 0,
      totalTokensOut: 0,
      totalCostCents: 0,
      totalCostUsd: 0.001,
      avgDurationMs: 80,
      rejectedRequests: 0,
    },
    {
      providerSlug: 'vercel',
      totalRequests: 0,
      totalTokensIn: 0,
      totalTokensOut: 0,
      totalCostCents: 0,
      totalCostUsd: 0,
      avgDurationMs: 0,
      rejectedRequests: 2,
    },
  ]);
  const month = await createReports().usage(actor(), agent.id);
  expect(month[0]).toMatchObject({ providerSlug: 'openai', totalRequests: 5, totalCostCents: 104 });
  const october = await createReports().usage(actor(), agent.id, '2024-10-12', '2024-10-12');
  expect(october).toMatchObject([
    { providerSlug: 'openai', totalRequests: 1, totalCostCents: 1_000, totalTokensIn: 2 },
  ]);
});

test('summary: every field', async () => {
  // 6.8 cents in 24 h: 0.4 × 3 + 2.5 + 3 + 0.1; the month so far is 106.8.
  const hoursLeft = 9 * 24 + 13 + 20 / 60;
  // Spent since the hour of the first call, 01:00.
  const burn = 6.8 / (9 + 40 / 60);
  expect(await createReports().summary(actor(), agent.id, { period: '24h' })).toEqual({
    period: '24h',
    totalRequests: 7,
    errorRate: 28.57,
    p50Latency: expect.closeTo(200, -0.7),
    p95Latency: expect.closeTo(2_000, -1.9),
    costCents: 7,
    costUsd: 0.068,
    budgetCents: 1_000,
    budgetUsd: 10,
    burnRateCentsPerHour: 0.703448,
    projectedMonthlyCents: Math.round(106.8 + burn * hoursLeft),
    projectedMonthlyUsd: Math.round((106.8 + burn * hoursLeft) * 10_000) / 1e6,
    daysUntilBudget: null, // the month ends in nine days
    rejectedRequests: 44,
  });
  expect(await createReports().summary(actor(), agent.id, { period: '7d' })).toMatchObject({
    totalRequests: 8,
    costCents: 107,
  });
  expect(await createReports().summary(actor(), agent.id, { period: '90d' })).toMatchObject({
    totalRequests: 9,
    costCents: 1_107,
  });
});

test('summary: the first, partial hour of the last 24 hours counts by its part', async () => {
  const { sql } = plane().database;
  const { id: agentId, orgId } = await insertAgent(sql, viewer.orgId);
  const records = [
    usageRecord({ agentId, orgId, startedAtMs: at(24), costNanos: 24 * CENT }), // 10:00 to 11:00, of which 20 minutes
    usageRecord({ agentId, orgId, startedAtMs: at(12), costNanos: 4 * CENT }),
  ];
  await createIngest(sql, [], 36_500).report({ dataPlaneId: 'dp-1', records });
  const { burnRateCentsPerHour } = await createReports().summary(actor(), agentId, { period: '24h' });
  expect(burnRateCentsPerHour).toBe((24 / 3 + 4) / 24);
});

test('summary: an agent in its first day gets a projection', async () => {
  const { sql } = plane().database;
  const made = { budgetCents: 100, createdAt: new Date(at(2)) };
  const { id: agentId, orgId } = await insertAgent(sql, viewer.orgId, made);
  const records = [usageRecord({ agentId, orgId, startedAtMs: at(1), costNanos: 20 * CENT })];
  await createIngest(sql, [], 36_500).report({ dataPlaneId: 'dp-1', records });
  const burn = 20 / (1 + 40 / 60); // since the beginning of the hour in which it was spent
  expect(await createReports().summary(actor(), agentId, { period: '24h' })).toMatchObject({
    burnRateCentsPerHour: 12,
    projectedMonthlyCents: Math.round(20 + burn * (9 * 24 + 13 + 20 / 60)),
    daysUntilBudget: 0.28,
  });
});

test('summary: an agent without calls has zeros, and no forecast of a budget', async () => {
  const quiet = await insertAgent(plane().database.sql, viewer.orgId);
  const { body } = await viewer.call('GET', `/v1/usage/agents/${quiet.id}/summary`);
  expect(body).toEqual({
    period: '24h',
    totalRequests: 0,
    errorRate: 0,
    p50Latency: 0,
    p95Latency: 0,
    costCents: 0,
    costUsd: 0,
    budgetCents: null,
    budgetUsd: null,
    burnRateCentsPerHour: 0,
    projectedMonthlyCents: 0,
    projectedMonthlyUsd: 0,
    daysUntilBudget: null,
    rejectedRequests: 0,
  });
});

test('timeseries: zero-filled over the whole period, and sums equal the summary for each interval', async () => {
  const { timeseries: hours } = await createReports().timeseries(actor(), agent.id, { period: '24h' });
  expect(hours).toHaveLength(24);
  expect(hours[0]!.bucket).toBe('2024-11-20 11:00:00');
  expect(hours.filter((point) => point.requests > 0)).toEqual([
    {
      bucket: '2024-11-21 01:00:00',
      requests: 2,
      errors: 1,
      avgLatency: 65.5,
      costCents: 0,
      costUsd: 0.001,
      rejectedRequests: 0,
    },
    {
      bucket: '2024-11-21 05:00:00',
      requests: 2,
      errors: 0,
      avgLatency: 1_500,
      costCents: 6,
      costUsd: 0.055,
      rejectedRequests: 0,
    },
    {
      bucket: '2024-11-21 09:00:00',
      requests: 3,
      errors: 1,
      avgLatency: 200,
      costCents: 1,
      costUsd: 0.012,
      rejectedRequests: 30,
    },
  ]);
  expect(hours.find((point) => point.bucket === '2024-11-21 07:00:00')).toEqual({
    bucket: '2024-11-21 07:00:00',
    requests: 0,
    errors: 0,
    avgLatency: 0,
    costCents: 0,
    costUsd: 0,
    rejectedRequests: 7,
  });
  for (const period of ['24h', '7d', '30d', '90d'] as const) {
    const { totalRequests, rejectedRequests } = await createReports().summary(actor(), agent.id, { period });
    for (const interval of ['hour', 'day'] as const) {
      const { timeseries: points } = await createReports().timeseries(actor(), agent.id, { period, interval });
      expect(points.reduce((sum, point) => sum + point.requests, 0)).toBe(totalRequests);
      expect(points.reduce((sum, point) => sum + point.rejectedRequests, 0)).toBe(rejectedRequests);
      const steps = points
        .slice(1)
        .map((point, i) => Date.parse(`${point.bucket}Z`) - Date.parse(`${points[i]!.bucket}Z`));
      expect(new Set(steps)).toEqual(new Set([interval === 'hour' ? HOUR : DAY]));
    }
  }
});

test('breakdown: each provider, each figure', async () => {
  const rows = await createReports().providers(actor(), agent.id, { period: '24h' });
  expect(rows).toEqual([
    {
      providerSlug: 'openai',
      totalRequests: 4,
      errorCount: 1,
      avgLatency: 400,
      p95Latency: expect.closeTo(1_000, -1.6),
      totalCostCents: 4,
      totalCostUsd: 0.037,
      totalTokensIn: 105,
      totalTokensOut: 26,
      rejectedRequests: 37,
    },
    {
      providerSlug: 'anthropic',
      totalRequests: 2,
      errorCount: 1,
      avgLatency: 1_025.5,
      p95Latency: expect.closeTo(2_000, -1.9),
      totalCostCents: 3,
      totalCostUsd: 0.03,
      totalTokensIn: 7,
      totalTokensOut: 70,
      rejectedRequests: 0,
    },
    {
      providerSlug: 'resend',
      totalRequests: 1,
      errorCount: 0,
      avgLatency: 80,
      p95Latency: 80,
      totalCostCents: 0,
      totalCostUsd: 0.001,
      totalTokensIn: 0,
      totalTokensOut: 0,
      rejectedRequests: 0,
    },
    {
      providerSlug: 'vercel',
      totalRequests: 0,
      errorCount: 0,
      avgLatency: 0,
      p95Latency: 0,
      totalCostCents: 0,
      totalCostUsd: 0,
      totalTokensIn: 0,
      totalTokensOut: 0,
      rejectedRequests: 2,
    },
  ]);
});

test('compare: the summaries of up to 20 agents in their order', async () => {
  const { agents: both, ...others } = await createReports().compare(actor(), [other.id, agent.id], { period: '24h' });
  expect(others).toEqual({});
  expect(both.map((row) => [row.agentId, row.agentName, row.totalRequests])).toEqual([
    [other.id, other.name, 1],
    [agent.id, agent.name, 7],
  ]);
  const { agentId: _id, agentName: _name, ...rest } = both[1]!;
  expect(rest).toEqual(await createReports().summary(actor(), agent.id, { period: '24h' }));
  const ask = (agentIds: string) => viewer.call('GET', `/v1/usage/agents/compare?agentIds=${agentIds}`);
  expect((await ask(`${agent.id},%20${other.id},${agent.id}`)).body).toMatchObject({ period: '24h', agents: [{}, {}] });
  const withSeries = (await ask(`${other.id},${agent.id}&period=24h&series=hour`)).body;
  expect(withSeries.buckets).toHaveLength(24);
  for (const row of withSeries.agents) {
    const { body } = await viewer.call('GET', `/v1/usage/agents/${row.agentId}/timeseries?period=24h`);
    const points: { bucket: string; requests: number; costUsd: number }[] = body.timeseries;
    expect(withSeries.buckets).toEqual(points.map(({ bucket }) => bucket));
    expect(row.series.requests).toEqual(points.map(({ requests }) => requests));
    expect(row.series.costUsd).toEqual(points.map(({ costUsd }) => costUsd));
  }
  expect((await ask(`${agent.id},${newId()}`)).status).toBe(404);
  expect((await ask(`${agent.id},nonsense`)).status).toBe(400);
  expect((await ask('')).status).toBe(400);
  expect((await ask(Array.from({ length: 21 }, newId).join())).status).toBe(400);
});

const logsPath = (query: Record<string, string | number> = {}) => {
  const days = { start: '2024-10-01', end: '2024-11-30' };
  return `/v1/usage/agents/${agent.id}/logs?${new URLSearchParams({ ...days, ...query } as Record<string, string>)}`;
};

test('logs: newest first, with the values of the record', async () => {
  const { body } = await viewer.call('GET', logsPath());
  expect(body).toMatchObject({ total: 9, totalCapped: false, limit: 50, offset: 0 });
  const times = body.logs.map((log: { createdAt: string }) => log.createdAt);
  expect(times).toEqual([...times].sort().reverse());
  const log = body.logs.find((row: { tokensCacheRead: number }) => row.tokensCacheRead === 4);
  // Not all fields: call-log-fields.test.ts checks that a log record has every field of the list.
  expect(log).toMatchObject({
    id: log.id,
    requestId: log.id,
    createdAt: new Date(at(1)).toISOString(),
    agentId: agent.id,
    keyId: KEY,
    providerSlug: 'openai',
    accountId: ACCOUNT,
    method: 'POST',
    path: '/v1/chat/completions',
    status: 200,
    error: null,
    model: 'gpt-4o-mini',
    tokensIn: 25,
    tokensOut: 6,
    tokensCacheRead: 4,
    tokensCacheWrite: 1,
    tokensReasoning: 10,
    costCents: 0.4,
    usageSource: 'reported',
    priceSource: 'library',
    durationMs: 200,
    ttfbMs: 120,
    bytesIn: 512,
    bytesOut: 2_048,
    streamed: false,
    dataPlaneId: 'dp-1',
  });
  const failed = body.logs.find((row: { error: string | null }) => row.error === 'connect');
  expect(failed).toMatchObject({ status: 502, providerSlug: 'anthropic' });
});

test('logs: filters by provider, status, days; pages', async () => {
  const total = async (query: Record<string, string | number>) =>
    (await viewer.call('GET', logsPath(query))).body.total;
  expect(await total({ provider: 'anthropic' })).toBe(2);
  expect(await total({ statusMin: 500 })).toBe(2);
  expect(await total({ statusMin: 500, statusMax: 500 })).toBe(1);
  expect(await total({ statusMax: 299, provider: 'openai' })).toBe(5);
  expect(await total({ start: '2024-11-21', end: '2024-11-21' })).toBe(7);
  expect(await total({ start: '2024-10-12', end: '2024-10-12' })).toBe(1);
  const pages = await Promise.all([0, 4, 8, 12].map((offset) => viewer.call('GET', logsPath({ limit: 4, offset }))));
  expect(pages.map(({ body }) => [body.logs.length, body.total])).toEqual([
    [4, 9],
    [4, 9],
    [1, 9],
    [0, 9],
  ]);
  const ids = pages.flatMap(({ body }) => body.logs.map((log: { id: string }) => log.id));
  expect(new Set(ids).size).toBe(9);
});

test('logs: search finds a substring in any case in path, model, error and request id, and has no wildcards', async () => {
  const target = await insertAgent(plane().database.sql, viewer.orgId);
  const record = (changes: Partial<IUsageRecord>) =>
    usageRecord({ agentId: target.id, orgId: target.orgId, ...changes });
  const records = [
    record({ path: '/v1/Files/100%_done' }),
    record({ path: '/v1/Files/100x1done', model: 'Claude-Opus' }),
    record({ path: '/back\\slash', error: 'timeout', responseStatus: 504 }),
  ];
  await createIngest(plane().database.sql).report({ dataPlaneId: 'd', records });
  const found = async (search: string) => {
    const query = new URLSearchParams({ search });
    const { body } = await viewer.call('GET', `/v1/usage/agents/${target.id}/logs?${query}`);
    expect(body.total).toBe(body.logs.length);
    return body.logs.map((log: { id: string }) => records.findIndex((r) => r.id === log.id)).sort();
  };
  expect(await found('files/100')).toEqual([0, 1]);
  expect(await found('100%_d')).toEqual([0]);
  expect(await found('OPUS')).toEqual([1]);
  expect(await found('TimeOut')).toEqual([2]);
  expect(await found('k\\s')).toEqual([2]);
  expect(await found(records[1]!.id!.toUpperCase())).toEqual([1]);
  expect(await found('_')).toEqual([0]);
  expect(await found("'; drop table usage_records; --")).toEqual([]);
  expect(await found('\0')).toEqual([]);
  expect(await found('')).toEqual([0, 1, 2]);
});

test('logs: the total is counted to 10 000 and flagged when there are more', async () => {
  const busy = await insertAgent(plane().database.sql, viewer.orgId);
  const { sql } = plane().database;
  const [template] = sampleCalls(busy.id, busy.orgId);
  const today = Date.now();
  await createIngest(sql).report({ dataPlaneId: 'd', records: [{ ...template, startedAtMs: today }] });
  await sql`insert into usage_records select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).*
    from usage_records r, generate_series(1, 10000) where r.agent_id = ${busy.id}`;
  const path = `/v1/usage/agents/${busy.id}/logs?limit=100&offset=`;
  expect((await viewer.call('GET', `${path}0`)).body).toMatchObject({ total: 10_000, totalCapped: true });
  const search = async (term: string) => (await viewer.call('GET', `${path}0&search=${term}`)).body;
  expect(await search('completions')).toMatchObject({ total: 10_000, totalCapped: true });
  expect(await search('co')).toMatchObject({ total: 10_000, totalCapped: true }); // no index serves two letters
  const beyond = await viewer.call('GET', `${path}10000`);
  expect(beyond.body.logs).toHaveLength(1);
  const csv = await viewer.call('GET', `/v1/usage/agents/${busy.id}/export?format=csv`);
  expect(csv.body.split('\r\n')).toHaveLength(10_001 + 2);
  expect(new Set(csv.body.split('\r\n').map((line: string) => line.split(',')[0])).size).toBe(10_001 + 2);
});

test('export: JSON and CSV carry the same records as the logs', async () => {
  const target = await insertAgent(plane().database.sql, viewer.orgId);
  const path = '/=cmd,"quoted"\nline';
  const record = usageRecord({ agentId: target.id, orgId: target.orgId, path, model: '=SUM(A1)', ttfbMs: null });
  const empty = await viewer.call('GET', `/v1/usage/agents/${target.id}/export`);
  expect(empty.body).toEqual([]);
  await createIngest(plane().database.sql).report({ dataPlaneId: '@dp', records: [record] });
  const logs = await viewer.call('GET', `/v1/usage/agents/${target.id}/logs`);
  const json = await viewer.call('GET', `/v1/usage/agents/${target.id}/export?format=json&period=7d`);
  expect(json.headers.get('content-disposition')).toBe(`attachment; filename="usage-${target.id}-7d.json"`);
  expect(json.body).toEqual(logs.body.logs);
  const csv = await viewer.call('GET', `/v1/usage/agents/${target.id}/export?format=csv`);
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  const [header, line, end] = [
    csv.body.indexOf('\r\n'),
    csv.body.slice(csv.body.indexOf('\r\n') + 2, -2),
    csv.body.slice(-2),
  ];
  expect(csv.body.slice(0, header).split(',')).toEqual(Object.keys(logs.body.logs[0]));
  expect(line).toContain('"/=cmd,""quoted""\nline"');
  expect(line).toContain(",'=SUM(A1),");
  expect(line).toMatch(/,'@dp(?:,|$)/);
  expect(end).toBe('\r\n');
});

test('usage queries about agents of other organizations are 404, without an agent 400, and with invalid filters 400', async () => {
  const stranger = await plane().createMember('owner');
  for (const part of ['', '/summary', '/timeseries', '/providers', '/logs', '/export']) {
    expect([part, (await stranger.call('GET', `/v1/usage/agents/${agent.id}${part}`)).status]).toEqual([part, 404]);
    expect([part, (await viewer.call('GET', `/v1/usage/agents/${newId()}${part}`)).status]).toEqual([part, 404]);
    expect([part, (await viewer.call('GET', `/v1/usage/agents/no-uuid${part}`)).status]).toEqual([part, 400]);
  }
  expect((await stranger.call('GET', `/v1/usage/agents/compare?agentIds=${agent.id}`)).status).toBe(404);
  const bad = [
    '?start=2024-02-30',
    '?start=2024-11-02&end=2024-11-01',
    '?end=yesterday',
    '/summary?period=1h',
    '/timeseries?interval=minute',
    '/export?format=xml',
    '/logs?statusMin=x',
    '/logs?statusMin=500&statusMax=400',
    '/logs?limit=101',
    '/logs?offset=100001',
    `/logs?search=${'x'.repeat(201)}`,
    '/logs?start=20261101',
    '?start=0000-01-01',
    '/logs?end=0000-12-31&start=0000-01-01',
  ];
  for (const query of bad) {
    expect([query, (await viewer.call('GET', `/v1/usage/agents/${agent.id}${query}`)).status]).toEqual([query, 400]);
  }
});

test('usage: days at the ends of the calendar get a response', async () => {
  for (const part of ['', '/logs']) {
    for (const span of ['?end=9999-12-31', '?start=9999-12-31', '?start=0001-01-01&end=9999-12-31']) {
      const { status } = await viewer.call('GET', `/v1/usage/agents/${agent.id}${part}${span}`);
      expect([part, span, status]).toEqual([part, span, 200]);
    }
  }
  const owner = await plane().createMember('owner');
  for (const span of ['?end=9999-12-31', '?start=0001-01-01']) {
    expect((await owner.call('GET', `/v1/audit${span}`)).status).toBe(200);
  }
  expect((await owner.call('GET', '/v1/audit?start=0000-01-01')).status).toBe(400);
});

test('usage: two slow queries run and eight wait, further ones are 429; the rest of the API keeps working', async () => {
  const { sql } = plane().database;
  const of = `/v1/usage/agents/${agent.id}`;
  const questions = [
    `/v1/usage/agents/compare?agentIds=${agent.id}`,
    `${of}/summary`,
    `${of}/timeseries`,
    `${of}/providers`,
    of,
    `${of}/logs`,
  ];
  let answers: Promise<{ status: number; headers: Headers }[]> | undefined;
  await sql.begin(async (tx) => {
    await tx`lock table usage_hourly, usage_records in access exclusive mode`;
    answers = Promise.all(Array.from({ length: 15 }, (_, i) => viewer.call('GET', questions[i % questions.length]!)));
    const waiting = async () =>
      (
        await sql`
          select from pg_stat_activity
           where datname = current_database() and application_name = 'acg-reads' and wait_event_type = 'Lock'`
      ).count;
    while ((await waiting()) < 2) await new Promise((resolve) => setImmediate(resolve));
    const me = await Promise.all(Array.from({ length: 20 }, () => viewer.call('GET', '/v1/me')));
    expect(me.every(({ status }) => status === 200)).toBe(true);
    expect(await waiting()).toBe(2);
    expect((await viewer.call('GET', questions[0]!)).status).toBe(429);
  });
  const statuses = (await answers!).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  const refused = (await answers!).filter(({ status }) => status === 429);
  expect(refused).toHaveLength(5);
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
});

test('usage of the organization and its projects: every value by every dimension, including deleted agents', async () => {
  const { sql } = plane().database;
  const owner = await plane().createMember('owner');
  const [gone, here] = [await insertAgent(sql, owner.orgId), await insertAgent(sql, owner.orgId)];
  const projectOf = async (id: string) =>
    (await sql<{ projectId: string }[]>`select project_id as "projectId" from agents where id = ${id}`)[0]!.projectId;
  const [one, other] = [await projectOf(gone.id), await projectOf(here.id)];
  const keyId = newId();
  const record = (agentId: string, projectId: string, changes: object) =>
    usageRecord({ agentId, projectId, orgId: owner.orgId, keyId, durationMs: 100, ...changes });
  await createIngest(sql).report({
    dataPlaneId: 'd',
    records: [
      record(gone.id, one, { model: 'a', costNanos: 30_000_000 }),
      record(gone.id, one, { model: 'b', costNanos: 1_500, responseStatus: 500 }),
      record(here.id, other, { model: 'a', costNanos: 5_000_000, providerSlug: 'resend' }),
    ],
    rejections: [
      {
        id: newId(),
        orgId: owner.orgId,
        agentId: here.id,
        providerSlug: '',
        reason: 'rpm',
        count: 3,
        minuteMs: Date.now(),
      },
    ],
  });
  await sql`delete from agents where id = ${gone.id}`;
  const ask = async (path: string) => {
    const { status, body } = await owner.call('GET', `/v1/usage/${path}`);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const summary = await ask('summary');
  expect(summary).toMatchObject({
    requests: 3,
    errors: 1,
    tokensIn: 369,
    tokensOut: 150,
    costCents: 3.50015,
    costUsd: 0.035002,
  });
  expect(summary).toMatchObject({
    errorRate: 33.33,
    p50Latency: 100,
    p95Latency: 100,
    avgLatency: 100,
    rejectedRequests: 3,
  });
  expect(await ask(`summary?projectId=${one}&period=90d`)).toMatchObject({ requests: 2, costUsd: 0.030002 });
  expect(await ask(`summary?agentId=${gone.id}`)).toMatchObject({ requests: 2, rejectedRequests: 0 });
  const quiet = await insertAgent(sql, owner.orgId);
  expect(await ask(`summary?agentId=${quiet.id}`)).toMatchObject({ requests: 0, costUsd: 0 });
  const rows = async (query: string) =>
    (await ask(`breakdown?${query}`)).rows.map(({ value, name, costUsd }: Record<string, unknown>) => [
      value,
      name,
      costUsd,
    ]);
  expect(await rows('by=agent')).toEqual([
    [gone.id, null, 0.030002],
    [here.id, here.name, 0.005],
  ]);
  expect(await rows('by=project')).toEqual([
    [one, 'P', 0.030002],
    [other, 'P', 0.005],
  ]);
  expect(await rows('by=model&period=30d')).toEqual([
    ['a', null, 0.035],
    ['b', null, 0.000002],
  ]);
  expect(await rows('by=provider')).toEqual([
    ['openai', null, 0.030002],
    ['resend', null, 0.005],
  ]);
  expect(await rows(`by=key&projectId=${other}`)).toEqual([[keyId, null, 0.005]]);
  expect(await rows('by=model&limit=1&offset=1')).toEqual([['b', null, 0.000002]]);
  expect(await ask('breakdown?by=model&limit=1&offset=5')).toMatchObject({ rows: [], total: 2, limit: 1, offset: 5 });
  expect((await ask('refusals')).refusals).toEqual([{ reason: 'rpm', count: 3 }]);
  const { timeseries, interval } = await ask('timeseries');
  expect([interval, timeseries.length]).toEqual(['hour', 24]);
  expect(timeseries.reduce((sum: number, point: { requests: number }) => sum + point.requests, 0)).toBe(3);
  const today = new Date().toISOString().slice(0, 10);
  expect(await ask(`timeseries?start=${today}&end=${today}&interval=day`)).toMatchObject({
    timeseries: [{ requests: 3 }],
  });

  const stranger = await plane().createMember('owner');
  for (const part of ['summary', 'timeseries', 'breakdown', 'refusals']) {
    for (const id of [
      `projectId=${one}`,
      `projectId=${other}`,
      `agentId=${gone.id}`,
      `agentId=${here.id}`,
      `agentId=${newId()}`,
    ]) {
      expect(
        (await stranger.call('GET', `/v1/usage/${part}?${part === 'breakdown' ? 'by=agent&' : ''}${id}`)).status,
      ).toBe(404);
    }
  }
  expect((await owner.call('GET', '/v1/usage/breakdown')).status).toBe(400);
  expect((await owner.call('GET', '/v1/usage/breakdown?by=colour')).status).toBe(400);
});

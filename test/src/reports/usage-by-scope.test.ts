/** Usage of an organization, its projects and agents, compared with a plain recount of the recorded calls. */
import { createLogger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import { startOfUtcDay } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { LatencySketch } from '@acg/controlplane/ledger/latency-sketch';
import { GROUPS_MAX } from '@acg/controlplane/reports/aggregates/group-series';
import { GROUPS } from '@acg/controlplane/reports/aggregates/schema';
import { beforeAll, expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, insertAgent, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NANOS_PER_CENT = 10_000_000;
const now = Date.now();
const KEYS = [newId(), newId()];

type Call = ReturnType<typeof usageRecord>;
interface RejectionCount {
  readonly agentId: string;
  readonly minuteMs: number;
  readonly reason: string;
  readonly count: number;
}
let owner: Member;
let agents: { readonly id: string; readonly name: string; readonly projectId: string }[];
const calls: Call[] = [];
const rejectedCalls: RejectionCount[] = [];

beforeAll(async () => {
  owner = await plane().createMember('owner');
  const { sql } = plane().database;
  const { orgId } = owner;
  agents = await Promise.all(
    [0, 1, 2].map(async () => {
      const { id, name } = await insertAgent(sql, orgId, { budgetCents: 500, createdAt: new Date(now - 3 * DAY) });
      const [row] = await sql<{ projectId: string }[]>`
        select project_id as "projectId" from agents where id = ${id}`;
      return { id, name, ...row! };
    }),
  );
  for (let i = 0; i < 800; i++) {
    const startedAtMs = now - ((i * 7_919_317) % (6 * DAY));
    const agent = agents[Math.floor(i ** 1.5) % 3]!;
    calls.push(
      usageRecord({
        id: uuidv7(startedAtMs),
        agentId: agent.id,
        projectId: agent.projectId,
        orgId,
        keyId: KEYS[i % 2]!,
        providerSlug: ['openai', 'anthropic', 'resend'][i % 3]!,
        ...(i % 6 === 5 ? { model: '', tool: `t${i % 7}` } : { model: `m${Math.floor(i ** 1.3) % (GROUPS_MAX + 4)}` }),
        startedAtMs,
        durationMs: 40 + ((i * 97) % 3_000),
        costNanos: (i * 7_654_321) % 9_000_000,
        responseStatus: [200, 200, 201, 404, 429, 500][(i >> 2) % 6]!,
      }),
    );
    if (i % 4 === 0) {
      const minuteMs = now - ((i * 5_919_317) % (4 * DAY));
      const reason = ['rpm', 'budget', 'paused'][(i >> 2) % 3]!;
      rejectedCalls.push({ agentId: agent.id, minuteMs: minuteMs - (minuteMs % 60_000), reason, count: 1 + (i % 5) });
    }
  }
  const ingest = createIngest(sql);
  const rejections = rejectedCalls.map((refusal) => ({ id: newId(), orgId, providerSlug: 'openai', ...refusal }));
  await ingest.report({ dataPlaneId: 'd', records: calls.slice(0, 500), rejections });
  await new DailyRollups(sql, createLogger('test', 'silent')).rollUpFinishedAndLateDays(startOfUtcDay(now) + 2 * HOUR);
  await ingest.report({ dataPlaneId: 'd', records: calls.slice(500) }); // late for most of their days
  const stranger = await plane().createMember('owner');
  await ingest.report({ dataPlaneId: 'd', records: [usageRecord({ orgId: stranger.orgId })] });
});

const day = (daysAgo: number): string => new Date(now - daysAgo * DAY).toISOString().slice(0, 10);
/** Days, because a period moves on with the hour in which the test runs. */
const RANGES = [
  [`start=${day(1)}&end=${day(0)}`, startOfUtcDay(now) - DAY, startOfUtcDay(now) + DAY],
  [`start=${day(6)}&end=${day(0)}`, startOfUtcDay(now) - 6 * DAY, startOfUtcDay(now) + DAY],
  [`start=${day(4)}&end=${day(2)}`, startOfUtcDay(now) - 4 * DAY, startOfUtcDay(now) - DAY],
] as const;

interface UsageQuery {
  readonly query: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly own: readonly Call[];
  readonly refused: readonly RejectionCount[];
}

/** Every scope over every range, with its calls and rejections. */
function listUsageQueries(): readonly UsageQuery[] {
  const scopes: readonly [string, (agentId: string) => boolean][] = [
    ['', () => true],
    [`&projectId=${agents[1]!.projectId}`, (agentId) => agentId === agents[1]!.id],
    [`&agentId=${agents[2]!.id}`, (agentId) => agentId === agents[2]!.id],
    [`&agentId=${agents[2]!.id}&projectId=${agents[2]!.projectId}`, (agentId) => agentId === agents[2]!.id],
  ];
  return RANGES.flatMap(([range, fromMs, toMs]) =>
    scopes.map(([scope, isOf]) => ({
      query: range + scope,
      fromMs,
      toMs,
      own: calls.filter((c) => isOf(c.agentId!) && c.startedAtMs! >= fromMs && c.startedAtMs! < toMs),
      refused: rejectedCalls.filter((r) => isOf(r.agentId) && r.minuteMs >= fromMs && r.minuteMs < toMs),
    })),
  );
}

const fetchReport = async (path: string) => {
  const { status, body } = await owner.call('GET', `/v1/usage/${path}`);
  expect([path, status, body.error]).toEqual([path, 200, undefined]);
  return body;
};
const sum = <T>(of: readonly T[], value: (one: T) => number): number => of.reduce((n, one) => n + value(one), 0);
const rounded = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;
const expectedSums = (own: readonly Call[]) => {
  const costNanos = sum(own, (c) => c.costNanos!);
  return {
    requests: own.length,
    errors: own.filter((c) => c.responseStatus! >= 400).length,
    tokensIn: sum(own, (c) => c.tokensInUncached! + c.tokensCacheRead! + c.tokensCacheWrite!),
    tokensOut: sum(own, (c) => c.tokensOut!),
    costCents: costNanos / NANOS_PER_CENT,
    costUsd: rounded(costNanos / 1e9, 6),
    avgLatency: own.length === 0 ? 0 : rounded(sum(own, (c) => c.durationMs!) / own.length, 2),
  };
};
const UNKNOWN_FIGURES = {
  requests: null,
  errors: null,
  tokensIn: null,
  tokensOut: null,
  costCents: null,
  costUsd: null,
  avgLatency: null,
  rejectedRequests: null,
};

/** The expected values of a group of records. */
type GroupBy = (typeof GROUPS)[number];

const expectedFigures = (by: GroupBy, own: readonly Call[], refused: readonly RejectionCount[]) => {
  if (by === 'reason') return { ...UNKNOWN_FIGURES, rejectedRequests: sum(refused, ({ count }) => count) };
  if (by === 'status') return { ...UNKNOWN_FIGURES, requests: own.length };
  return { ...expectedSums(own), rejectedRequests: null };
};
const GROUP_VALUE: Readonly<Record<Exclude<GroupBy, 'reason'>, (call: Call) => string>> = {
  project: (c) => c.projectId!,
  agent: (c) => c.agentId!,
  provider: (c) => c.providerSlug!,
  model: (c) => c.model!,
  tool: (c) => c.tool ?? '',
  key: (c) => c.keyId!,
  status: (c) => String(c.responseStatus),
};

function expectedGroups(by: GroupBy, { own, refused }: Pick<UsageQuery, 'own' | 'refused'>) {
  const groups = new Map<string, { own: Call[]; refused: RejectionCount[] }>();
  const at = (value: string) => {
    if (!groups.has(value)) groups.set(value, { own: [], refused: [] });
    return groups.get(value)!;
  };
  if (by === 'reason') for (const refusal of refused) at(refusal.reason).refused.push(refusal);
  else for (const call of own) at(GROUP_VALUE[by](call)).own.push(call);
  const weight = ({ own: mine, refused: theirs }: { own: Call[]; refused: RejectionCount[] }) =>
    by === 'reason'
      ? sum(theirs, ({ count }) => count)
      : by === 'status'
        ? mine.length
        : sum(mine, (c) => c.costNanos!);
  return [...groups].sort(([a, x], [b, y]) => weight(y) - weight(x) || y.own.length - x.own.length || (a < b ? -1 : 1));
}

test('usage of a scope: summaries are what a recount of the records gives', async () => {
  const monthStart = Date.parse(`${new Date(now).toISOString().slice(0, 7)}-01`);
  for (const { query, fromMs, toMs, own, refused } of listUsageQueries()) {
    const latency = new LatencySketch();
    for (const { durationMs } of own) latency.addLatency(durationMs!);
    const scoped = new URLSearchParams(query);
    const all = calls.filter(
      (c) =>
        (!scoped.has('agentId') || c.agentId === scoped.get('agentId')) &&
        (!scoped.has('projectId') || c.projectId === scoped.get('projectId')),
    );
    const monthCents = sum(all, (c) => (c.startedAtMs! >= monthStart ? c.costNanos! : 0)) / NANOS_PER_CENT;
    const budgetCents = scoped.has('agentId') ? 500 : null;
    expect([query, await fetchReport(`summary?${query}`)]).toEqual([
      query,
      {
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        ...expectedSums(own),
        errorRate: rounded((100 * expectedSums(own).errors) / own.length, 2),
        p50Latency: latency.quantile(0.5),
        p95Latency: latency.quantile(0.95),
        rejectedRequests: sum(refused, ({ count }) => count),
        monthCents,
        budgetCents,
        budgetUsedPercent: budgetCents === null ? null : rounded((100 * monthCents) / budgetCents, 2),
        // The organization and its projects were created just now, the agents days ago.
        forecast: scoped.has('agentId')
          ? {
              burnRateCentsPerHour: expect.any(Number),
              projectedMonthlyCents: expect.any(Number),
              daysUntilBudget: expect.toSatisfy((days: number | null) => days === null || days > 0),
            }
          : null,
      },
    ]);
  }
});

test.each(GROUPS)('usage of a scope: the breakdown by %s is what a recount gives, in pages', async (by) => {
  const names = new Map([
    ...agents.map(({ id, name }) => [id, name] as const),
    ...agents.map(({ projectId }) => [projectId, 'P'] as const),
  ]);
  for (const asked of listUsageQueries()) {
    const rows = expectedGroups(by, asked).map(([value, { own, refused }]) => ({
      value,
      name: names.get(value) ?? null,
      ...expectedFigures(by, own, refused),
    }));
    const { rows: answered, total } = await fetchReport(`breakdown?by=${by}&limit=100&${asked.query}`);
    expect([asked.query, answered, total]).toEqual([asked.query, rows, rows.length]);
    const page = await fetchReport(`breakdown?by=${by}&limit=2&offset=1&${asked.query}`);
    expect([page.rows, page.total]).toEqual([rows.slice(1, 3), rows.length]);
  }
});

test.each(GROUPS)(
  'usage of a scope: series by %s are what a recount gives, the largest each and the rest together',
  async (by) => {
    for (const { query, fromMs, toMs, own, refused } of listUsageQueries()) {
      for (const interval of ['hour', 'day'] as const) {
        const width = interval === 'hour' ? HOUR : DAY;
        const { timeseries, groups } = await fetchReport(`timeseries?groupBy=${by}&interval=${interval}&${query}`);
        const starts: number[] = [];
        for (let ms = fromMs - (fromMs % width); ms < toMs; ms += width) starts.push(ms);
        const within = (ms: number) => ({
          own: own.filter((c) => c.startedAtMs! >= ms && c.startedAtMs! < ms + width),
          refused: refused.filter((r) => r.minuteMs >= ms && r.minuteMs < ms + width),
        });
        const name = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
        expect([query, timeseries]).toEqual([
          query,
          starts.map((ms) => {
            const here = within(ms);
            return { bucket: name(ms), ...expectedSums(here.own), rejectedRequests: sum(here.refused, (r) => r.count) };
          }),
        ]);
        const all = expectedGroups(by, { own, refused }).map(([value]) => value);
        const shown = all.slice(0, GROUPS_MAX);
        const wanted: (string | null)[] = [...shown, ...(all.length > GROUPS_MAX ? [null] : [])];
        expect([query, interval, groups.map(({ value }: { value: string | null }) => value)]).toEqual([
          query,
          interval,
          wanted,
        ]);
        for (const { value, timeseries: points } of groups) {
          const isOf = (one: string): boolean => (value === null ? !shown.includes(one) : one === value);
          expect([query, value, points]).toEqual([
            query,
            value,
            starts.map((ms) => {
              const here = within(ms);
              const mine = by === 'reason' ? [] : here.own.filter((c) => isOf(GROUP_VALUE[by](c)));
              return {
                bucket: name(ms),
                ...expectedFigures(
                  by,
                  mine,
                  here.refused.filter((r) => isOf(r.reason)),
                ),
              };
            }),
          ]);
        }
      }
    }
  },
);

test('usage of a scope: exports contain each record once, newest first, with the values of the calls', async () => {
  for (const { query, own } of listUsageQueries()) {
    const expected = own
      .map(({ id, startedAtMs }) => ({ id, startedAtMs }))
      .sort((a, b) => b.startedAtMs! - a.startedAtMs!);
    const json = await fetchReport(`export?${query}`);
    expect([query, json.map(({ id }: { id: string }) => id)]).toEqual([query, expected.map(({ id }) => id)]);
    const { body, headers } = await owner.call('GET', `/v1/usage/export?format=csv&${query}`);
    const ids = (body as string)
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.slice(0, 36));
    expect([query, ids]).toEqual([query, expected.map(({ id }) => id)]);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="usage-[a-z0-9-]+\.csv"$/);
  }
});

test('usage of a scope: the default range is the last 24 hours, including the current hour', async () => {
  const summary = await fetchReport('summary');
  const [fromMs, toMs] = [Date.parse(summary.from), Date.parse(summary.to)];
  expect(toMs - fromMs).toBe(DAY);
  expect(toMs).toBeGreaterThan(now);
  expect(summary).toMatchObject(expectedSums(calls.filter((c) => c.startedAtMs! >= fromMs && c.startedAtMs! < toMs)));
});

test('usage of one agent: days instead of a period, in summary, series, providers, comparison and export', async () => {
  const [range, fromMs, toMs] = RANGES[2];
  const { id } = agents[0]!;
  const own = calls.filter((c) => c.agentId === id && c.startedAtMs! >= fromMs && c.startedAtMs! < toMs);
  const summary = await fetchReport(`agents/${id}/summary?${range}`);
  expect(summary).toMatchObject({ period: null, totalRequests: own.length });
  const { p95Latency, costUsd, rejectedRequests } = summary;
  expect(await fetchReport(`agents/compare?agentIds=${id}&${range}`)).toMatchObject({
    period: null,
    agents: [{ agentId: id, totalRequests: own.length, p95Latency, costUsd, rejectedRequests }],
  });
  const series = await fetchReport(`agents/${id}/timeseries?${range}&interval=day`);
  expect(series).toMatchObject({ period: null, interval: 'day' });
  expect(series.timeseries.map(({ requests }: { requests: number }) => requests)).toEqual(
    [4, 3, 2].map((ago) => own.filter((c) => startOfUtcDay(c.startedAtMs!) === startOfUtcDay(now) - ago * DAY).length),
  );
  const { providers } = await fetchReport(`agents/${id}/providers?${range}`);
  expect(sum(providers, ({ totalRequests }: { totalRequests: number }) => totalRequests)).toBe(own.length);
  expect(await fetchReport(`agents/${id}/export?${range}`)).toHaveLength(own.length);
});

test.each([
  [
    'timeseries?start=2000-01-01&end=2026-01-01&interval=hour',
    'a series has at most 10000 points. Request a shorter time range, or interval=day.',
  ],
  [
    'timeseries?start=0001-01-01&end=9999-12-31&interval=day',
    'a series has at most 10000 points. Request a shorter time range, or interval=day.',
  ],
  [
    'timeseries?period=90d&interval=hour&groupBy=model',
    'a series has at most 800 points. Request a shorter time range, or interval=day.',
  ],
  ['summary?period=7d&end=2026-01-01', 'give either period, or start and end, not both'],
  ['export?period=7d&end=2026-01-01', 'give either period, or start and end, not both'],
  ['breakdown?by=model&thenBy=model', 'thenBy must be another dimension than by'],
  ['breakdown?by=status&thenBy=model', 'thenBy is not possible with by=status: leave it out'],
  ['breakdown?by=error', 'by must be one of project, agent, provider, model, tool, key, status, reason, or tag:KEY'],
])('usage of a scope: %s is 400', async (path, error) => {
  const { status, body } = await owner.call('GET', `/v1/usage/${path}`);
  expect([status, body]).toEqual([400, { error }]);
});

test('usage of a scope: two dimensions, sorted, with the previous period and the sums of all pages', async () => {
  const start = new Date(now - 2 * DAY).toISOString().slice(0, 10);
  const end = new Date(now - DAY).toISOString().slice(0, 10);
  const [fromMs, toMs] = [Date.parse(start), Date.parse(end) + DAY];
  const asked = `by=agent&thenBy=provider&start=${start}&end=${end}&compare=previous&sort=requests&order=asc`;
  const reply = await fetchReport(`breakdown?${asked}&limit=100`);
  const beforeFrom = Date.parse(reply.previousFrom);
  expect(Date.parse(reply.previousTo)).toBeLessThanOrEqual(fromMs);
  const within = (from: number, to: number) => calls.filter((c) => c.startedAtMs! >= from && c.startedAtMs! < to);
  const earlier = within(beforeFrom, Date.parse(reply.previousTo));
  const current = within(fromMs, toMs);
  const pairs = new Set(current.map(({ agentId, providerSlug }) => `${agentId} ${providerSlug}`));
  expect(reply.total).toBe(pairs.size);
  for (const row of reply.rows) {
    const own = (one: Call) => one.agentId === row.value && one.providerSlug === row.thenValue;
    expect(row).toMatchObject({
      name: agents.find(({ id }) => id === row.value)!.name,
      thenName: null,
      requests: current.filter(own).length,
      previous: { requests: earlier.filter(own).length },
    });
  }
  const counts = reply.rows.map(({ requests }: { requests: number }) => requests);
  expect(counts).toEqual(counts.toSorted((a: number, b: number) => a - b));
  const page = await fetchReport(`breakdown?${asked}&limit=1`);
  expect(page.totals).toEqual(reply.totals);
  expect(page.totals).toMatchObject({ requests: current.length, previous: { requests: earlier.length } });
});

test('usage of a scope: calls from before statuses were counted are of no status', async () => {
  const { sql } = plane().database;
  const { id, orgId } = await insertAgent(sql, (await plane().createMember('owner')).orgId);
  const records = [200, 200, 500].map((responseStatus) => usageRecord({ agentId: id, orgId, responseStatus }));
  await createIngest(sql).report({ dataPlaneId: 'd', records: records.slice(0, 2) });
  await sql`update usage_hourly set latency_sketch = ${new LatencySketch().encode()} where agent_id = ${id}`;
  await createIngest(sql).report({ dataPlaneId: 'd', records: records.slice(2) });
  const reader = await plane().createMember('viewer', orgId);
  const { body } = await reader.call('GET', '/v1/usage/breakdown?by=status');
  expect(body.rows.map(({ value, requests }: { value: string; requests: number }) => [value, requests])).toEqual([
    ['', 2],
    ['500', 1],
  ]);
});

test('usage of one key, also after its revocation, is what a recount of its records gives', async () => {
  const keyId = KEYS[0]!;
  await plane().database.sql`
    insert into api_keys (id, org_id, agent_id, name, key_prefix, token_hash, scope, revoked_at)
    values (${keyId}, ${owner.orgId}, ${agents[0]!.id}, 'leaked', 'acg_0000', ${Buffer.from(keyId)}, 'agent', now())`;
  const own = calls.filter((c) => c.keyId === keyId && c.startedAtMs! >= startOfUtcDay(now) - 6 * DAY);
  const days = `start=${day(6)}&end=${day(0)}&keyId=${keyId}`;
  const byAgent = await fetchReport(`breakdown?${days}&by=agent`);
  expect(byAgent.totals).toEqual(expectedSums(own));
  expect(byAgent.rows.map(({ value }: { value: string }) => value)).toEqual(
    expectedGroups('agent', { own, refused: [] }).map(([value]) => value),
  );
  const series = await fetchReport(`timeseries?${days}&interval=day`);
  expect(sum(series.timeseries as { requests: number }[], ({ requests }) => requests)).toBe(own.length);
  expect(sum(series.timeseries as { rejectedRequests: number }[], (point) => point.rejectedRequests)).toBe(0);
  for (const [path, group] of [
    ['breakdown', 'by=reason'],
    ['timeseries', 'groupBy=tag:customer'],
  ])
    expect(await owner.call('GET', `/v1/usage/${path}?${days}&${group}`)).toMatchObject({ status: 400 });
  const other = await plane().createMember('owner');
  expect(await other.call('GET', `/v1/usage/breakdown?${days}&by=agent`)).toMatchObject({ status: 404 });
  const newest = [...own].sort((a, b) => b.startedAtMs! - a.startedAtMs!).map(({ id }) => id);
  const exported: readonly { id: string }[] = await fetchReport(`export?${days}`);
  expect(exported.map(({ id }) => id)).toEqual(newest);
  const csv = await owner.call('GET', `/v1/usage/export?format=csv&${days}`);
  expect(String(csv.body).split('\r\n')).toHaveLength(newest.length + 2);
  expect(csv.headers.get('content-disposition')).toContain(`usage-${keyId}-`);
  expect(await other.call('GET', `/v1/usage/export?${days}`)).toMatchObject({ status: 404 });
  expect(await other.call('GET', `/v1/api-keys/${keyId}`)).toMatchObject({ status: 404 });
  const { key } = (await owner.call('GET', `/v1/api-keys/${keyId}`)).body;
  expect([key.name, key.status, Date.parse(key.revokedAt) > 0]).toEqual(['leaked', 'revoked', true]);
  // Lists have it only on request, and only those of its organization and agent.
  const totalOf = async (who: typeof owner, query: string) =>
    (await who.call('GET', `/v1/api-keys?${query}`)).body.total;
  expect(await totalOf(owner, 'search=leaked')).toBe(0);
  const { body: revoked } = await owner.call('GET', '/v1/api-keys?search=leaked&status=revoked');
  expect([revoked.total, revoked.keys.map((row: typeof key) => [row.id, row.status])]).toEqual([
    1,
    [[keyId, 'revoked']],
  ]);
  expect(await totalOf(owner, `status=revoked&agentId=${agents[0]!.id}`)).toBe(1);
  expect(await totalOf(owner, `status=revoked&agentId=${agents[1]!.id}`)).toBe(0);
  expect(await totalOf(owner, 'status=active&search=leaked')).toBe(0);
  expect(await totalOf(other, 'status=revoked')).toBe(0);
});

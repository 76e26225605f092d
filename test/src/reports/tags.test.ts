/** Tags, runs and audit mode in reports, logs and exports, which also carry current names. */
import { TagDailyRollups } from '@acg/controlplane/ledger/tag-daily-rollups';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();
const DAY_MS = 86_400_000;

test('reports by tag, filters of calls, and exports with tags and names', async () => {
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Search' })).body.project.id;
  const agentId = (await admin.call('POST', '/v1/agents', { projectId, name: '=Bot' })).body.agent.id;
  const keyId = (await admin.call('POST', '/v1/api-keys', { name: 'prod', agentId })).body.key.id;
  const { report } = createIngest(plane().database.sql);
  const runId = newId();
  const day = new Date().toISOString().slice(0, 10);
  const call = (tags: string, costNanos: number, changes: object = {}) =>
    usageRecord({ orgId: admin.orgId, projectId, agentId, keyId, tags, costNanos, day, ...changes });
  await report({
    dataPlaneId: 'dp',
    records: [
      call('customer=acme,feature=x', 30_000_000, { runId }),
      call('customer=acme', 20_000_000, { wouldReject: 'rpm' }),
      call('customer=b', 10_000_000),
      call('', 5_000_000),
    ],
  });
  const stranger = await plane().createMember('owner');
  const rows = async (of: typeof admin, query: string) =>
    (await of.call('GET', `/v1/usage/breakdown?${query}`)).body.rows;
  const byCustomer = [
    { value: 'acme', requests: 2, costCents: 5 },
    { value: 'b', requests: 1, costCents: 1 },
  ];
  for (const scope of ['', `&agentId=${agentId}`, `&projectId=${projectId}`])
    expect(await rows(admin, `by=tag:customer${scope}`)).toEqual(byCustomer.map((row) => expect.objectContaining(row)));
  expect(await rows(stranger, 'by=tag:customer')).toEqual([]);
  const series = await admin.call('GET', '/v1/usage/timeseries?groupBy=tag:customer&period=7d');
  expect([
    series.status,
    series.body.interval,
    series.body.groups.map(({ value }: { value: string }) => value),
  ]).toEqual([200, 'day', ['acme', 'b']]);
  const hourly = await admin.call('GET', '/v1/usage/timeseries?groupBy=tag:customer&interval=hour&period=7d');
  expect([hourly.status, hourly.body.error]).toEqual([400, expect.stringContaining('interval=day')]);
  expect((await admin.call('GET', '/v1/usage/breakdown?by=tag:Bad')).status).toBe(400);

  const total = async (query: string) => (await admin.call('GET', `/v1/usage/logs?${query}`)).body.total;
  expect(
    await Promise.all(
      ['tag=customer%3Dacme', 'tag=customer%3Dac', `runId=${runId}`, 'wouldReject=true', ''].map(total),
    ),
  ).toEqual([2, 0, 1, 1, 4]);
  const exported = (await admin.call('GET', `/v1/usage/export?format=json&period=7d`)).body;
  expect(exported.find((log: { runId: string | null }) => log.runId === runId)).toMatchObject({
    tags: 'customer=acme,feature=x',
    wouldReject: null,
    agentName: '=Bot',
    projectName: 'Search',
    keyName: 'prod',
  });
  expect(exported.filter((log: { wouldReject: string | null }) => log.wouldReject === 'rpm')).toHaveLength(1);
});

test('10 000 values of one key, formulas among them: bounded sums that add up, and inert cells in the export', async () => {
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Hostile' })).body.project.id;
  const agentId = (await admin.call('POST', '/v1/agents', { projectId, name: 'Bot' })).body.agent.id;
  const { report } = createIngest(plane().database.sql);
  const day = new Date().toISOString().slice(0, 10);
  const values = [
    `=cmd|' /C calc'!A0`,
    '+1+1',
    '@SUM(A1)',
    '-2+3',
    '"quoted"',
    '<img src=x onerror=alert(1)>',
    '%00',
    "'; --",
  ];
  for (let batch = 0; batch < 5; batch++)
    await report({
      dataPlaneId: 'dp',
      records: Array.from({ length: 2_000 }, (_, i) => {
        const n = batch * 2_000 + i;
        const tags = `customer=${values[n] ?? `c${n}`},other=other`;
        return usageRecord({ orgId: admin.orgId, projectId, agentId, keyId: agentId, tags, costNanos: 1_000_000, day });
      }),
    });
  const { rows } = (await admin.call('GET', '/v1/usage/breakdown?by=tag:customer')).body;
  expect([rows.length, rows[0]]).toEqual([50, expect.objectContaining({ value: 'other', requests: 9_000 })]);
  const [sums] = await plane().database.sql`
    select sum(requests)::int as requests, count(distinct value)::int as values from usage_tags
     where org_id = ${admin.orgId} and key = 'customer'`;
  expect(sums).toEqual({ requests: 10_000, values: 1_001 });
  const { body: text } = await admin.call('GET', '/v1/usage/export?format=csv&period=7d');
  const lines = text.split('\r\n').slice(1, -1);
  expect(lines).toHaveLength(10_000);
  const cells = lines.flatMap((line: string) => line.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/));
  expect(cells.filter((cell: string) => /^"?[=+@-]/.test(cell))).toEqual([]);
  expect(cells).toContain(`"customer=${values[0]},other=other"`);
});

test('reports by tag are the same before and after days are rolled up, and with late bookings between', async () => {
  const admin = await plane().createMember('admin');
  const { sql } = plane().database;
  const job = () => new TagDailyRollups(sql).rollUpFinishedAndLateDays(Date.now());
  const agents: { projectId: string; agentId: string }[] = [];
  for (const name of ['A', 'B']) {
    const projectId = (await admin.call('POST', '/v1/projects', { name })).body.project.id;
    for (const bot of ['1', '2'])
      agents.push({
        projectId,
        agentId: (await admin.call('POST', '/v1/agents', { projectId, name: bot })).body.agent.id,
      });
  }
  const { report } = createIngest(sql);
  const booked: { projectId: string; agentId: string; value: string; day: string; cents: number }[] = [];
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const book = async (calls: number) => {
    const records = Array.from({ length: calls }, () => {
      const agent = agents[random(agents.length)]!;
      const startedAtMs = Date.now() - random(5) * DAY_MS;
      const day = new Date(startedAtMs).toISOString().slice(0, 10);
      const [value, cents] = [`c${random(6)}`, 1 + random(9)];
      booked.push({ ...agent, value, day, cents });
      const tags = `feature=x,customer=${value}`;
      return usageRecord({
        orgId: admin.orgId,
        keyId: newId(),
        tags,
        costNanos: cents * 1e7,
        day,
        startedAtMs,
        ...agent,
      });
    });
    await report({ dataPlaneId: 'dp', records });
  };
  const expectReportsRight = async () => {
    const [first] = agents;
    for (const [query, matches] of [
      ['', () => true],
      [`&projectId=${first!.projectId}`, ({ projectId }) => projectId === first!.projectId],
      [`&agentId=${first!.agentId}`, ({ agentId }) => agentId === first!.agentId],
    ] as readonly (readonly [string, (call: (typeof booked)[number]) => boolean])[]) {
      const of = booked.filter(matches);
      const sumBy = (key: (call: (typeof booked)[number]) => string) => {
        const sums: Record<string, number> = {};
        for (const call of of) sums[key(call)] = (sums[key(call)] ?? 0) + call.cents;
        return sums;
      };
      const { rows } = (await admin.call('GET', `/v1/usage/breakdown?by=tag:customer&period=7d&limit=50${query}`)).body;
      expect(
        Object.fromEntries(rows.map((row: { value: string; costCents: number }) => [row.value, row.costCents])),
      ).toEqual(sumBy(({ value }) => value));
      const { groups } = (await admin.call('GET', `/v1/usage/timeseries?groupBy=tag:customer&period=7d${query}`)).body;
      const byDay: Record<string, number> = {};
      for (const { value, timeseries } of groups)
        for (const { bucket, costCents } of timeseries)
          if (costCents > 0) byDay[`${bucket.slice(0, 10)} ${value}`] = costCents;
      expect(byDay).toEqual(sumBy(({ day, value }) => `${day} ${value}`));
    }
  };
  const unequalDays = async () =>
    (
      await sql`
        select day, key, value, sum(cost) from (
          select day, key, value, cost_nanos as cost from usage_tags where org_id = ${admin.orgId} and day < current_date
          union all
          select day, key, value, -cost_nanos from usage_tags_daily where org_id = ${admin.orgId}) s
         group by 1, 2, 3 having sum(cost) <> 0`
    ).length;
  await book(200);
  await expectReportsRight();
  await job();
  expect(await unequalDays()).toBe(0);
  await expectReportsRight();
  await book(100); // late for all days but today
  expect(await unequalDays()).toBeGreaterThan(0);
  await expectReportsRight();
  await Promise.all([job(), job(), book(50)]);
  await expectReportsRight();
  await job();
  expect(await unequalDays()).toBe(0);
  expect(await sql`select from usage_tags_late where org_id = ${admin.orgId}`).toHaveLength(0);
  await expectReportsRight();

  // Only the open days are left there, and reports read them from it.
  const openDays = await sql<{ day: string }[]>`
    select distinct day::text from usage_tags_open where org_id = ${admin.orgId} and day < (now() at time zone 'UTC')::date - 1`;
  expect(openDays).toHaveLength(0);
  const today = sql`org_id = ${admin.orgId} and day = (now() at time zone 'UTC')::date`;
  const { count } = await sql`delete from usage_tags where ${today} and agent_id <> ${agents[0]!.agentId}`;
  expect(count).toBeGreaterThan(0);
  const totalOfToday = booked.filter(({ day }) => day === new Date().toISOString().slice(0, 10));
  const { totals } = (await admin.call('GET', '/v1/usage/breakdown?by=tag:customer&period=7d')).body;
  expect(totalOfToday.length).toBeGreaterThan(0);
  expect(totals.costCents).toBe(booked.reduce((sum, { cents }) => sum + cents, 0));
});

test('days before the mark of an upgrade are read by agent: control planes of the release before booked only these', async () => {
  const admin = await plane().createMember('admin');
  const { sql } = plane().database;
  const { report } = createIngest(sql);
  const call = (value: string) =>
    usageRecord({ orgId: admin.orgId, tags: `customer=${value}`, day: new Date().toISOString().slice(0, 10) });
  await report({ dataPlaneId: 'dp', records: [call('a'), call('b')] });
  await sql`delete from usage_tags_open where org_id = ${admin.orgId} and value = 'b'`; // as if booked by the old release
  const values = async () =>
    (await admin.call('GET', '/v1/usage/breakdown?by=tag:customer&period=24h')).body.rows
      .map(({ value }: { value: string }) => value)
      .sort();
  expect(await values()).toEqual(['a']);
  const [before] = await sql<{ since: string }[]>`
    update usage_tags_progress set open_since = (now() at time zone 'UTC')::date + 2
      from (select open_since::text as since from usage_tags_progress) old returning old.since`;
  try {
    expect(await values()).toEqual(['a', 'b']);
  } finally {
    await sql`update usage_tags_progress set open_since = ${before!.since}::text::date`;
  }
});

import { createLogger } from '@acg/base/log';
import type { Sql, Tx } from '@acg/controlplane/db/postgres-client';
import { startOfUtcDay } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { runRollupStepExclusively } from '@acg/controlplane/ledger/exclusive-rollup-steps';
import { LatencySketch } from '@acg/controlplane/ledger/latency-sketch';
import { DIMENSIONS } from '@acg/controlplane/reports/query/rollup-selection';
import { sumBreakdown, sumByBucket, sumByProvider } from '@acg/controlplane/reports/query/rollup-store';
import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, insertAgent, newId, usageRecord } from './usage-fixture.js';

const BREAKDOWN = { thenBy: null, previous: null, sort: 'costUsd', order: 'desc' } as const;

const db = useTestDatabase();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const now = Date.now();
const today = startOfUtcDay(now);
const ofAgent = (agentId: string) => ({ orgId: usageRecord().orgId!, projectId: null, agentIds: [agentId] });
const rollups = () => new DailyRollups(db().sql, createLogger('test', 'silent'));

const PROVIDERS = ['openai', 'anthropic', 'resend'];
const createRecord = (agentId: string, i: number, startedAtMs: number): IUsageRecord =>
  usageRecord({
    agentId,
    startedAtMs,
    providerSlug: PROVIDERS[i % 3]!,
    durationMs: (i * 37) % 5_000,
    costNanos: i * 1_001,
    responseStatus: i % 5 === 0 ? 500 : 200,
  });
/** Spread over six days and the running one. */
const recordsOverSixDays = (agentId: string, count: number): IUsageRecord[] =>
  Array.from({ length: count }, (_, i) => createRecord(agentId, i, now - ((i * 7_919_317) % (6 * DAY))));

const RANGES = [
  [today - 6 * DAY, today + DAY],
  [today - 6 * DAY + 5 * HOUR, today + 3 * HOUR],
  [today - 2 * DAY, today - DAY],
  [today - 2 * DAY + HOUR, today - 2 * DAY + 9 * HOUR],
  [today - DAY - HOUR, today - DAY + HOUR],
  [today, today + DAY],
] as const;

/** Reports of the agent over ranges with arbitrary bounds. */
async function readReports(agentId: string) {
  const { sql } = db();
  return Promise.all(
    RANGES.map(async ([fromMs, toMs]) => {
      const sums = await sumByProvider(sql, ofAgent(agentId), { fromMs, toMs }, true);
      const buckets = await sumByBucket(sql, ofAgent(agentId), { fromMs, toMs }, 'day');
      return {
        sums: sums
          .map(({ sketches, ...rest }) => ({
            ...rest,
            sketch: LatencySketch.fromBase64(sketches).encode().toString('hex'),
          }))
          .sort((a, b) => (a.providerSlug < b.providerSlug ? -1 : 1)),
        buckets: [...buckets].sort((a, b) => a.bucket.getTime() - b.bucket.getTime()),
      };
    }),
  );
}

const rolledUntil = async () =>
  (await db().sql<{ at: Date }[]>`select rolled_until as at from usage_daily_progress`)[0]!.at.getTime();
const dayRows = async (agentId: string) =>
  (await db().sql<{ n: number }[]>`select count(*) as n from usage_daily where agent_id = ${agentId}`)[0]!.n;

test('daily rollups: reports are the same before, during and after the rollup, including late records', async () => {
  const ingest = createIngest(db().sql);
  const agentId = newId();
  const records = recordsOverSixDays(agentId, 900);
  await ingest.report({ dataPlaneId: 'd', records: records.slice(0, 500) });
  const first = await readReports(agentId);
  expect(first[0]!.sums.reduce((sum, row) => sum + row.requests, 0)).toBe(500);
  await rollups().rollUpFinishedAndLateDays(today - 3 * DAY + 2 * HOUR); // as of three days ago
  expect(await rolledUntil()).toBe(today - 3 * DAY);
  expect(await readReports(agentId)).toEqual(first);
  await Promise.all([
    rollups().rollUpFinishedAndLateDays(today + 2 * HOUR),
    rollups().rollUpFinishedAndLateDays(today + 2 * HOUR),
  ]);
  expect(await rolledUntil()).toBe(today);
  expect(await readReports(agentId)).toEqual(first);
  expect(await dayRows(agentId)).toBeGreaterThan(12);

  // Late records, also for a day and a provider without earlier ones, and duplicates.
  const straggler = usageRecord({ agentId, providerSlug: 'vercel', startedAtMs: today - 20 * DAY });
  await ingest.report({ dataPlaneId: 'd', records: [...records.slice(400), straggler] });
  const all = newId();
  await ingest.report({ dataPlaneId: 'd', records: records.map((r) => ({ ...r, id: newId(), agentId: all })) });
  const withIds = (await readReports(all)).map(({ sums, buckets }) => ({
    sums: sums.map((row) => ({ ...row, agentId })),
    buckets,
  }));
  expect(await readReports(agentId)).toEqual(withIds);
  const [late] = await sumByProvider(
    db().sql,
    ofAgent(agentId),
    { fromMs: today - 21 * DAY, toMs: today - 19 * DAY },
    true,
  );
  expect(late).toMatchObject({ providerSlug: 'vercel', requests: 1 });
});

test('daily rollups: a range counts exactly its calls, regardless of late records', async () => {
  const { sql } = db();
  await sql`update usage_daily_progress set rolled_until = ${new Date(today)}`;
  const agentId = newId();
  const records = recordsOverSixDays(agentId, 600);
  const counts = () =>
    Promise.all(
      RANGES.map(async ([fromMs, toMs]) => {
        const sums = await sumByProvider(sql, ofAgent(agentId), { fromMs, toMs }, false);
        return sums.reduce((sum, { requests }) => sum + requests, 0);
      }),
    );
  for (const late of [records.slice(0, 200), records.slice(200, 400), records.slice(400)]) {
    await createIngest(sql).report({ dataPlaneId: 'd', records: late });
  }
  const hours = records.map(({ startedAtMs }) => startedAtMs! - (startedAtMs! % HOUR));
  const expected = RANGES.map(([fromMs, toMs]) => hours.filter((ms) => ms >= fromMs && ms < toMs).length);
  expect(expected[0]).toBe(600);
  expect(expected[3]).toBeGreaterThan(0); // within one day
  expect(await counts()).toEqual(expected);
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await counts()).toEqual(expected);
});

test('daily rollups: late records and a concurrent rollup of their days lose nothing', async () => {
  await db().sql`update usage_daily_progress set rolled_until = ${new Date(today - 8 * DAY)}`;
  await db().sql`delete from usage_daily`;
  const agentId = newId();
  const records = recordsOverSixDays(agentId, 1_200);
  const planes = [createIngest(db().sql), createIngest(db().sql)];
  const slices = Array.from({ length: 24 }, (_, i) => records.slice(i * 50, i * 50 + 50));
  await Promise.all([
    ...slices.map((slice, i) => planes[i % 2]!.report({ dataPlaneId: 'd', records: slice })),
    ...[6, 5, 4, 3, 2, 1, 0].map((days) => rollups().rollUpFinishedAndLateDays(today - days * DAY + 2 * HOUR)),
  ]);
  const meanwhile = await readReports(agentId); // some days are rolled up, some late, some neither
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await rolledUntil()).toBe(today);
  expect(await db().sql`select from usage_late`).toHaveLength(0);
  const rolled = await readReports(agentId);
  await db().sql`update usage_daily_progress set rolled_until = '-infinity'`;
  expect(rolled).toEqual(await readReports(agentId));
  expect(rolled).toEqual(meanwhile);
});

test('rollups: a step with a snapshot older than another control plane s commit has no effect', async () => {
  const { sql } = db();
  const touch = (to: Sql | Tx) => to`update usage_daily_progress set rolled_until = rolled_until`;
  const step = async (tx: Tx) => {
    await touch(sql); // another control plane, after this snapshot
    await touch(tx);
    return false;
  };
  expect(await runRollupStepExclusively(sql, 'test', step)).toBe(true);
  await expect(runRollupStepExclusively(sql, 'test', (tx) => tx`select 1 / 0`.then(() => false))).rejects.toThrow(
    'division by zero',
  );
});

test('daily rollups: recording a past day does not wait for a rollup', async () => {
  const { sql } = db();
  await sql`update usage_daily_progress set rolled_until = ${new Date(today)}`;
  const agentId = newId();
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('usage_daily'))`;
    await tx`lock table usage_daily, usage_daily_by, usage_daily_progress in exclusive mode`;
    await createIngest(sql).report({ dataPlaneId: 'd', records: [usageRecord({ agentId, startedAtMs: today - DAY })] });
  });
  const [sum] = await sumByProvider(sql, ofAgent(agentId), { fromMs: today - DAY, toMs: today }, false);
  expect(sum).toMatchObject({ requests: 1 });
});

test('dimensions: an organization, its projects, models and keys add up the same from hours, days and late days', async () => {
  const { sql } = db();
  const ingest = createIngest(sql);
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  const orgId = newId();
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  const [gone, here] = [await insertAgent(sql, orgId), await insertAgent(sql, orgId)];
  const [{ projectId }] = await sql<[{ projectId: string }]>`
    select project_id as "projectId" from agents where id = ${gone.id}`;
  const keys = [newId(), newId(), newId()];
  const records = Array.from({ length: 300 }, (_, i) => ({
    ...createRecord(i % 2 === 0 ? gone.id : here.id, i, now - ((i * 7_919_317) % (6 * DAY))),
    orgId,
    keyId: keys[i % 3]!,
    model: i % 7 === 0 ? '' : `m${i % 4}`,
    // What has none is counted to its agent's project, as long as there is the agent.
    ...(i % 2 === 0 && (i % 3 === 0 || i >= 200) ? { projectId } : {}),
  }));
  await ingest.report({ dataPlaneId: 'd', records: records.slice(0, 200) });
  await sql`delete from agents where id = ${gone.id}`;
  const range = { fromMs: today - 6 * DAY + 5 * HOUR, toMs: today + DAY };
  const all = async () => {
    const scopes = [
      { orgId, projectId: null, agentIds: null },
      { orgId, projectId, agentIds: null },
      { orgId, projectId: null, agentIds: [gone.id] },
      { orgId: newId(), projectId: null, agentIds: null },
    ];
    const answers = scopes.map(async (scope) => {
      const page = { limit: 1_000, offset: 0 };
      const listed = await Promise.all(
        DIMENSIONS.map((dimension) => sumBreakdown(sql, scope, range, { ...BREAKDOWN, dimension, ...page })),
      );
      const by = listed.map(({ rows, total }) => {
        expect(rows).toHaveLength(total);
        return rows;
      });
      const days = await sumByBucket(sql, scope, range, 'day');
      return { by, days: [...days].sort((a, b) => a.bucket.getTime() - b.bucket.getTime()) };
    });
    return Promise.all(answers);
  };
  const late = await all();
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await all()).toEqual(late);
  await ingest.report({ dataPlaneId: 'd', records: records.slice(200) });
  const [whole, ofProject, ofGone, ofOthers] = await all();
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await all()).toEqual([whole, ofProject, ofGone, ofOthers]);

  const counted = records.filter(({ startedAtMs }) => startedAtMs! - (startedAtMs! % HOUR) >= range.fromMs);
  const total = (own: typeof records) => own.reduce((sum, { costNanos }) => sum + BigInt(costNanos!), 0n);
  for (const { by, days } of [whole!, ofProject!, ofGone!]) {
    const [first] = by.map((rows) => rows.reduce((sum, row) => sum + row.costNanos, 0n));
    for (const rows of [...by, days]) expect(rows.reduce((sum, row) => sum + row.costNanos, 0n)).toBe(first);
  }
  expect(whole!.by[0]!.reduce((sum, row) => sum + row.costNanos, 0n)).toBe(total(counted));
  const ofModel = new Map(whole!.by[DIMENSIONS.indexOf('model')]!.map((row) => [row.value, row.requests]));
  expect(ofModel.get('m1')).toBe(counted.filter(({ model }) => model === 'm1').length);
  expect([...ofModel.keys()].sort()).toEqual(['', 'm0', 'm1', 'm2', 'm3']);
  const ofKey = whole!.by[DIMENSIONS.indexOf('key')]!.find((row) => row.value === keys[1]);
  expect(ofKey!.costNanos).toBe(total(counted.filter(({ keyId }) => keyId === keys[1])));
  expect(ofGone!.by[0]!.map((row) => row.value)).toEqual([projectId]); // although the agent was deleted
  expect(ofOthers).toEqual({ by: DIMENSIONS.map(() => []), days: [] });
});

test('daily rollups: many late records keep a small sketch', async () => {
  const { sql } = db();
  await sql`update usage_daily_progress set rolled_until = ${new Date(today)}`;
  const agentId = newId();
  const ingest = createIngest(sql);
  for (let turn = 0; turn < 10; turn++) {
    const records = Array.from({ length: 300 }, (_, i) =>
      usageRecord({ agentId, startedAtMs: today - DAY, durationMs: (turn * 300 + i) * 97 }),
    );
    await ingest.report({ dataPlaneId: 'd', records });
  }
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  const [row] = await sql<{ bytes: number; requests: number }[]>`
    select octet_length(latency_sketch) as bytes, requests from usage_daily where agent_id = ${agentId}`;
  expect(row!.requests).toBe(3_000);
  expect(row!.bytes).toBeLessThanOrEqual(2_400);
});

test('daily rollups: an organization whose costs overflow does not block the rollup of others', async () => {
  const { sql } = db();
  const [vast, other] = [newId(), newId()];
  const day = today - DAY;
  const records = [1, 2, 3].flatMap((hour) =>
    [vast, other].map((agentId) => usageRecord({ agentId, startedAtMs: day + hour * HOUR, costNanos: 1_000 })),
  );
  await createIngest(sql).report({ dataPlaneId: 'd', records });
  await sql`update usage_hourly set cost_nanos = '9223372036854775000'::text::bigint where agent_id = ${vast}`;
  await sql`update usage_daily_progress set rolled_until = ${new Date(day)}`;
  await rollups().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await rolledUntil()).toBe(today);
  const [sums] = await sumByProvider(sql, ofAgent(other), { fromMs: day, toMs: today }, false);
  expect(sums!.costNanos).toBe(3_000n);
  expect([await dayRows(vast), await dayRows(other)]).toEqual([1, 1]);
});

test('daily rollups: a day is rolled up an hour after its end, not earlier', async () => {
  await createIngest(db().sql).report({ dataPlaneId: 'd', records: [createRecord(newId(), 1, today - DAY)] });
  await rollups().rollUpFinishedAndLateDays(today + HOUR);
  await rollups().rollUpFinishedAndLateDays(today + DAY + HOUR - 1);
  expect(await rolledUntil()).toBe(today);
  await rollups().rollUpFinishedAndLateDays(today + DAY + HOUR);
  expect(await rolledUntil()).toBe(today + DAY);
});

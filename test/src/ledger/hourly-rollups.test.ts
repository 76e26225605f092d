/** Hourly rollups equal the recorded calls, regardless of late records and of the time of the rollup. */
import { createLogger } from '@acg/base/log';
import { startOfUtcDay } from '@acg/controlplane/ledger/create-usage-day-partitions';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { HourlyDimensionRollups } from '@acg/controlplane/ledger/hourly-dimension-rollups';
import { LatencySketch } from '@acg/controlplane/ledger/latency-sketch';
import { DIMENSIONS } from '@acg/controlplane/reports/query/rollup-selection';
import { loadSketches, sumBreakdown, sumByBucket } from '@acg/controlplane/reports/query/rollup-store';
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
const thisHour = now - (now % HOUR);
const hours = () => new HourlyDimensionRollups(db().sql);
const days = () => new DailyRollups(db().sql, createLogger('test', 'silent'));

interface Tenant {
  readonly orgId: string;
  readonly projectId: string;
  readonly records: IUsageRecord[];
}

/** Creates this many calls over three days, of two agents in two projects. */
async function createTenantWithRecords(count: number): Promise<Tenant> {
  const { sql } = db();
  const orgId = newId();
  await sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  const agents = [await insertAgent(sql, orgId), await insertAgent(sql, orgId)];
  const projects = await Promise.all(
    agents.map(
      async ({ id }) => (await sql<{ p: string }[]>`select project_id as p from agents where id = ${id}`)[0]!.p,
    ),
  );
  const keys = [newId(), newId(), newId()];
  const records = Array.from({ length: count }, (_, i) =>
    usageRecord({
      orgId,
      agentId: agents[i % 2]!.id,
      projectId: projects[i % 2]!,
      keyId: keys[i % 3]!,
      providerSlug: ['openai', 'anthropic'][(i >> 1) % 2]!,
      model: `m${i % 5}`,
      startedAtMs: now - ((i * 7_919_317) % (3 * DAY)),
      durationMs: (i * 37) % 5_000,
      costNanos: i * 1_001,
      responseStatus: i % 5 === 0 ? 500 : 200,
    }),
  );
  return { orgId, projectId: projects[0]!, records };
}

const RANGES = [
  [thisHour - 23 * HOUR, thisHour + HOUR],
  [thisHour - 60 * HOUR, thisHour + HOUR],
  [thisHour - 70 * HOUR, thisHour - 30 * HOUR],
  [thisHour - 5 * HOUR, thisHour - 2 * HOUR],
  [today - 2 * DAY, today],
  [today, today + DAY],
] as const;

/** Everything that reports read of the organization and of its project. */
async function readReports({ orgId, projectId }: Tenant) {
  const { sql } = db();
  const page = { limit: 1_000, offset: 0 };
  const scopes = [null, projectId].map((id) => ({ orgId, projectId: id, agentIds: null }));
  return Promise.all(
    scopes.flatMap((scope) =>
      RANGES.map(async ([fromMs, toMs]) => {
        const range = { fromMs, toMs };
        const by = await Promise.all(
          DIMENSIONS.map((dimension) => sumBreakdown(sql, scope, range, { ...BREAKDOWN, dimension, ...page })),
        );
        const series = await Promise.all(
          (['hour', 'day'] as const).map(async (interval) => {
            const buckets = await sumByBucket(sql, scope, range, interval);
            return [...buckets].sort((a, b) => a.bucket.getTime() - b.bucket.getTime());
          }),
        );
        const { requests, sketches } = await loadSketches(sql, scope, range);
        return { by, series, requests, sketch: LatencySketch.fromBase64(sketches).encode().toString('hex') };
      }),
    ),
  );
}

const rolledUntil = async (): Promise<number> =>
  (await db().sql<{ at: Date }[]>`select rolled_until as at from usage_hourly_progress`)[0]!.at.getTime();

test('hours: reports are the same before, during and after the rollup, including late records', async () => {
  const { sql } = db();
  const [one, copy] = [await createTenantWithRecords(600), await createTenantWithRecords(0)];
  const ingest = createIngest(sql);
  await ingest.report({ dataPlaneId: 'd', records: one.records.slice(0, 400) });
  const first = await readReports(one);
  expect(first[1]!.requests).toBeGreaterThan(200);
  await hours().rollUpFinishedAndLateHours(thisHour - 30 * HOUR);
  expect(await rolledUntil()).toBe(thisHour - 31 * HOUR);
  expect(await readReports(one)).toEqual(first);
  await Promise.all([hours().rollUpFinishedAndLateHours(now), hours().rollUpFinishedAndLateHours(now)]);
  expect(await readReports(one)).toEqual(first);
  await days().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await readReports(one)).toEqual(first);

  await ingest.report({ dataPlaneId: 'd', records: one.records.slice(300) }); // twice what was there, late what was not
  const late = await readReports(one);
  expect(late[1]!.requests).toBeGreaterThan(first[1]!.requests);
  await hours().rollUpFinishedAndLateHours(now);
  expect(await sql`select from usage_late_hours where hour < ${new Date(await rolledUntil())}`).toHaveLength(0);
  expect(await readReports(one)).toEqual(late);
  await days().rollUpFinishedAndLateDays(today + 2 * HOUR);
  expect(await readReports(one)).toEqual(late);
  await sql`update usage_hourly_progress set rolled_until = '-infinity'`;
  expect(await readReports(one)).toEqual(late); // as recorded
  expect((await readReports(copy)).every(({ requests }) => requests === 0)).toBe(true);
});

test("hours: organizations with late records for the same hours and days neither lose nor see each other's", async () => {
  const { sql } = db();
  await sql`update usage_hourly_progress set rolled_until = '-infinity'`;
  const ingest = createIngest(sql);
  const [one, other, third] = [
    await createTenantWithRecords(120),
    await createTenantWithRecords(120),
    await createTenantWithRecords(120),
  ];
  const all = async () => [await readReports(one), await readReports(other), await readReports(third)];
  const book = (from: number, to: number, tenants: readonly Tenant[]) =>
    ingest.report({ dataPlaneId: 'd', records: tenants.flatMap(({ records }) => records.slice(from, to)) });
  const addUp = async () => {
    await hours().rollUpFinishedAndLateHours(now);
    await days().rollUpFinishedAndLateDays(today + 2 * HOUR);
  };
  await book(0, 60, [one, other, third]);
  await addUp();
  const before = await all();
  await book(60, 120, [other]);
  expect((await all())[0]).toEqual(before[0]); // late hours of another organization do not trigger a recount
  await addUp();
  await book(60, 120, [one, third]);
  const late = await all();
  await addUp();
  expect(await all()).toEqual(late);
  for (const table of ['usage_hourly_progress', 'usage_daily_progress']) {
    await sql`update ${sql(table)} set rolled_until = '-infinity'`;
  }
  expect(await all()).toEqual(late); // as recorded
});

test('hours: completed hours are read from rollups, not from the records', async () => {
  const { sql } = db();
  await sql`update usage_hourly_progress set rolled_until = '-infinity'`;
  const one = await createTenantWithRecords(300);
  await createIngest(sql).report({ dataPlaneId: 'd', records: one.records });
  await hours().rollUpFinishedAndLateHours(now);
  const before = await readReports(one);
  await sql`delete from usage_hourly where org_id = ${one.orgId} and hour < ${new Date(await rolledUntil())}`;
  await sql`delete from usage_late where org_id = ${one.orgId}`; // such days would be read from the records
  await sql`update usage_daily_progress set rolled_until = '-infinity'`;
  expect(await readReports(one)).toEqual(before);
  await sql`update usage_hourly set requests = requests + 1 where org_id = ${one.orgId} and hour >= ${new Date(await rolledUntil())}`;
  expect(await readReports(one)).not.toEqual(before); // the last ones are
});

test('hours: concurrent records and rollups lose nothing', async () => {
  const { sql } = db();
  await sql`update usage_hourly_progress set rolled_until = ${new Date(thisHour - 60 * HOUR)}`;
  await sql`delete from usage_hourly_by`;
  const one = await createTenantWithRecords(900);
  const planes = [createIngest(sql), createIngest(sql)];
  const slices = Array.from({ length: 18 }, (_, i) => one.records.slice(i * 50, i * 50 + 50));
  await Promise.all([
    ...slices.map((slice, i) => planes[i % 2]!.report({ dataPlaneId: 'd', records: slice })),
    ...[50, 40, 30, 20, 10, 0].map((ago) => hours().rollUpFinishedAndLateHours(now - ago * HOUR)),
  ]);
  const meanwhile = await readReports(one); // some hours are rolled up, some late, some neither
  await hours().rollUpFinishedAndLateHours(now);
  const rolled = await readReports(one);
  await sql`update usage_hourly_progress set rolled_until = '-infinity'`;
  expect(rolled).toEqual(await readReports(one));
  expect(rolled).toEqual(meanwhile);
});

test('hours: recording does not wait for a rollup', async () => {
  const { sql } = db();
  await sql`update usage_hourly_progress set rolled_until = ${new Date(thisHour)}`;
  const one = await createTenantWithRecords(20);
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('usage_hourly_by'))`;
    await tx`lock table usage_hourly_by, usage_hourly_progress in exclusive mode`;
    await createIngest(sql).report({ dataPlaneId: 'd', records: one.records });
  });
  expect((await readReports(one))[1]!.requests).toBeGreaterThan(0);
});

test('hours: an organization whose costs overflow does not block the rollup of others', async () => {
  const { sql } = db();
  const orgId = newId();
  const hour = thisHour - 3 * HOUR;
  const records = ['a', 'b', 'c'].map((model) => usageRecord({ orgId, model, startedAtMs: hour }));
  await createIngest(sql).report({ dataPlaneId: 'd', records });
  await sql`update usage_hourly set cost_nanos = '9223372036854775000'::text::bigint where org_id = ${orgId}`;
  await sql`update usage_hourly_progress set rolled_until = ${new Date(hour)}`;
  await hours().rollUpFinishedAndLateHours(now);
  const rows = await sql<{ hour: Date }[]>`
    select hour from usage_hourly_by where org_id = ${orgId} and dimension = 'provider'`;
  expect(rows.map((row) => row.hour.getTime())).toEqual([hour]);
});

/** Batch result files whose last new line is old: one row remains, and their lines are no longer recorded. */
import { createLogger } from '@acg/base/log';
import { UsageRetention } from '@acg/controlplane/ledger/usage-retention';
import { beforeEach, expect, test } from 'vitest';
import { holdPostgresLock } from '../fixtures/hold-postgres-lock.js';
import { useTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { createIngest, newId, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const COST = 1_000;
const sweep = () =>
  new UsageRetention(
    db().sql,
    { logs: 90, rejections: 400, rollups: null },
    createLogger('test', 'silent'),
  ).deleteExpiredUsage(Date.now());

beforeEach(async () => {
  await db().sql`truncate booked_files, booked_lines, rejections_hourly`;
});

/** A file of a new organization, unless one is named. */
function createResultFile(orgId = newId(), sourceId: string = newId()) {
  const of = { orgId, agentId: newId(), keyId: newId() };
  const fetch = async (ids: readonly string[], whole = true) => {
    const record = usageRecord({ ...of, costNanos: 0, lined: true });
    const [recordId, startedAtMs] = [record.id!, record.startedAtMs!];
    const lines = ids.map((id) => ({ id, model: 'm', tokensOut: 5, costNanos: COST }));
    const usage = { ...of, recordId, providerSlug: 'openai', sourceId, startedAtMs };
    await createIngest(db().sql).report({
      dataPlaneId: 'd',
      records: [record],
      lines: [whole ? { ...usage, lines } : { ...usage, seen: lines }],
    });
  };
  const spent = async (): Promise<number> => {
    const [row] = await db().sql<{ n: number }[]>`
      select coalesce(sum(spent_nanos), 0)::float8 as n from month_spend where org_id = ${orgId}`;
    return row!.n / COST;
  };
  const age = (days: number) => db().sql`
    update booked_files set last_at = now() - ${days} * interval '1 day' where org_id = ${orgId}`;
  const kept = async () => {
    const lines = await db().sql`select from booked_lines where org_id = ${orgId}`;
    const files = await db().sql<{ closed: boolean }[]>`select closed from booked_files where org_id = ${orgId}`;
    return { lines: lines.length, files: files.map(({ closed }) => closed) };
  };
  return { orgId, sourceId, fetch, spent, age, kept };
}

test('files: 60 days after its last new line a file is one row, and later fetches record nothing', async () => {
  const file = createResultFile();
  await file.fetch(['a', 'b', 'c']);
  await file.fetch(['c', 'd']);
  expect(await file.spent()).toBe(4);
  await file.age(61);
  await sweep();
  expect(await file.kept()).toEqual({ lines: 0, files: [true] });
  for (const lines of [['a', 'b', 'c', 'd'], ['never fetched before'], ['a']]) await file.fetch(lines);
  await file.fetch(['a'], false);
  expect(await file.spent()).toBe(4);
  expect(await file.kept()).toEqual({ lines: 0, files: [true] });
});

test('files: a file with a younger line stays, and its new lines are recorded', async () => {
  const file = createResultFile();
  await file.fetch(['a', 'b']);
  await file.age(59);
  await sweep();
  expect(await file.kept()).toEqual({ lines: 2, files: [false] });
  await file.fetch(['a', 'b', 'c']);
  expect(await file.spent()).toBe(3);
  await sweep(); // the new line restarts the 60 days
  await db().sql`update booked_files set last_at = last_at - interval '59 days'`;
  await sweep();
  expect(await file.kept()).toEqual({ lines: 3, files: [false] });
});

test('files: fetching recorded lines again does not keep a file open', async () => {
  const file = createResultFile();
  await file.fetch(['a']);
  await file.age(61);
  await file.fetch(['a']);
  await sweep();
  expect(await file.kept()).toEqual({ lines: 0, files: [true] });
});

test('files: of two organizations, providers or files each is closed by itself', async () => {
  const old = createResultFile();
  const [sameFile, sameOrg] = [createResultFile(newId(), old.sourceId), createResultFile(old.orgId)];
  for (const file of [old, sameFile]) await file.fetch(['a']);
  await old.age(61);
  await sameOrg.fetch(['a']);
  await sweep();
  expect(await sameFile.kept()).toEqual({ lines: 1, files: [false] });
  expect((await old.kept()).files.sort()).toEqual([false, true]);
  expect((await old.kept()).lines).toBe(1);
  await old.fetch(['b']);
  await sameFile.fetch(['b']);
  await sameOrg.fetch(['b']);
  expect([await sameFile.spent(), await old.spent()]).toEqual([2, 3]);
});

test('files: a file that is being recorded is not closed, and recording waits for a file that is being closed', async () => {
  const file = createResultFile();
  await file.fetch(['a']);
  await file.age(61);
  const release = await holdPostgresLock(
    db().sql,
    (tx) => tx`select from booked_files where org_id = ${file.orgId} for no key update`,
  );
  await sweep();
  expect(await file.kept()).toEqual({ lines: 1, files: [false] });
  await release();
  // Closes the file as the sweep does, held before its commit.
  const commit = await holdPostgresLock(db().sql, async (tx) => {
    await tx`update booked_files set closed = true where org_id = ${file.orgId}`;
    return tx`delete from booked_lines where org_id = ${file.orgId}`;
  });
  const booking = file.fetch(['a', 'b']);
  await waitUntil('the booking waits', async () => {
    const waiting = await db().sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return waiting.length > 0;
  });
  await commit();
  await booking;
  expect(await file.spent()).toBe(1);
});

test('files: lines from before the upgrade and background responses stay and are recorded once', async () => {
  const file = createResultFile();
  await file.fetch(['a', '']);
  expect((await file.kept()).lines).toBe(2);
  await db().sql`update booked_lines set source = null`;
  await file.fetch(['a', 'b', '']);
  expect(await file.spent()).toBe(3);
  await file.age(61);
  await sweep();
  expect(await file.kept()).toEqual({ lines: 2, files: [true] });
  await file.fetch(['a', 'b', 'c', '']);
  expect(await file.spent()).toBe(3);
});

test('files: the index on the lines of a file exists after a sweep, even if its creation was interrupted', async () => {
  const valid = () =>
    db().sql`select indisvalid as ok from pg_index where indexrelid = to_regclass('booked_lines_source')`;
  await sweep();
  expect(await valid()).toEqual([{ ok: true }]);
  await db().sql`update pg_index set indisvalid = false where indexrelid = to_regclass('booked_lines_source')`;
  await sweep();
  expect(await valid()).toEqual([{ ok: true }]);
});

test('retention: expired hours of rejections are deleted for every organization, in any number', async () => {
  const { sql } = db();
  const [first, second] = [newId(), newId()];
  await sql`
    insert into rejections_hourly (agent_id, provider_slug, reason, hour, org_id, count)
    select gen_random_uuid(), 'openai', 'rpm', date_trunc('day', now(), 'UTC') - age * interval '1 hour', org_id::uuid, 1
      from unnest(array[400 * 24, 400 * 24 + 1, 24, 0]) age, unnest(array[${first}, ${second}]) org_id,
           generate_series(1, 1500)`;
  await sweep();
  const left = await sql`
    select org_id as "orgId", count(*)::int as rows from rejections_hourly group by org_id order by org_id`;
  expect([...left]).toEqual([first, second].sort().map((orgId) => ({ orgId, rows: 4_500 })));
});

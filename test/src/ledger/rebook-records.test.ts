/** Quarantined records are booked again by the command once: those of a wrong clock at the time of their arrival. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, usageRecord } from './usage-fixture.js';

const database = useTestDatabase();
const COMMAND = fileURLToPath(new URL('../../../controlplane/dist/rebook-records/main.js', import.meta.url));

function run(...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: database().url.reveal() };
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

const quarantined = async (): Promise<readonly string[]> =>
  (await database().sql<{ id: string }[]>`select id from poison_records order by id`).map(({ id }) => id);

test('rebook: records of a clock that was ahead are booked once, at their arrival; what is invalid stays', async () => {
  const { sql } = database();
  const ingest = createIngest(sql);
  const orgId = randomUUID();
  const ahead = usageRecord({ orgId, startedAtMs: Date.now() + 3 * DAY_MS, month: '2031-01', costNanos: 7 });
  const old = usageRecord({ orgId, startedAtMs: Date.now() - 400 * DAY_MS });
  const other = usageRecord({ orgId: randomUUID(), startedAtMs: Date.now() + 3 * DAY_MS });
  const report = await ingest.report({ dataPlaneId: 'plane-1', records: [ahead, old, other] });
  expect(report.rejected).toHaveLength(3);

  expect(run('--dry-run', '--organization', orgId)).toMatchObject({ status: 0, stdout: 'to book: 2\n' });
  expect(await quarantined()).toHaveLength(3);
  const first = run('--organization', orgId);
  expect(first).toMatchObject({ status: 65, stdout: 'booked: 1\n' });
  expect(first.stderr).toBe('rebook-records: left 1: started_at_ms is older than the retention of logs\n');
  expect(await quarantined()).toEqual([old.id, other.id].sort());
  const [row] = await sql<{ ageMs: number; cost: number }[]>`
    select (extract(epoch from now() - started_at) * 1000)::bigint as "ageMs", cost_nanos as cost
      from usage_records where id = ${ahead.id!}`;
  expect(row!.cost).toBe(7);
  expect(Math.abs(row!.ageMs)).toBeLessThan(HOUR_MS);
  const [spend] = await sql<{ month: string; nanos: number }[]>`
    select month, sum(spent_nanos)::bigint as nanos from scope_spend_slots where scope_id = ${orgId} group by month`;
  expect(spend).toEqual({ month: new Date().toISOString().slice(0, 7), nanos: 7 });

  // The data plane sends it again with its wrong time: it is quarantined again, and booking it again adds nothing.
  await ingest.report({ dataPlaneId: 'plane-1', records: [ahead] });
  expect(run('--data-plane', 'plane-1', '--organization', orgId).status).toBe(65);
  const [after] = await sql<{ nanos: number }[]>`
    select sum(spent_nanos)::bigint as nanos from month_spend where org_id = ${orgId}`;
  expect(after!.nanos).toBe(7);
});

test('rebook: usage of organizations that the data plane was not given needs --ungranted', async () => {
  const { sql } = database();
  await sql`delete from poison_records`;
  const record = usageRecord({ orgId: randomUUID() });
  await sql`insert into poison_records (id, data_plane_id, reason, record)
            values (${record.id!}, 'plane-2', 'the data plane was given no context of the organization',
                    ${sql.json(JSON.parse(JSON.stringify(record)))})`;
  expect(run()).toMatchObject({ status: 0, stdout: 'booked: 0\n' });
  expect(run('--ungranted')).toMatchObject({ status: 0, stdout: 'booked: 1\n' });
  expect(await quarantined()).toEqual([]);
  for (const args of [['--org'], ['--organization', 'x'], ['--data-plane']]) expect(run(...args).status).toBe(64);
});

/** Sizes of the tables as `/metrics` reports them. */
import { Metrics } from '@acg/controlplane/ops/metrics';
import { TableSizes } from '@acg/controlplane/ops/table-sizes';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';

const database = useTestDatabase();

test('table sizes: one value for each table, the partitions of the logs are one table, and growth shows', async () => {
  const { sql } = database();
  for (const day of ['20260101', '20260102'])
    await sql.unsafe(`create table usage_records_${day} (like usage_records including all)`);
  const { registry } = new Metrics('test');
  const sizes = new TableSizes(sql, registry);
  const read = async (): Promise<Record<string, number>> => {
    await sizes.update();
    const { values } = await registry.getSingleMetric('gateway_table_bytes')!.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.table, value]));
  };
  const before = await read();
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['usage_records', 'usage_daily', 'audit_entries']));
  expect(Object.keys(before).filter((name) => /\d{8}/.test(name))).toEqual([]);
  await sql`insert into throttle_windows (key, count, expires_at)
            select n::text, 1, now() from generate_series(1, 5000) n`;
  expect((await read()).throttle_windows).toBeGreaterThan(before.throttle_windows! + 100_000);
});

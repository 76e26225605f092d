/** The wait for a free database connection, as `/metrics` reports it while a pool is busy and afterwards. */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { Metrics } from '@acg/controlplane/ops/metrics';
import { PoolProbes } from '@acg/controlplane/ops/pool-probes';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { waitUntil } from '../fixtures/wait-until.js';

const database = useTestDatabase();

test('pool probes: a pool without a free connection shows the age of its probe, then how long it took', async () => {
  const sql = openPool(database().url, { connectionsMax: 1, applicationName: 'probed' });
  const { registry } = new Metrics('test');
  const probes = new PoolProbes({ busy: sql, free: database().sql }, registry);
  const read = async (pool: string): Promise<number> => {
    const { values } = await registry.getSingleMetric('gateway_database_pool_wait_seconds')!.get();
    return values.find(({ labels }) => labels.pool === pool)!.value;
  };
  try {
    const held = await sql.reserve();
    const probe = probes.probe('busy');
    await probes.probe('free');
    const free = await read('free');
    await waitUntil(
      'the age of the waiting probe passes that of the free pool',
      async () => (await read('busy')) > free,
    );
    expect(await read('free')).toBe(free);
    held.release();
    await probe;
    const waited = await read('busy');
    expect(waited).toBeGreaterThan(free);
    await probes.probe('busy');
    expect(await read('busy')).toBeLessThan(waited);
    await sql.end({ timeout: 1 });
    await probes.probe('busy'); // an unreachable database is no unhandled rejection
  } finally {
    await sql.end({ timeout: 1 });
  }
});

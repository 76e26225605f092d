import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';

const home = mkdtempSync(join(tmpdir(), 'acg-restart-'));
let cluster: PostgresCluster | null = null;
afterAll(async () => {
  await cluster?.stop();
  rmSync(home, { recursive: true, force: true });
});

test('postgres: starts again after a kill -9 although a process of the old server is still busy', async () => {
  chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
  const options = {
    binaries: findPostgresBinaries(),
    directory: join(home, 'cluster'),
    password: 'test-only-password',
    logFile: join(home, 'postgres.log'),
    port: 0,
    settings: [],
  };
  cluster = await PostgresCluster.start(options);
  const sql = postgres(cluster.url('postgres'), { max: 2, onnotice: () => {} });
  // Counts without waiting for anything, so it does not notice that its server has stopped.
  const busy = sql`select count(*) from generate_series(1, 20000000)`.catch((error: Error) => error);
  await waitUntil('the query runs', async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity where state = 'active' and query like '%generate_series(1, 2%'
         and pid <> pg_backend_pid()`;
    return row!.n === 1;
  });
  process.kill(cluster.pid, 'SIGKILL');
  await cluster.exited;
  cluster = await PostgresCluster.start({ ...options, port: cluster.port });
  const again = postgres(cluster.url('postgres'), { max: 1, onnotice: () => {} });
  expect(await again`select 1 as one`).toEqual([{ one: 1 }]);
  await again.end();
  await busy;
  await sql.end({ timeout: 1 });
});

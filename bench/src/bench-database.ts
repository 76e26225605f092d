/** The bench's own Postgres: embedded binaries, a new cluster in a temporary directory, one empty database. */
import { randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import { atTeardown, temporaryDirectory } from './teardown.js';

interface BenchDatabase {
  readonly url: Secret;
  /** Pid of the server itself; its backends are its children. */
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startBenchDatabase(settings: readonly string[]): Promise<BenchDatabase> {
  const home = temporaryDirectory();
  chmodSync(home, 0o711); // the server runs as another user than root
  const cluster = await PostgresCluster.start({
    binaries: findPostgresBinaries(),
    directory: join(home, 'cluster'),
    password: randomBytes(12).toString('hex'),
    logFile: join(home, 'postgres.log'),
    port: 0,
    settings,
  });
  const stop = atTeardown(() => cluster.stop());
  await cluster.createDatabase('bench');
  return { url: new Secret(cluster.url('bench')), pid: cluster.pid, stop };
}

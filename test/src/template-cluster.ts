/** A real Postgres with one migrated template database, for as long as the tests run. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { migrate } from '@acg/controlplane/db/migrate';
import { openSql } from '@acg/controlplane/db/sql';
import { findBinaries } from '@acg/singlenode/postgres/binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/cluster';

export const TEMPLATE_DATABASE = 'template_gateway';

interface TemplateCluster {
  /** Superuser URL of the database `postgres`. */
  readonly serverUrl: string;
  stop(): Promise<void>;
}

export async function startTemplateCluster(): Promise<TemplateCluster> {
  const home = mkdtempSync(join(tmpdir(), 'acg-test-postgres-'));
  const binaries = findBinaries();
  chmodSync(home, 0o711); // the user that runs Postgres must be able to enter
  const cluster = await PostgresCluster.start({
    binaries,
    directory: join(home, 'cluster'),
    password: 'test-only-password',
    logFile: join(home, 'postgres.log'),
    port: 0,
    settings: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'],
  });
  await cluster.createDatabase(TEMPLATE_DATABASE);
  const sql = openSql(new Secret(cluster.url(TEMPLATE_DATABASE)), { connectionsMax: 1, applicationName: 'template' });
  await migrate(sql);
  await sql.end();
  return {
    serverUrl: cluster.url('postgres'),
    async stop() {
      await cluster.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

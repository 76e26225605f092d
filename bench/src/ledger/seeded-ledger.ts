/**
 * The seeded ledger that the scenarios share: an embedded Postgres with the settings of `npm start` and the whole
 * gateway on it. A given directory keeps it between runs, because seeding 10 million rows takes minutes. Without one it
 * is stored in a temporary directory and deleted after the run.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createLogger } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { openPool, type Sql } from '@acg/controlplane/db/postgres-client';
import { DailyRollups } from '@acg/controlplane/ledger/daily-rollups';
import { HourlyDimensionRollups } from '@acg/controlplane/ledger/hourly-dimension-rollups';
import { LogSearchIndexes, partitionsWithoutSearchIndex } from '@acg/controlplane/ledger/log-search-index';
import { TagDailyRollups } from '@acg/controlplane/ledger/tag-daily-rollups';
import { EMBEDDED_SETTINGS } from '@acg/singlenode/embedded-database';
import { findPostgresBinaries } from '@acg/singlenode/postgres/postgres-binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/postgres-cluster';
import { Stack } from '@acg/test/fixtures/stack';
import type { IngestTarget } from './ingest-rate.js';
import { type Seeded, seedLedger } from './seed.js';
import type { ApiTarget } from './usage-request-times.js';

const DATABASE = 'bench';

/** Values that must be the same at the next start, stored beside the cluster. */
interface Notes {
  readonly password: string;
  readonly secrets: { readonly MASTER_KEYS: string; readonly JWT_SECRET: string };
  readonly tenant?: { readonly session: string; readonly orgId: string };
  readonly seeded?: Seeded;
}

export class SeededLedger {
  private constructor(
    readonly stack: Stack,
    readonly cluster: PostgresCluster,
    readonly session: string,
    readonly orgId: string,
    readonly seeded: Seeded,
    /** Removes temporary files. */
    readonly cleanUp: () => void,
  ) {}

  /** `directory` null: temporary. A kept ledger must have been seeded with that number of rows. */
  static async open(rows: number, directory: string | null): Promise<SeededLedger> {
    const home = directory === null ? mkdtempSync(join(tmpdir(), 'acg-bench-ledger-')) : resolve(directory);
    mkdirSync(home, { recursive: true });
    chmodSync(home, 0o711);
    const file = join(home, 'ledger.json');
    const notes: Notes = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Notes) : newNotes();
    const write = (next: Notes): void => writeFileSync(file, JSON.stringify(next), { mode: 0o600 });
    write(notes);
    const cluster = await PostgresCluster.start({
      binaries: findPostgresBinaries(),
      directory: join(home, 'cluster'),
      password: notes.password,
      logFile: join(home, 'postgres.log'),
      port: 0,
      settings: EMBEDDED_SETTINGS,
    });
    await cluster.createDatabase(DATABASE);
    const url = new Secret(cluster.url(DATABASE));
    const env = { LOG_LEVEL: 'warn', ...notes.secrets };
    const stack = await Stack.start({ database: { url, drop: () => cluster.stop() }, env });
    const cleanUp = (): void => (directory === null ? rmSync(home, { recursive: true, force: true }) : undefined);
    if (notes.seeded !== undefined && notes.tenant !== undefined) {
      const { seeded, tenant } = notes;
      if (seeded.wanted === rows) await closeDays(url);
      if (seeded.wanted === rows)
        return new SeededLedger(stack, cluster, tenant.session, tenant.orgId, seeded, cleanUp);
      await stack.stop();
      throw new Error(`${home} was seeded with ${seeded.wanted} rows, not ${rows}`);
    }
    const tenant = await stack.signUpTenant();
    const startMs = performance.now();
    const sql = openPool(url, { connectionsMax: 4, applicationName: 'bench' });
    const seeded = await seedLedger(sql, tenant, rows);
    await sql.end();
    await closeDays(url);
    console.log(`seeded ${seeded.rows} rows in ${Math.round((performance.now() - startMs) / 1_000)} s`);
    write({ ...notes, tenant: { session: tenant.session, orgId: tenant.orgId }, seeded });
    return new SeededLedger(stack, cluster, tenant.session, tenant.orgId, seeded, cleanUp);
  }

  get api(): ApiTarget {
    const pids = [this.stack.controlPlane.pid, this.cluster.pid];
    return { url: this.stack.apiUrl, session: this.session, pids };
  }

  get ingest(): IngestTarget {
    return {
      grpcPort: this.stack.grpcPort,
      internalToken: this.stack.controlPlane.env.INTERNAL_TOKEN!,
      controlPid: this.stack.controlPlane.pid,
      postgresPid: this.cluster.pid,
      orgId: this.orgId,
      agentIds: this.seeded.agentIds,
    };
  }

  /** Runs `work` on the database directly, without a timeout. */
  async withSql<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = openPool(new Secret(this.cluster.url(DATABASE)), { connectionsMax: 1, applicationName: 'bench' });
    try {
      await sql`set statement_timeout = 0`;
      return await work(sql);
    } finally {
      await sql.end({ timeout: 5 }); // the object of a COPY never settles
    }
  }

  /** Starts a new control plane. */
  async freshControl(): Promise<void> {
    await this.stack.controlPlane.stop();
    await this.stack.startControlPlane();
  }

  async close(): Promise<void> {
    await this.stack.stop();
    this.cleanUp();
  }
}

/** Runs the tasks of the control plane at the end of a day, for the 90 seeded days. */
async function closeDays(url: Secret): Promise<void> {
  const sql = openPool(url, { connectionsMax: 4, applicationName: 'bench' });
  const log = createLogger('bench', 'silent');
  const startMs = performance.now();
  await new HourlyDimensionRollups(sql).rollUpFinishedAndLateHours(Date.now());
  await new DailyRollups(sql, log).rollUpFinishedAndLateDays(Date.now());
  await new TagDailyRollups(sql).rollUpFinishedAndLateDays(Date.now());
  const rolledMs = performance.now();
  let left = await partitionsWithoutSearchIndex(sql, Date.now());
  const days = left.length;
  for (; left.length > 0; left = await partitionsWithoutSearchIndex(sql, Date.now())) {
    await new LogSearchIndexes(sql, log).createMissingIndexes(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 500)); // the control plane itself may be doing it
  }
  await sql.end();
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  console.log(
    `hours and days rolled up in ${seconds(rolledMs - startMs)} s, ${days} indexed in ${seconds(performance.now() - rolledMs)} s`,
  );
}

function newNotes(): Notes {
  const secrets = {
    MASTER_KEYS: `bench:${randomBytes(32).toString('base64')}`,
    JWT_SECRET: randomBytes(32).toString('hex'),
  };
  return { password: randomBytes(12).toString('hex'), secrets };
}

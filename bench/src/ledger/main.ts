/**
 * `npm run bench:ledger [rows]`: seeds the ledger by SQL (default 10 000 000 rows over 90 days and 200 agents, one of
 * which has a tenth), then measures ingest over gRPC, the usage answers over HTTP, and the memory of an export.
 * Embedded Postgres with the settings of `npm start`, loopback only; needs about 6 GiB of disk while it runs.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@acg/base/secret';
import { openSql } from '@acg/controlplane/db/sql';
import { EMBEDDED_SETTINGS } from '@acg/singlenode/embedded-database';
import { findBinaries } from '@acg/singlenode/postgres/binaries';
import { PostgresCluster } from '@acg/singlenode/postgres/cluster';
import { Stack } from '@acg/test/stack';
import { machine, writeReport } from '../report.js';
import { measureExport } from './export-memory.js';
import { measureIngest } from './ingest-load.js';
import { type ApiTarget, type QueryTime, timeQuery } from './query-times.js';
import { type Seeded, seedLedger } from './seed.js';

const rows = Number(process.argv[2] ?? 10_000_000);
if (!Number.isInteger(rows) || rows < 1_000) {
  console.error('rows must be a whole number of at least 1000');
  process.exit(64);
}
const INGEST_RECORDS = 200_000;
const INGEST_BATCH = 2_000;
const QUERIES = 100;

console.log('machine', machine());
const home = mkdtempSync(join(tmpdir(), 'acg-bench-ledger-'));
chmodSync(home, 0o711);
const cluster = await PostgresCluster.start({
  binaries: findBinaries(),
  directory: join(home, 'cluster'),
  password: randomBytes(12).toString('hex'),
  logFile: join(home, 'postgres.log'),
  port: 0,
  settings: EMBEDDED_SETTINGS,
});
await cluster.createDatabase('bench');
const url = new Secret(cluster.url('bench'));
const stack = await Stack.start({ database: { url, drop: () => cluster.stop() }, env: { LOG_LEVEL: 'warn' } });
const figures: Record<string, unknown> = {};
try {
  const tenant = await stack.tenant();
  const sql = openSql(url, { connectionsMax: 4, applicationName: 'bench' });
  const startMs = performance.now();
  const seeded = await seedLedger(sql, tenant, rows);
  await sql.end();
  console.log(`seeded ${seeded.rows} rows in ${Math.round((performance.now() - startMs) / 1_000)} s`);
  const target: ApiTarget = { url: stack.apiUrl, session: tenant.session };
  figures.queries = await queries(target, seeded);
  console.table(figures.queries);
  figures.export = [
    await measureExport(target, seeded.busyAgentId, 'csv', stack.control.pid),
    await measureExport(target, seeded.busyAgentId, 'json', stack.control.pid),
  ];
  console.table(figures.export);
  const ingest = {
    grpcPort: stack.grpcPort,
    internalToken: stack.control.env.INTERNAL_TOKEN!,
    controlPid: stack.control.pid,
    postgresPid: cluster.pid,
    orgId: tenant.orgId,
    agentIds: seeded.agentIds,
  };
  await measureIngest(ingest, INGEST_RECORDS / 10, INGEST_BATCH); // warm
  figures.ingest = [await measureIngest(ingest, INGEST_RECORDS, INGEST_BATCH), await measureIngest(ingest, 20_000, 50)];
  console.table(figures.ingest);
} finally {
  await stack.stop();
  rmSync(home, { recursive: true, force: true });
}
for (const path of writeReport('ledger', { rows, ...figures }, [])) console.log('written:', path);

async function queries(target: ApiTarget, { busyAgentId, agentIds }: Seeded): Promise<QueryTime[]> {
  const ordinary = agentIds.slice(1, 21);
  const times: QueryTime[] = [];
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const span = `start=${day(89)}&end=${day(0)}`;
  const ask = async (path: string) => {
    const of = (id: string): string => `/v1/usage/agents/${id}${path}`;
    times.push(await timeQuery(target, `busy agent ${path}`, [of(busyAgentId)], QUERIES));
    times.push(await timeQuery(target, `ordinary agent ${path}`, ordinary.map(of), QUERIES));
  };
  for (const period of ['24h', '7d', '30d', '90d']) await ask(`/summary?period=${period}`);
  for (const part of ['period=24h', 'period=7d', 'period=90d', 'period=90d&interval=hour'])
    await ask(`/timeseries?${part}`);
  for (const period of ['24h', '90d']) await ask(`/providers?period=${period}`);
  await ask(`?${span}`);
  for (const filter of [
    '',
    '&provider=resend',
    '&statusMin=500',
    '&search=timeout',
    '&search=completions',
    '&search=nowhere',
  ]) {
    await ask(`/logs?${span}${filter}`);
  }
  const compared = agentIds.slice(0, 20).join();
  times.push(
    await timeQuery(target, 'compare 20, 30d', [`/v1/usage/agents/compare?agentIds=${compared}&period=30d`], 30),
  );
  return times;
}

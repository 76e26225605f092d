/**
 * References of the ledger: rows copied into one plain table of the same Postgres, and the queries of the reports in
 * DuckDB over all exported calls. Neither handles tenants, late records, repeated usage batches or budgets.
 */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import type { Sql } from '@acg/controlplane/db/postgres-client';
import { treeCpuUs } from '../process-usage.js';
import { installReferencePackage, packageDirectory } from '../references/install-reference-package.js';
import { percentile } from '../statistics.js';

const DUCKDB = { name: '@duckdb/node-api', version: '1.5.6-r.1' };
const COPIED_ROWS = 200_000;
const TIMES = 30;

interface Connection {
  run(sql: string): Promise<unknown>;
  runAndReadAll(sql: string): Promise<unknown>;
}

interface Duck {
  readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
}

interface CopyFigures {
  readonly records: number;
  readonly recordsPerSecond: number;
  readonly postgresCpuUsPerRecord: number;
}

export async function measurePlainTable(sql: Sql, postgresPid: number): Promise<CopyFigures> {
  const from =
    await sql`copy (select * from usage_records limit ${sql.unsafe(String(COPIED_ROWS))}) to stdout`.readable();
  const pieces: Buffer[] = [];
  for await (const piece of from) pieces.push(piece as Buffer);
  await sql`create table bench_copy (like usage_records, primary key (started_at, id))`;
  try {
    const cpuUs = treeCpuUs(postgresPid);
    const startMs = performance.now();
    await pipeline(pieces, await sql`copy bench_copy from stdin`.writable());
    const seconds = (performance.now() - startMs) / 1_000;
    const [{ n }] = (await sql`select count(*)::integer as n from bench_copy`) as unknown as [{ n: number }];
    return {
      records: n,
      recordsPerSecond: Math.round(n / seconds),
      postgresCpuUsPerRecord: Math.round((10 * (treeCpuUs(postgresPid) - cpuUs)) / n) / 10,
    };
  } finally {
    await sql`drop table bench_copy`;
  }
}

const SUMS = `count(*), count(*) filter (where status >= 400), sum(tokens_in_uncached + tokens_cache_read), sum(tokens_out),
  sum(cost_nanos), approx_quantile(duration_ms, 0.95)`;
const DAYS_90 = "started_at >= now()::timestamp - interval '90 days'";

/** The reports of a whole organization over 90 days, and a page of its calls. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'summary, 90d': `select ${SUMS} from calls where ${DAYS_90}`,
  'series by day, 90d': `select date_trunc('day', started_at), ${SUMS} from calls where ${DAYS_90} group by 1 order by 1`,
  ...Object.fromEntries(
    ['model', 'key_id', 'agent_id', 'provider_slug'].map((by) => [
      `by ${by}, 90d`,
      `select ${by}, ${SUMS} from calls where ${DAYS_90} group by 1 order by sum(cost_nanos) desc limit 100`,
    ]),
  ),
  'newest 50 calls': 'select * from calls order by started_at desc, id desc limit 50',
  'calls with status 418': 'select * from calls where status = 418 order by started_at desc, id desc limit 50',
  'calls that contain nowhere': `select * from calls where path ilike '%nowhere%' or model ilike '%nowhere%'
    or error ilike '%nowhere%' order by started_at desc, id desc limit 50`,
};

interface DuckFigure {
  readonly query: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Returns the reason when DuckDB could not be installed. */
export async function measureDuckDb(sql: Sql): Promise<readonly DuckFigure[] | { readonly skipped: string }> {
  const problem = await installReferencePackage(DUCKDB.name, DUCKDB.version);
  if (problem !== null) return { skipped: problem };
  const directory = mkdtempSync(join(tmpdir(), 'acg-bench-duck-'));
  try {
    const file = join(directory, 'calls.csv');
    await pipeline(
      await sql`copy (select * from usage_records) to stdout (format csv, header)`.readable(),
      createWriteStream(file),
    );
    const duck = (await import(pathToFileURL(join(packageDirectory(DUCKDB.name), 'lib', 'index.js')).href)) as Duck;
    const connection = await (await duck.DuckDBInstance.create(join(directory, 'calls.duckdb'))).connect();
    await connection.run(`create table calls as select * from read_csv('${file}')`);
    rmSync(file);
    const figures: DuckFigure[] = [];
    for (const [query, text] of Object.entries(QUESTIONS)) {
      await connection.runAndReadAll(text);
      const samples: number[] = [];
      for (let i = 0; i < TIMES; i++) {
        const startMs = performance.now();
        await connection.runAndReadAll(text);
        samples.push(performance.now() - startMs);
      }
      const rounded = (p: number) => Math.round(10 * percentile(samples, p)) / 10;
      figures.push({ query, p50Ms: rounded(50), p95Ms: rounded(95) });
    }
    return figures;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

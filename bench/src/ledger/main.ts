/**
 * `npm run bench:ledger -- [rows] [--keep=DIR] [--only=queries,dashboard,export,ingest,reference,paint]`: seeds the
 * ledger by SQL (default 10 000 000 rows over 90 days and 200 agents, one of which has a tenth). Then measures usage
 * requests over HTTP, the memory of an export of the busy agent's rows, ingest over gRPC, and references. Embedded
 * Postgres with the settings of `npm start`, loopback only. Only when named: `paint` measures the dashboard in
 * chromium-headless-shell, `tags` reports by tag, `ingest-tags` ingest with and without tags. Needs about 6 GiB of disk during the run, and afterwards if `--keep` names a directory.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { machine, writeReport } from '../report.js';
import { measureDrawTimesInChromium } from './dashboard-draw-times-in-chromium.js';
import { timeDashboard } from './dashboard-request-times.js';
import { measureExport } from './export-memory.js';
import { measureIngest } from './ingest-rate.js';
import { measureDuckDb, measurePlainTable } from './reference-plain-table-and-duckdb.js';
import { SeededLedger } from './seeded-ledger.js';
import { timeTagRequests, timeUsageRequests } from './usage-request-times.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { keep: { type: 'string' }, only: { type: 'string', default: 'queries,dashboard,export,ingest,reference' } },
});
const rows = Number(positionals[0] ?? 10_000_000);
if (!Number.isInteger(rows) || rows < 1_000) {
  console.error('rows must be a whole number of at least 1000');
  process.exit(64);
}
const wanted = new Set(values.only.split(','));
const INGEST_RECORDS = 200_000;
const INGEST_BATCH = 2_000;
const TAG_TURNS = 5;
const SMALL_RECORDS = 20_000;
const SMALL_BATCH = 50;
const SLOW_BYTES_PER_SECOND = 4 * 2 ** 20;
const SLOW_SECONDS = 20;

console.log('machine', machine());
const ledger = await SeededLedger.open(rows, values.keep ?? null);
const figures: Record<string, unknown> = {};
async function phase(name: string, measure: () => Promise<unknown>): Promise<void> {
  if (!wanted.has(name)) return;
  console.log(`${name}: load average before`, loadavg()[0]!.toFixed(2));
  figures[name] = await measure();
  console.table(figures[name]);
}
try {
  await phase('queries', () => timeUsageRequests(ledger.api, ledger.seeded));
  await phase('tags', () => timeTagRequests(ledger.api, ledger.seeded));
  await phase('paint', async () => {
    await ledger.freshControl();
    return measureDrawTimesInChromium(ledger.api, ledger.seeded.busyAgentId);
  });
  await phase('dashboard', async () => {
    const { screens, requests } = await timeDashboard(ledger.api, ledger.seeded);
    console.table(requests);
    figures.dashboardRequests = requests;
    return screens;
  });
  await phase('export', async () => {
    const { busyAgentId } = ledger.seeded;
    const exported = async (format: 'csv' | 'json', slow = false) => {
      const pace = slow ? { bytesPerSecond: SLOW_BYTES_PER_SECOND, seconds: SLOW_SECONDS } : null;
      return measureExport(ledger.api, busyAgentId, format, ledger.stack.controlPlane.pid, pace);
    };
    const runs = [];
    for (const format of ['csv', 'json'] as const) {
      await ledger.freshControl();
      runs.push({ process: 'fresh', ...(await exported(format)) }, { process: 'used', ...(await exported(format)) });
    }
    await ledger.freshControl();
    runs.push({ process: 'fresh, slow reader', ...(await exported('csv', true)) });
    return runs;
  });
  await phase('ingest', async () => {
    await measureIngest(ledger.ingest, INGEST_RECORDS / 10, INGEST_BATCH); // warm
    return [
      await measureIngest(ledger.ingest, INGEST_RECORDS, INGEST_BATCH),
      await measureIngest(ledger.ingest, SMALL_RECORDS, SMALL_BATCH),
    ];
  });
  // By turns, so that the load of the machine falls on both.
  await phase('ingest-tags', async () => {
    const turns = [];
    for (let turn = 0; turn < TAG_TURNS; turn++)
      for (const tags of [false, true])
        turns.push({ tags, ...(await measureIngest(ledger.ingest, INGEST_RECORDS / TAG_TURNS, INGEST_BATCH, tags)) });
    return turns;
  });
  await phase('reference', () =>
    ledger.withSql(async (sql) => [
      await measurePlainTable(sql, ledger.cluster.pid),
      ...[await measureDuckDb(sql)].flat(),
    ]),
  );
} finally {
  await ledger.close();
}
for (const path of writeReport('ledger', { rows, ...figures }, [])) console.log('written:', path);

/**
 * `node bench/dist/breaker-counting-cost.js`: the cost of 15 000 usage records per second for the breaker board of one control
 * plane. Measures CPU of this process and of Postgres for 10 s of traffic of 1 000 organizations over six providers,
 * once healthy and once with 1 % failures. Loopback only.
 */
import { randomUUID } from 'node:crypto';
import { createLogger } from '@acg/base/log';
import { BreakerTransitionWriter } from '@acg/controlplane/breaker/breaker-transition-writer';
import { OrgBreakers } from '@acg/controlplane/breaker/org-breakers';
import { migrate } from '@acg/controlplane/db/migrate';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { startBenchDatabase } from './bench-database.js';
import { treeCpuUs } from './process-usage.js';
import { machine } from './report.js';
import { tearDown, tearDownOnSignals } from './teardown.js';

const RECORDS_PER_SECOND = 15_000;
const BATCH_MS = 50;
const SECONDS = 10;
const ORGS = Array.from({ length: 1_000 }, () => randomUUID());
const AGENT = randomUUID();
const ORIGINS = ['openai', 'anthropic', 'supabase', 'vercel', 'resend', 's3'].map(
  (slug) => `${slug}|https://${slug}.test`,
);

tearDownOnSignals();
const database = await startBenchDatabase(['max_connections=50']);
const sql = openPool(database.url, { connectionsMax: 4, applicationName: 'bench' });
await migrate(sql);
await sql`insert into organizations (id, name, slug) select id::uuid, 'O', id from unnest(${ORGS}::text[]) id`;
const log = createLogger('bench', 'warn');
const rules = { windowMs: 30_000, requestsMin: 20, errorRate: 0.5, cooldownMs: 30_000, probes: 5 };

const outcome = (failureRate: number, nowMs: number) => ({
  circuitEpoch: 0,
  circuitOutcome: Math.random() < failureRate ? 2 : 1,
  probeLease: '',
  startedAtMs: nowMs - 200,
  durationMs: 200,
});

async function run(failureRate: number) {
  const board = new OrgBreakers(sql, new BreakerTransitionWriter(rules, log));
  board.start();
  const cpuBefore = process.cpuUsage();
  const postgresBefore = treeCpuUs(database.pid);
  let observeMs = 0;
  const perBatch = (RECORDS_PER_SECOND * BATCH_MS) / 1_000;
  for (let i = 0; i < (SECONDS * 1_000) / BATCH_MS; i++) {
    const nowMs = Date.now();
    const records = Array.from({ length: perBatch }, () => {
      const orgId = ORGS[Math.floor(Math.random() * ORGS.length)]!;
      const origin = ORIGINS[Math.floor(Math.random() * ORIGINS.length)]!;
      return { circuitKey: `${origin}|${orgId}`, orgId, agentId: AGENT, ...outcome(failureRate, nowMs) };
    });
    const startedAt = performance.now();
    board.recordOutcomes(records);
    observeMs += performance.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, BATCH_MS));
  }
  await board.stop();
  const cpu = process.cpuUsage(cpuBefore);
  const [open] = await sql<{ count: number }[]>`select count(*) as count from circuits where state <> 'CLOSED'`;
  return {
    failureRate,
    recordsPerSecond: RECORDS_PER_SECOND,
    observeUsPerRecord: Number(((observeMs * 1_000) / (RECORDS_PER_SECOND * SECONDS)).toFixed(2)),
    processCpuPercent: Math.round((cpu.user + cpu.system) / 10_000 / SECONDS),
    postgresCpuPercent: Math.round((treeCpuUs(database.pid) - postgresBefore) / 10_000 / SECONDS),
    notClosed: open!.count,
  };
}

try {
  console.log('machine', machine());
  console.table([await run(0), await run(0.01)]);
} finally {
  await sql.end();
  await tearDown();
}

/**
 * An agent starts a sub-run at a fixed rate, makes one call with its gateway token and ends it (docs/contract.md#runs).
 * Prints for each interval what was late or failed, how long the first call of a new gateway token of another organization
 * takes, and the sizes of what could grow. Loopback only.
 *
 *   node bench/dist/runs-started-and-ended.js [RUNS_PER_SECOND] [SECONDS] [AT_ONCE_MAX]
 */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { Agent, request } from 'undici';
import { startGateway } from './gateway-stack.js';
import { residentBytes, treeCpuUs } from './process-usage.js';
import { PROXY_PATH, REQUEST_BODY } from './scenario-request.js';
import { startProvider } from './start-mock-provider.js';
import { percentile } from './statistics.js';
import { atTeardown, tearDown, tearDownOnSignals } from './teardown.js';

const PER_SECOND = Number(process.argv[2] ?? 200);
const SECONDS = Number(process.argv[3] ?? 600);
const INTERVAL_MS = 30_000;
const NEIGHBOUR_EVERY_MS = 1_000;
/** More runs than this at once: the gateway does not keep up, and further ones are counted as skipped. */
const AT_ONCE_MAX = Number(process.argv[4] ?? 400);
const TICK_MS = 10;
const MIB = 1_048_576;

tearDownOnSignals();
try {
  const provider = await startProvider();
  const gateway = await startGateway(provider);
  const { stack, url } = gateway;
  const sql = openPool(gateway.databaseUrl, { connectionsMax: 1, applicationName: 'bench' });
  atTeardown(() => sql.end());
  const connections = new Agent({ connections: AT_ONCE_MAX });

  const send = async (method: 'POST' | 'GET' | 'DELETE', path: string, token: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await request(`${url}${path}`, { method, headers, body: body ?? null, dispatcher: connections });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const call = (token: string) => send('POST', PROXY_PATH, token, REQUEST_BODY);

  const failures = new Map<string, number>();
  const fail = (what: string): void => void failures.set(what, (failures.get(what) ?? 0) + 1);
  let [started, skipped, atOnce] = [0, 0, 0];
  let startMs: number[] = [];
  let endMs: number[] = [];

  const runOnce = async (parent: string): Promise<void> => {
    const sentMs = performance.now();
    const answer = await send('POST', '/v1/runs', parent, JSON.stringify({ budgetCents: 10, label: 'task' }));
    startMs.push(performance.now() - sentMs);
    if (answer.status !== 201) return fail(`start ${answer.status}`);
    started++;
    const { run, secretKey } = JSON.parse(answer.text) as { run: { id: string }; secretKey: string };
    const { status } = await call(secretKey);
    if (status !== 200) fail(`call ${status}`);
    const endedMs = performance.now();
    const ended = await send('DELETE', `/v1/runs/${run.id}`, secretKey);
    endMs.push(performance.now() - endedMs);
    if (ended.status !== 200) fail(`end ${ended.status}`);
  };

  const neighbour = await stack.signUpTenant();
  // The default of an agent is 60 requests per minute, which one call a second soon exceeds.
  const neighbourAgent = await neighbour.createAgent({ rpmLimit: 1_000_000 });
  await neighbour.createAccount(neighbourAgent.id, 'openai', { apiKey: 'sk-real-0123456789' });
  let coldMs: number[] = [];
  const callCold = async (): Promise<void> => {
    const token = await neighbour.createToken(neighbourAgent.id);
    const sentMs = performance.now();
    const { status } = await call(token);
    coldMs.push(performance.now() - sentMs);
    if (status !== 200) fail(`neighbour ${status}`);
  };

  const sizes = async () => {
    const [row] = await sql<Record<string, string>[]>`
      select (select count(*) from runs) as runs, (select count(*) from runs where ended_at is null) as running,
             (select count(*) from audit_entries) as audit, (select count(*) from budget_spend) as spend,
             pg_total_relation_size('runs') / ${MIB}::int as "runsMiB"`;
    return row!;
  };
  const listMs = async (): Promise<number> => {
    const sentMs = performance.now();
    const { status } = await gateway.tenant.call('GET', '/v1/runs?limit=50');
    if (status !== 200) fail(`list ${status}`);
    return Math.round(performance.now() - sentMs);
  };

  const pids = {
    'data plane': gateway.dataPlane.pid,
    'control plane': stack.controlPlane.pid,
    Postgres: gateway.postgresPid,
    Redis: gateway.redis.pid,
  };
  const before = new Map<string, number>();
  let startedBefore = 0;
  let generatorBefore = process.cpuUsage();
  /** CPU of each process for a run of the interval, with its call and its booking. */
  const cpuMsPerRun = (): Record<string, string> => {
    const runs = started - startedBefore;
    startedBefore = started;
    const { user, system } = process.cpuUsage(generatorBefore);
    generatorBefore = process.cpuUsage();
    const rows = Object.entries(pids).map(([name, pid]) => {
      const us = treeCpuUs(pid);
      const spentUs = us - (before.get(name) ?? us);
      before.set(name, us);
      return [`${name} CPU ms`, (spentUs / 1_000 / runs).toFixed(2)];
    });
    return { ...Object.fromEntries(rows), 'generator CPU ms': ((user + system) / 1_000 / runs).toFixed(2) };
  };

  const top = await send(
    'POST',
    '/v1/runs',
    gateway.token,
    JSON.stringify({ budgetCents: 100_000_000, expiresIn: 86_400 }),
  );
  const parent = (JSON.parse(top.text) as { secretKey: string }).secretKey;
  for (let n = 0; n < 20; n++) {
    await callCold();
  }
  console.table([
    { 'cold token before, p50 ms': percentile(coldMs, 50).toFixed(1), 'p95 ms': percentile(coldMs, 95).toFixed(1) },
  ]);

  cpuMsPerRun();
  const beginMs = performance.now();
  let [due, intervals, neighbours] = [0, 1, 0];
  const rows: Record<string, unknown>[] = [];
  while (performance.now() - beginMs < SECONDS * 1_000) {
    const elapsedMs = performance.now() - beginMs;
    for (; due < (elapsedMs / 1_000) * PER_SECOND; due++) {
      if (atOnce >= AT_ONCE_MAX) {
        skipped++;
        continue;
      }
      atOnce++;
      runOnce(parent)
        .catch((error: unknown) => fail(String(error)))
        .finally(() => atOnce--);
    }
    if (elapsedMs > neighbours * NEIGHBOUR_EVERY_MS) {
      neighbours++;
      callCold().catch((error: unknown) => fail(`neighbour: ${String(error)}`));
    }
    if (elapsedMs > intervals * INTERVAL_MS) {
      rows.push({
        s: intervals * (INTERVAL_MS / 1_000),
        started,
        skipped,
        'start p50': percentile(startMs, 50).toFixed(0),
        'start p95': percentile(startMs, 95).toFixed(0),
        'end p50': percentile(endMs, 50).toFixed(0),
        'cold p50': percentile(coldMs, 50).toFixed(0),
        'cold p95': percentile(coldMs, 95).toFixed(0),
        'list ms': await listMs(),
        ...(await sizes()),
        ...cpuMsPerRun(),
        'data plane MiB': Math.round(residentBytes(gateway.dataPlane.pid) / MIB),
        'control plane MiB': Math.round(residentBytes(stack.controlPlane.pid) / MIB),
        failures: [...failures].map(([what, count]) => `${what}: ${count}`).join(', '),
      });
      console.log(JSON.stringify(rows.at(-1)));
      intervals++;
      [startMs, endMs, coldMs] = [[], [], []];
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  console.table(rows);
} finally {
  await tearDown();
}

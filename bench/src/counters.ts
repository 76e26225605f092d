/**
 * Cost of admission: CPU of this process and of Redis per admitted request, by how many requests share a turn of the
 * event loop, and what a request waits when the store is away. Needs a `redis-server` in the path.
 *
 *   node bench/dist/counters.js
 */
import { cpus } from 'node:os';
import { createLogger } from '@acg/base/log';
import { formatMonth, monthOfMs } from '@acg/dataplane/counters/calendar-month';
import type { AdmissionRequest, Counters } from '@acg/dataplane/counters/counters';
import { MemoryCounters } from '@acg/dataplane/counters/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis-counters';
import { RedisServer } from '@acg/test/redis-server';

const ADMISSIONS = 60_000;
const WARM_UP = 10_000;
const AGENTS = 1_000;
const log = createLogger('bench', 'silent');
const metrics = { unchecked() {}, enforcing() {}, storeLatency() {} };

const request = (agent: number, budgetNanos: number | null): AdmissionRequest => ({
  agentId: `00000000-0000-7000-8000-${String(agent).padStart(12, '0')}`,
  providerSlug: 'openai',
  rpmLimit: 1_000_000,
  rpdLimit: 1_000_000_000,
  budgetNanos,
  spendFloorNanos: 0,
  spendFloorMonth: formatMonth(monthOfMs(Date.now())),
});

interface Scenario {
  readonly name: string;
  readonly turn: number;
  readonly agents: number;
  readonly budgetNanos: number | null;
  readonly spend: boolean;
}

/** Runs `count` admissions, `turn` of them in each turn of the loop. */
async function run(counters: Counters, scenario: Scenario, count: number): Promise<void> {
  const { turn, agents, budgetNanos, spend } = scenario;
  const requests = Array.from({ length: agents }, (_, agent) => request(agent, budgetNanos));
  let next = 0;
  await new Promise<void>((resolve) => {
    const takeTurn = (): void => {
      if (next >= count) {
        resolve();
        return;
      }
      let open = turn;
      for (let i = 0; i < turn; i++) {
        const asked = requests[next++ % agents]!;
        counters.admit(asked, (admission) => {
          if (admission.outcome !== 'admitted') throw new Error(`unexpected ${admission.outcome}`);
          if (spend) counters.addSpend(asked.agentId, `${scenario.name}-${next}-${open}`, 1_000);
          open--;
          if (open === 0) setImmediate(takeTurn);
        });
      }
    };
    takeTurn();
  });
}

const SCENARIOS: readonly Scenario[] = [1, 8, 64].flatMap((turn) => [
  { name: `turn ${turn}, ${AGENTS} agents`, turn, agents: AGENTS, budgetNanos: null, spend: false },
  { name: `turn ${turn}, ${AGENTS} agents, budget and spend`, turn, agents: AGENTS, budgetNanos: 1e15, spend: true },
  { name: `turn ${turn}, 1 agent, budget and spend`, turn, agents: 1, budgetNanos: 1e15, spend: true },
]);

async function redisCpuUs(admin: RedisServer['admin']): Promise<number> {
  const info = await admin.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`${name}:([0-9.]+)`).exec(info)?.[1] ?? 0);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6;
}

async function measure(counters: Counters, scenario: Scenario, admin: RedisServer['admin'] | null): Promise<void> {
  await run(counters, scenario, WARM_UP);
  const redisBefore = admin === null ? 0 : await redisCpuUs(admin);
  const before = process.cpuUsage();
  const start = performance.now();
  await run(counters, scenario, ADMISSIONS);
  const wallUs = (performance.now() - start) * 1000;
  const used = process.cpuUsage(before);
  const redis = admin === null ? 0 : ((await redisCpuUs(admin)) - redisBefore) / ADMISSIONS;
  const own = (used.user + used.system) / ADMISSIONS;
  const cells = [own, redis, wallUs / ADMISSIONS].map((us) => us.toFixed(2).padStart(8));
  console.log(`${counters.kind.padEnd(6)} ${scenario.name.padEnd(42)} ${cells.join(' ')}`);
}

/** p50 and p99 of what requests wait in µs, from the moment the store stops answering. */
async function failOpen(counters: Counters, stop: () => void): Promise<void> {
  const asked = request(1, null);
  const waits: number[] = [];
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const start = performance.now();
      counters.admit(asked, () => {
        waits.push((performance.now() - start) * 1000);
        setTimeout(resolve, 1);
      });
    });
  stop();
  const end = performance.now() + 4_000;
  while (performance.now() < end) await ask();
  const firstMs = (waits[0] ?? 0) / 1000;
  const rest = waits.slice(1).sort((a, b) => a - b);
  const at = (share: number): string => (rest[Math.floor(rest.length * share)] ?? 0).toFixed(1);
  console.log(
    `fail-open: first request ${firstMs.toFixed(1)} ms, then p50 ${at(0.5)} µs, p99 ${at(0.99)} µs (${rest.length})`,
  );
}

const server = await RedisServer.start();
const { admin } = server;
const redis = new RedisCounters(
  { urls: [server.url], connectionName: 'bench', tlsCa: null, timeoutMs: 50 },
  log,
  metrics,
);
await redis.start();
console.log(
  `${cpus()[0]?.model ?? ''} × ${cpus().length}, Node ${process.version}; µs per admission: own CPU, Redis CPU, wall`,
);
for (const scenario of SCENARIOS) {
  await admin.flushall();
  await measure(redis, scenario, admin);
}
const memory = new MemoryCounters();
for (const scenario of SCENARIOS) await measure(memory, scenario, null);
await failOpen(redis, () => server.pause());
await redis.close();
await server.stop();

/**
 * Cost of admission: CPU of this process and of Redis per admitted request, by the number of requests per event-loop
 * tick, and how long a request waits during a store outage. Needs a `redis-server` in the path.
 *
 *   node bench/dist/redis-admission-cost.js
 */
import { cpus } from 'node:os';
import { createLogger } from '@acg/base/log';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { AdmissionRequest, Counters } from '@acg/dataplane/limits/counters-interface';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { RedisServer } from '@acg/test/fixtures/redis-server';
import { TcpProxy } from '@acg/test/fixtures/tcp-proxy';

const ADMISSIONS = 60_000;
const WARM_UP = 10_000;
const AGENTS = 1_000;
const log = createLogger('bench', 'silent');
const metrics = { countUnchecked() {}, setEnforcing() {}, setEvictable() {}, observeStoreLatency() {} };

const request = (agent: number, budgetNanos: number | null, reservationNanos = 0): AdmissionRequest => ({
  limits: createTestLimits({
    agentId: `00000000-0000-7000-8000-${String(agent).padStart(12, '0')}`,
    rpmLimit: 1_000_000,
    rpdLimit: 1_000_000_000,
    budgetNanos,
    hardBudget: reservationNanos > 0,
    spendFloorMonth: calendarWindowAt('month', Date.now() / 1000).name,
  }),
  providerSlug: 'openai',
  reservationNanos,
});

interface Scenario {
  readonly name: string;
  readonly turn: number;
  readonly agents: number;
  readonly budgetNanos: number | null;
  readonly spend: boolean;
  /** Nano-dollars that each call reserves; 0: a soft budget. */
  readonly reservationNanos: number;
}

const settle = (
  counters: Counters,
  { limits: terms, providerSlug, reservationNanos }: AdmissionRequest,
  admittedAtSec: number,
): void =>
  counters.settle({ limits: terms, providerSlug, admittedAtSec, costNanos: 1_000, tokens: 100, reservationNanos });

/** Runs `count` admissions, `turn` of them in each tick of the event loop. */
async function run(counters: Counters, scenario: Scenario, count: number): Promise<void> {
  const { turn, agents, budgetNanos, spend, reservationNanos } = scenario;
  const requests = Array.from({ length: agents }, (_, agent) => request(agent, budgetNanos, reservationNanos));
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
          if (spend) settle(counters, asked, admission.admittedAtSec);
          open--;
          if (open === 0) setImmediate(takeTurn);
        });
      }
    };
    takeTurn();
  });
}

const SCENARIOS: readonly Scenario[] = [1, 8, 64].flatMap((turn) => [
  {
    name: `turn ${turn}, ${AGENTS} agents`,
    turn,
    agents: AGENTS,
    budgetNanos: null,
    spend: false,
    reservationNanos: 0,
  },
  {
    name: `turn ${turn}, ${AGENTS} agents, budget and spend`,
    turn,
    agents: AGENTS,
    budgetNanos: 1e15,
    spend: true,
    reservationNanos: 0,
  },
  {
    name: `turn ${turn}, ${AGENTS} agents, hard budget`,
    turn,
    agents: AGENTS,
    budgetNanos: 1e15,
    spend: true,
    reservationNanos: 1_000,
  },
  {
    name: `turn ${turn}, 1 agent, budget and spend`,
    turn,
    agents: 1,
    budgetNanos: 1e15,
    spend: true,
    reservationNanos: 0,
  },
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

interface Outage {
  readonly name: string;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

/** Measures how long requests wait during a store outage, and how soon after its end limits are enforced. */
async function failOpen(counters: Counters, outage: Outage): Promise<void> {
  const asked = request(1, null);
  const waitsUs: number[] = [];
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const start = performance.now();
      counters.admit(asked, () => {
        waitsUs.push((performance.now() - start) * 1000);
        setTimeout(resolve, 1);
      });
    });
  await outage.begin();
  const end = performance.now() + 4_000;
  while (performance.now() < end) await ask();
  await outage.end();
  const back = performance.now();
  while (!counters.isEnforcing) await ask();
  const backMs = performance.now() - back;
  const firstMs = (waitsUs[0] ?? 0) / 1000;
  const rest = waitsUs.slice(1).sort((a, b) => a - b);
  const at = (share: number): string => (rest[Math.floor(rest.length * share)] ?? 0).toFixed(1);
  const waits = `first request ${firstMs.toFixed(1)} ms, then p50 ${at(0.5)} µs, p99 ${at(0.99)} µs (${rest.length})`;
  console.log(`fail-open, ${outage.name}: ${waits}; enforced ${backMs.toFixed(0)} ms after the end`);
}

const server = await RedisServer.start();
const { admin } = server;
const redis = new RedisCounters(
  { urls: [server.url], connectionName: 'bench', tlsCa: null, timeoutMs: 5_000 },
  log,
  metrics,
);
await redis.waitForStoreAndCheckEviction();
console.log(
  `${cpus()[0]?.model ?? ''} × ${cpus().length}, Node ${process.version}; µs per admission: own CPU, Redis CPU, wall`,
);
for (const scenario of SCENARIOS) {
  await admin.flushall();
  await measure(redis, scenario, admin);
}
const memory = new MemoryCounters();
for (const scenario of SCENARIOS) await measure(memory, scenario, null);
await redis.close();

const proxy = await TcpProxy.start(server.port);
const behind = new URL(`redis://127.0.0.1:${proxy.port}`);
const proxied = new RedisCounters(
  { urls: [behind], connectionName: 'bench', tlsCa: null, timeoutMs: 5_000 },
  log,
  metrics,
);
await proxied.waitForStoreAndCheckEviction();
const delay = (ms: number) => () => {
  proxy.responseDelayMs = ms;
};
await failOpen(proxied, { name: 'stopped', begin: () => server.pause(), end: () => server.resume() });
await failOpen(proxied, { name: '200 ms slow', begin: delay(200), end: delay(0) });
await failOpen(proxied, { name: 'killed', begin: () => server.kill(), end: () => server.restart() });
await proxied.close();
await proxy.stop();
await server.stop();

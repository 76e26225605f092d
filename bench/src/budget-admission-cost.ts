/**
 * Cost of budgets for an admission and its settlement, paired: one process, one Redis, the same agents without a
 * budget, with a soft one, with six soft rows, with a hard one, and in a run three levels deep, in alternating short
 * windows. On a shared machine only the medians of the differences between neighbouring windows are meaningful. CPU of
 * this process and of Redis, µs per call. Also measures strict reading of a body (as for a policy on models) and planning
 * its reservation. Needs a `redis-server` in the path.
 *
 *   node bench/dist/budget-admission-cost.js [calls in each tick …]
 */
import { createLogger } from '@acg/base/log';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import type { BudgetRow } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { AdmissionRequest, Counters } from '@acg/dataplane/limits/counters-interface';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { createBodyModelReader } from '@acg/dataplane/policy/body/body-model-reader';
import { readReservationFacts } from '@acg/dataplane/policy/reservation/reservation-facts';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { CALL_WITHOUT_MODEL } from '@acg/dataplane/pricing/max-cost';
import { RedisServer } from '@acg/test/fixtures/redis-server';

const AGENTS = 200;
const CALLS_PER_WINDOW = 640;
const ROUNDS = 150;
const WARM_UP_ROUNDS = 10;
const KINDS = ['none', 'soft', 'six', 'hard', 'runs'] as const;
type Kind = (typeof KINDS)[number];

/** The rows besides the monthly one. */
function rowsOf(kind: Kind, agent: number): readonly BudgetRow[] {
  if (kind === 'six')
    return (['day', 'week', 'day', 'week', 'month'] as const).map((window, i) =>
      createTestBudget({ id: `six-${agent}-${i}`, window, limitNanos: 1e15 }),
    );
  if (kind !== 'runs') return [];
  return [0, 1, 2].map((level) => {
    const id = `run-${agent}-${level}`;
    const keptUntilSec = Math.ceil(Date.now() / 1000) + 3_600;
    const run = { id, scope: 'run', scopeId: id, window: 'total', mode: 'hard' } as const;
    return createTestBudget({ ...run, limitNanos: 1e15, keptUntilSec });
  });
}

const requestsOf = (kind: Kind): readonly AdmissionRequest[] =>
  Array.from({ length: AGENTS }, (_, agent) => ({
    limits: createTestLimits({
      agentId: `00000000-0000-7000-8000-${kind}${String(agent).padStart(8, '0')}`,
      rpmLimit: 1_000_000_000,
      rpdLimit: 4_000_000_000,
      budgetNanos: kind === 'none' ? null : 1e15,
      hardBudget: kind === 'hard' || kind === 'runs',
      budgets: rowsOf(kind, agent),
      spendFloorMonth: calendarWindowAt('month', Date.now() / 1000).name,
    }),
    providerSlug: 'openai',
    reservationNanos: kind === 'hard' || kind === 'runs' ? 1_000 : 0,
  }));
const REQUESTS: Readonly<Record<Kind, readonly AdmissionRequest[]>> = {
  none: requestsOf('none'),
  soft: requestsOf('soft'),
  six: requestsOf('six'),
  hard: requestsOf('hard'),
  runs: requestsOf('runs'),
};

/** CPU time of the server, µs. */
async function readRedisCpuUs(): Promise<number> {
  const info = await server.admin.info('cpu');
  const seconds = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)![1]);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1e6;
}

/** Admits and settles, `turn` calls in each tick of the event loop; returns µs of CPU per call, of this process and of Redis. */
async function windowUs(counters: Counters, kind: Kind, turn: number): Promise<readonly [own: number, redis: number]> {
  const requests = REQUESTS[kind];
  const redisBefore = await readRedisCpuUs();
  const before = process.cpuUsage();
  let next = 0;
  await new Promise<void>((resolve) => {
    const takeTurn = (): void => {
      if (next >= CALLS_PER_WINDOW) {
        resolve();
        return;
      }
      let open = turn;
      for (let i = 0; i < turn; i++) {
        const asked = requests[next++ % AGENTS]!;
        counters.admit(asked, ({ admittedAtSec, outcome }) => {
          if (outcome !== 'admitted') throw new Error(`unexpected ${outcome}`);
          const { limits: terms, providerSlug, reservationNanos } = asked;
          counters.settle({
            limits: terms,
            providerSlug,
            admittedAtSec,
            costNanos: 1_000,
            tokens: 100,
            reservationNanos,
          });
          open--;
          if (open === 0) setImmediate(takeTurn);
        });
      }
    };
    takeTurn();
  });
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / CALLS_PER_WINDOW, ((await readRedisCpuUs()) - redisBefore) / CALLS_PER_WINDOW];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

async function compare(counters: Counters, turn: number): Promise<void> {
  const own: Record<Kind, number[]> = { none: [], soft: [], six: [], hard: [], runs: [] };
  const store: Record<Kind, number[]> = { none: [], soft: [], six: [], hard: [], runs: [] };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    // Each variant comes first equally often.
    for (let i = 0; i < KINDS.length; i++) {
      const kind = KINDS[(i + round + WARM_UP_ROUNDS) % KINDS.length]!;
      const [ownUs, storeUs] = await windowUs(counters, kind, turn);
      if (round < 0) continue;
      own[kind].push(ownUs);
      store[kind].push(storeUs);
    }
  }
  const more = (a: Kind, b: Kind): string =>
    [own, store].map((us) => median(us[a].map((value, i) => value - us[b][i]!)).toFixed(2)).join(' + ');
  const all = KINDS.map((kind) => `${kind} ${median(own[kind]).toFixed(2)} + ${median(store[kind]).toFixed(2)}`);
  console.log(`${counters.kind}, turns of ${turn}, own + Redis: ${all.join(', ')}`);
  const pairs = [
    ['soft', 'none'],
    ['hard', 'soft'],
    ['six', 'soft'],
    ['runs', 'hard'],
  ] as const;
  console.log(pairs.map(([a, b]) => `  ${a} - ${b}: ${more(a, b)}`).join('\n'));
}

function holdUs(): void {
  const prices = new CallCostCalculator(Date.now);
  const upstream = { providerSlug: 'openai', priceProvider: 'openai', usageFormat: 'openai', origin: 'https://x' };
  const messages = [{ role: 'user', content: 'word '.repeat(400) }];
  const body = Buffer.from(JSON.stringify({ model: 'gpt-5-mini', messages, max_completion_tokens: 500 }));
  const one = (): number => {
    const facts = readReservationFacts(body, {
      format: 'openai',
      path: '/v1/chat/completions',
      model: 'gpt-5-mini',
      ignoredToolMaxima: [],
    });
    if (typeof facts === 'string') throw new Error(facts);
    const { textTokens: tokensIn, outputTokensMax, hasExternalContent, speed } = facts;
    const call = {
      ...CALL_WITHOUT_MODEL,
      model: 'gpt-5-mini',
      tokensIn,
      tokensOut: outputTokensMax ?? 0,
      hasExternalContent,
      speed,
    };
    return prices.calculateMaxCostNanos(upstream, call);
  };
  const read = (): void => {
    const reader = createBodyModelReader('json', ['content-type', 'application/json']);
    if (typeof reader === 'string') throw new Error(reader);
    reader.observe(body);
    reader.finish(body);
  };
  console.log(`a body of ${body.length} bytes: reading it ${loopUs(read)}, planning its reservation ${loopUs(one)}`);
}

/** Median over windows, µs of CPU per call. */
function loopUs(one: () => unknown): string {
  const windows: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let i = 0; i < CALLS_PER_WINDOW; i++) one();
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) windows.push((user + system) / CALLS_PER_WINDOW);
  }
  return median(windows).toFixed(2);
}

const server = await RedisServer.start();
const quiet = { countUnchecked() {}, setEnforcing() {}, setEvictable() {}, observeStoreLatency() {} };
const access = { urls: [server.url], connectionName: 'acg-bench', tlsCa: null, timeoutMs: 60_000 };
const redis = new RedisCounters(access, createLogger('bench', 'silent'), quiet);
await redis.waitForStoreAndCheckEviction();
const turns = process.argv.slice(2).map(Number);
for (const turn of turns.length > 0 ? turns : [1, 8, 64]) await compare(redis, turn);
if (turns.length === 0) {
  await compare(new MemoryCounters(), 8);
  holdUs();
}
await redis.close();
await server.stop();

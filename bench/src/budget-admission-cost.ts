/**
 * Cost of budgets for an admission and its settlement, paired: one process, one Redis, the same agents without a
 * budget, with a soft one and with a hard one, in alternating short windows. On a shared machine only the medians of
 * the differences between neighbouring windows are meaningful. CPU of this process, µs per call. Also measures strict
 * reading of a body (as for a policy on models) and planning its reservation. Needs a `redis-server` in the path.
 *
 *   node bench/dist/budget-admission-cost.js
 */
import { createLogger } from '@acg/base/log';
import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { RedisCounters } from '@acg/dataplane/counters/redis/redis-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import type { AdmissionRequest, Counters } from '@acg/dataplane/limits/counters-interface';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { createBodyModelReader } from '@acg/dataplane/policy/body/body-model-reader';
import { readReservationFacts } from '@acg/dataplane/policy/reservation/reservation-facts';
import { CallCostCalculator } from '@acg/dataplane/pricing/call-cost-calculator';
import { CALL_WITHOUT_MODEL } from '@acg/dataplane/pricing/max-cost';
import { RedisServer } from '@acg/test/fixtures/redis-server';

const AGENTS = 200;
const CALLS_PER_WINDOW = 640;
const ROUNDS = 150;
const WARM_UP_ROUNDS = 10;
const KINDS = ['none', 'soft', 'hard'] as const;
type Kind = (typeof KINDS)[number];

const requestsOf = (kind: Kind): readonly AdmissionRequest[] =>
  Array.from({ length: AGENTS }, (_, agent) => ({
    limits: createTestLimits({
      agentId: `00000000-0000-7000-8000-${kind}${String(agent).padStart(8, '0')}`,
      rpmLimit: 1_000_000_000,
      rpdLimit: 4_000_000_000,
      budgetNanos: kind === 'none' ? null : 1e15,
      hardBudget: kind === 'hard',
      spendFloorMonth: calendarWindowAt('month', Date.now() / 1000).name,
    }),
    providerSlug: 'openai',
    reservationNanos: kind === 'hard' ? 1_000 : 0,
  }));
const REQUESTS = { none: requestsOf('none'), soft: requestsOf('soft'), hard: requestsOf('hard') };

/** Admits and settles, `turn` calls in each tick of the event loop; returns µs of CPU per call. */
async function windowUs(counters: Counters, kind: Kind, turn: number): Promise<number> {
  const requests = REQUESTS[kind];
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
  return (user + system) / CALLS_PER_WINDOW;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

async function compare(counters: Counters, turn: number): Promise<void> {
  const us: Record<Kind, number[]> = { none: [], soft: [], hard: [] };
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    // Each variant comes first equally often.
    for (let i = 0; i < KINDS.length; i++) {
      const kind = KINDS[(i + round + WARM_UP_ROUNDS) % KINDS.length]!;
      const window = await windowUs(counters, kind, turn);
      if (round >= 0) us[kind].push(window);
    }
  }
  const more = (a: Kind, b: Kind): string => median(us[a].map((value, i) => value - us[b][i]!)).toFixed(2);
  const all = KINDS.map((kind) => `${kind} ${median(us[kind]).toFixed(2)}`).join(', ');
  console.log(
    `${counters.kind}, turns of ${turn}: ${all}; soft - none ${more('soft', 'none')}, hard - soft ${more('hard', 'soft')}`,
  );
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
for (const turn of [1, 8, 64]) await compare(redis, turn);
await compare(new MemoryCounters(), 8);
holdUs();
await redis.close();
await server.stop();

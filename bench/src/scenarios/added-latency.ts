/**
 * Scenario 2: latency that a proxy adds at a fixed rate, proxy − direct. All targets alternate in short blocks of one
 * run. A result is the median over blocks, minus the direct latency of the same round. Of the references only nginx
 * with Lua waits for a store before it calls the provider, as the gateway does. Both also run with a store that is farther
 * away.
 */
import { runClosedLoop } from '../load/closed-loop.js';
import { type OpenLoopResult, runOpenLoop } from '../load/open-loop.js';
import { luaAvailable, nginxAvailable } from '../references/nginx.js';
import { type Candidate, startDelayingProxy, startLua, startNginx } from '../references/start-comparison-targets.js';
import { PROVIDER_PATH, PROXY_PATH, REQUEST_BODY } from '../scenario-request.js';
import { median, percentile, sum } from '../statistics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const RATES = [500, 2_000];
const BLOCKS = 5;
const BLOCK_SECONDS = 2;
const WARM_SECONDS = 3;
const WARM_CONNECTIONS = 16;

const STORE = 'nginx + Lua + Redis';
const FAR_STORE_US = 500;
/** Added to the names of those whose store is farther away. */
const FAR = `, store ${FAR_STORE_US / 1_000} ms away`;

type Target = Pick<Candidate, 'name' | 'url'>;

interface LatencyFigure {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  /** Lateness of the load generator itself, which is part of all results. */
  readonly generatorP99Us: number;
  /** From the gateway's `server-timing`: before the upstream call, in it, and the rest (sockets, spool, the way back). */
  readonly stagesP50Us: { readonly before: number; readonly upstream: number; readonly rest: number } | null;
  readonly errors: number;
}

export const addedLatency: Scenario = {
  name: 'latency',
  title: 'added latency, open loop',
  async run({ gateway, provider }: Bench): Promise<ScenarioResult> {
    const headers = { authorization: `Bearer ${gateway.token}` };
    const references: Candidate[] = [];
    const { port, child: proxy } = await startDelayingProxy(gateway.redisPort, FAR_STORE_US);
    const far = await gateway.stack.addDataPlane({ REDIS_URL: `redis://127.0.0.1:${port}` });
    if (luaAvailable()) {
      references.push(await startLua(provider, headers));
      const { name, ...reference } = await startLua(provider, headers, FAR_STORE_US);
      references.push({ ...reference, name: name + FAR });
    }
    if (nginxAvailable()) references.push(await startNginx(provider, headers));
    const targets: Target[] = [
      { name: 'direct', url: `${provider.origin}${PROVIDER_PATH}` },
      { name: 'gateway', url: `${gateway.url}${PROXY_PATH}` },
      { name: `gateway${FAR}`, url: `${far.url}${PROXY_PATH}` },
      ...references,
    ];
    const figures: LatencyFigure[] = [];
    try {
      for (const { url } of targets) await warm(url, headers);
      for (const perSecond of RATES) figures.push(...(await measureRate(targets, headers, perSecond)));
    } finally {
      for (const reference of references) await reference.stop();
      await far.plane.kill();
      await proxy.stop();
    }
    return {
      figures,
      rows: figures.map(tableRow),
      charts: [50, 99].map((p) => ({
        title: `Added latency, p${p}`,
        unit: 'µs',
        bars: figures
          .filter(({ name }) => name !== 'direct')
          .map((f) => ({ label: `${f.name} @ ${f.perSecond}/s`, value: p === 50 ? f.addedP50Us : f.addedP99Us })),
      })),
      notes: luaAvailable() ? ratios(figures) : [`${STORE} skipped: not installed`],
    };
  },
};

/** Code that was called less than a few thousand times is slower than in any running service. */
const warm = (url: string, headers: Readonly<Record<string, string>>) =>
  runClosedLoop({ url, connections: WARM_CONNECTIONS, seconds: WARM_SECONDS, headers, body: REQUEST_BODY });

async function measureRate(
  targets: readonly Target[],
  headers: Readonly<Record<string, string>>,
  perSecond: number,
): Promise<readonly LatencyFigure[]> {
  const blocks: OpenLoopResult[][] = targets.map(() => []);
  const run = ({ url }: Target, seconds: number) =>
    runOpenLoop({ url, headers, body: REQUEST_BODY, perSecond, seconds });
  for (const target of targets) await run(target, 1);
  for (let block = 0; block < BLOCKS; block++) {
    for (const [i, target] of targets.entries()) blocks[i]!.push(await run(target, BLOCK_SECONDS));
  }
  const direct = blocks[0]!;
  return targets.map(({ name }, i) => {
    const own = blocks[i]!;
    const at = (p: number) => median(own.map((b) => percentile(b.latenciesUs, p)));
    const added = (p: number) =>
      median(own.map((b, n) => percentile(b.latenciesUs, p) - percentile(direct[n]!.latenciesUs, p)));
    return {
      name,
      perSecond,
      p50Us: at(50),
      p99Us: at(99),
      addedP50Us: added(50),
      addedP99Us: added(99),
      generatorP99Us: median(own.map((b) => percentile(b.lagsUs, 99))),
      stagesP50Us: stages(own),
      errors: sum(own.map((b) => b.errors)),
    };
  });
}

function stages(blocks: readonly OpenLoopResult[]): LatencyFigure['stagesP50Us'] {
  if (blocks.every((block) => block.stagesUs.length === 0)) return null;
  const before = median(
    blocks.map((b) =>
      percentile(
        b.stagesUs.map(([gateway]) => gateway),
        50,
      ),
    ),
  );
  const upstream = median(
    blocks.map((b) =>
      percentile(
        b.stagesUs.map(([, us]) => us),
        50,
      ),
    ),
  );
  const total = median(blocks.map((b) => percentile(b.latenciesUs, 50)));
  return { before, upstream, rest: total - before - upstream };
}

function tableRow({ name, perSecond, stagesP50Us, ...figure }: LatencyFigure): Readonly<Record<string, unknown>> {
  return {
    name,
    perSecond,
    p50: rounded(figure.p50Us),
    p99: rounded(figure.p99Us),
    'added p50': rounded(figure.addedP50Us),
    'added p99': rounded(figure.addedP99Us),
    'generator p99': rounded(figure.generatorP99Us),
    'before upstream': rounded(stagesP50Us?.before ?? null),
    upstream: rounded(stagesP50Us?.upstream ?? null),
    rest: rounded(stagesP50Us?.rest ?? null),
    errors: figure.errors,
  };
}

/** Of the added p50. */
const GOALS = [
  ['', 1.8],
  [FAR, 1],
] as const;

const ratios = (figures: readonly LatencyFigure[]): string[] =>
  RATES.flatMap((rate) =>
    GOALS.map(([where, goal]) => {
      const of = (name: string) => figures.find((f) => f.name === name && f.perSecond === rate)!;
      const [own, reference] = [of(`gateway${where}`), of(`${STORE}${where}`)];
      const p50 = (own.addedP50Us / reference.addedP50Us).toFixed(2);
      const p99 = (own.addedP99Us / reference.addedP99Us).toFixed(2);
      return `added at ${rate}/s: p50 ${p50} × (goal ≤ ${goal}), p99 ${p99} × that of ${STORE}${where}; figures in µs`;
    }),
  );

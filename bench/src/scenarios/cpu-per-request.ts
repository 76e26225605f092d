/**
 * Scenario 1: CPU per request, user + system of every process of a proxy, µs. POST 150 B → 400 B JSON over 64
 * keep-alive connections, all features on. Each round measures all candidates one after the other, so that a noisy
 * machine affects all of them; results are medians over rounds. The gateway's results include sending and recording the
 * usage, to the last record. Then the same with a provider that closes each connection after its response, so that
 * every call opens a new connection with a TLS handshake.
 */
import { runClosedLoop } from '../load/closed-loop.js';
import { treeCpuUs } from '../process-usage.js';
import { type Candidate, startComparisonTargets } from '../references/start-comparison-targets.js';
import { REQUEST_BODY } from '../scenario-request.js';
import { median, sum } from '../statistics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const CONNECTIONS = 64;
const WARM_SECONDS = 2;
const ROUNDS = 3;
const ROUND_SECONDS = 5;
const COLD_SECONDS = 2;
/** Candidates that are also measured cold. */
const COLD: ReadonlySet<string> = new Set(['gateway', 'nginx + Lua + Redis', 'nginx', 'Fastify reply-from']);

interface CpuFigure {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** µs per request, by process group. */
  readonly cpuUs: Readonly<Record<string, number>>;
  readonly errors: number;
}

export const cpuPerRequest: Scenario = {
  name: 'cpu',
  title: 'CPU per request, 64 connections',
  async run({ gateway, provider }: Bench): Promise<ScenarioResult> {
    const { list, skipped } = await startComparisonTargets(gateway, provider);
    const cold = list.filter(({ name }) => COLD.has(name)).map(onNewConnections);
    let figures: readonly CpuFigure[];
    let coldFigures: readonly CpuFigure[];
    try {
      for (const candidate of list) await measure(candidate, WARM_SECONDS);
      figures = await inTurn(list, ROUND_SECONDS);
      coldFigures = await inTurn(cold, COLD_SECONDS);
    } finally {
      for (const candidate of list) await candidate.stop();
    }
    const skippedRows = Object.keys(skipped).map((name) => ({ name: `${name}: skipped` }));
    return {
      figures: { candidates: figures, cold: coldFigures, skipped },
      rows: [...figures.map(tableRow), ...coldFigures.map(tableRow), ...skippedRows],
      charts: [
        {
          title: 'CPU per request: proxy, its Redis, control plane',
          unit: 'µs',
          bars: figures.filter((f) => f.name !== 'direct').map((f) => ({ label: f.name, value: comparedUs(f) })),
        },
      ],
      notes: [...ratios(figures), ...Object.entries(skipped).map(([name, why]) => `${name} skipped: ${why}`)],
    };
  },
};

const onNewConnections = (candidate: Candidate): Candidate => ({
  ...candidate,
  name: `${candidate.name}, new connections`,
  url: `${candidate.url}?close`,
});

/** Medians over rounds, for each candidate. */
async function inTurn(list: readonly Candidate[], seconds: number): Promise<readonly CpuFigure[]> {
  const rounds = new Map<string, CpuFigure[]>(list.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const candidate of list) rounds.get(candidate.name)!.push(await measure(candidate, seconds));
  }
  return [...rounds.values()].map(medianFigure);
}

/** The total that the goals compare. Postgres is excluded: the references have no such work per request. */
const comparedUs = ({ cpuUs }: CpuFigure): number =>
  (cpuUs.proxy ?? 0) + (cpuUs.redis ?? 0) + (cpuUs.controlPlane ?? 0);

async function measure(
  { name, url, headers, processes, waitForBacklog: finishWork }: Candidate,
  seconds: number,
): Promise<CpuFigure> {
  const groups = Object.entries(processes);
  const spent = () => groups.map(([, roots]) => sum(roots.map(treeCpuUs)));
  const before = spent();
  const load = await runClosedLoop({ url, connections: CONNECTIONS, seconds, headers, body: REQUEST_BODY });
  await finishWork();
  const after = spent();
  const perRequest = groups.map(([group], i) => [group, (after[i]! - before[i]!) / Math.max(1, load.requests)]);
  return {
    name,
    requestsPerSecond: load.perSecond,
    cpuUs: Object.fromEntries(perRequest),
    errors: load.errors,
  };
}

function medianFigure(figures: readonly CpuFigure[]): CpuFigure {
  const { name, cpuUs } = figures[0]!;
  return {
    name,
    requestsPerSecond: median(figures.map((f) => f.requestsPerSecond)),
    cpuUs: Object.fromEntries(Object.keys(cpuUs).map((key) => [key, median(figures.map((f) => f.cpuUs[key]!))])),
    errors: sum(figures.map((f) => f.errors)),
  };
}

function tableRow(figure: CpuFigure): Readonly<Record<string, unknown>> {
  const { name, requestsPerSecond, cpuUs, errors } = figure;
  const groups = Object.fromEntries(Object.entries(cpuUs).map(([group, us]) => [group, rounded(us)]));
  return { name, 'requests/s': rounded(requestsPerSecond), ...groups, sum: rounded(comparedUs(figure)), errors };
}

function ratios(figures: readonly CpuFigure[]): string[] {
  const of = (name: string): CpuFigure | undefined => figures.find((figure) => figure.name === name);
  const gateway = of('gateway')!;
  const ratio = (what: number, name: string, goal: string): string[] => {
    const other = of(name);
    return other === undefined ? [] : [`${(what / comparedUs(other)).toFixed(3)} × ${name} (goal ${goal})`];
  };
  const proxyUs = gateway.cpuUs.proxy!;
  return [
    ...ratio(comparedUs(gateway), 'nginx + Lua + Redis', '≤ 1.2'),
    ...ratio(proxyUs, 'Fastify reply-from', '≤ 0.5, the proxy process alone'),
    ...ratio(comparedUs(gateway), 'Portkey', '≤ 1/15 = 0.067'),
  ];
}

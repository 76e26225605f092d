/**
 * Scenario 7: a million requests with all features on; checks whether memory grows with them. Fits a line through the
 * samples after the warm-up. The reference is Fastify reply-from under the same load for a shorter time.
 */
import { execFileSync } from 'node:child_process';
import type { GatewayStack } from '../gateway-stack.js';
import { runClosedLoop } from '../load/closed-loop.js';
import { residentBytes } from '../process-usage.js';
import { readMetrics } from '../read-metrics.js';
import { type Candidate, fastifyReplyFrom } from '../references/start-comparison-targets.js';
import { PROXY_PATH, REQUEST_BODY } from '../scenario-request.js';
import { fitLine, type Line } from '../statistics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

const REQUESTS = 1_000_000;
const REFERENCE_REQUESTS = 250_000;
const ROUND_SECONDS = 3;
const SECONDS_MAX = 110;
const REFERENCE_SECONDS_MAX = 18;
/** Time for the reference and for the scenario after this one. */
const SECONDS_FOR_THE_REST = 150;
const CONNECTIONS = 64;
/** Share of the samples that counts as warm-up. */
const WARM_PART = 0.3;
const MIB = 1_048_576;
const UNIT = 100_000;

interface Sample {
  readonly requests: number;
  readonly rssMiB: number;
  /** Null for the reference. */
  readonly redisMiB: number | null;
  readonly spoolMiB: number | null;
}

interface SoakFigure {
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
  readonly errors: number;
  /** MiB per 100 000 requests. */
  readonly rssSlope: Line;
  readonly redisSlope: Line | null;
  readonly spoolMiBMax: number | null;
  readonly samples: readonly Sample[];
}

type Measure = () => Promise<Omit<Sample, 'requests'>>;

export const soak: Scenario = {
  name: 'soak',
  title: 'a million requests',
  async run({ gateway, provider, secondsLeft }: Bench): Promise<ScenarioResult> {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const agents = [bearer(gateway.token), bearer(gateway.otherToken)];
    const url = `${gateway.url}${PROXY_PATH}`;
    const limit = Math.min(SECONDS_MAX, secondsLeft() - SECONDS_FOR_THE_REST);
    const figures = [await load('gateway', url, agents, REQUESTS, limit, () => gatewayMemory(gateway))];
    const fastify = await fastifyReplyFrom(provider, {});
    try {
      const memory = referenceMemory(fastify);
      figures.push(await load(fastify.name, fastify.url, [{}], REFERENCE_REQUESTS, REFERENCE_SECONDS_MAX, memory));
    } finally {
      await fastify.stop();
    }
    const { samples, requests } = figures[0]!;
    return {
      figures,
      rows: figures.map(tableRow),
      charts: [
        {
          title: 'Data plane: RSS while a million requests pass',
          unit: 'MiB',
          bars: samples.map((s) => ({ label: `${Math.round(s.requests / 1_000)} 000 requests`, value: s.rssMiB })),
        },
      ],
      notes: [
        `slopes in MiB per ${UNIT} requests ± standard error, the first ${100 * WARM_PART} % of the samples excluded`,
        ...(requests < REQUESTS ? [`stopped by the clock after ${requests} requests`] : []),
      ],
    };
  },
};

async function load(
  name: string,
  url: string,
  /** Used alternately, round by round. */
  headerSets: readonly Readonly<Record<string, string>>[],
  total: number,
  secondsMax: number,
  measure: Measure,
): Promise<SoakFigure> {
  const samples: Sample[] = [];
  let requests = 0;
  let seconds = 0;
  let errors = 0;
  while (requests < total && seconds < secondsMax) {
    const headers = headerSets[samples.length % headerSets.length]!;
    const round = { url, connections: CONNECTIONS, seconds: ROUND_SECONDS, headers, body: REQUEST_BODY };
    const result = await runClosedLoop(round);
    requests += result.requests;
    errors += result.errors;
    seconds += ROUND_SECONDS;
    samples.push({ requests, ...(await measure()) });
  }
  const steady = samples.slice(Math.floor(samples.length * WARM_PART));
  const line = (of: (sample: Sample) => number) => fitLine(steady.map((s) => [s.requests / UNIT, of(s)]));
  const kept = samples[0]?.redisMiB !== null;
  return {
    name,
    requests,
    seconds,
    errors,
    rssSlope: line((s) => s.rssMiB),
    redisSlope: kept ? line((s) => s.redisMiB!) : null,
    spoolMiBMax: kept ? Math.max(...samples.map((s) => s.spoolMiB!)) : null,
    samples,
  };
}

async function gatewayMemory(gateway: GatewayStack): ReturnType<Measure> {
  const info = execFileSync('redis-cli', ['-p', String(gateway.redisPort), 'info', 'memory']).toString();
  return {
    rssMiB: residentBytes(gateway.dataPlane.pid) / MIB,
    redisMiB: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / MIB,
    spoolMiB: (await readMetrics(gateway.metricsUrl)).get('gateway_spool_bytes')! / MIB,
  };
}

const referenceMemory =
  ({ processes }: Candidate): Measure =>
  async () => ({ rssMiB: residentBytes(processes.proxy![0]!) / MIB, redisMiB: null, spoolMiB: null });

function tableRow(figure: SoakFigure): Readonly<Record<string, unknown>> {
  const { name, requests, seconds, errors, rssSlope, redisSlope, spoolMiBMax, samples } = figure;
  const text = (line: Line) => `${line.slope.toFixed(2)} ± ${line.slopeError.toFixed(2)}`;
  return {
    name,
    requests,
    seconds,
    'RSS first MiB': rounded(samples[0]!.rssMiB),
    'RSS last MiB': rounded(samples.at(-1)!.rssMiB),
    'RSS slope': text(rssSlope),
    'Redis last MiB': rounded(samples.at(-1)!.redisMiB),
    'Redis slope': redisSlope === null ? null : text(redisSlope),
    'spool max MiB': rounded(spoolMiBMax),
    errors,
  };
}

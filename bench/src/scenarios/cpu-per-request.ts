/**
 * Scenario 1: CPU per request, user + system of every process of a proxy, µs. POST 150 B → 400 B JSON over 64 keep-alive
 * connections, everything on. Each round measures all candidates one after the other, so that a noisy machine hits
 * all of them; figures are medians over rounds.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startChild } from '../child.js';
import { freePort } from '../free-port.js';
import { type GatewayStack, startRedis } from '../gateway-stack.js';
import { runWrk } from '../load/wrk.js';
import { cpuTimeUs } from '../process-usage.js';
import { ADMIT_SCRIPT, luaAvailable, nginxAvailable, startLuaNginx, startPlainNginx } from '../references/nginx.js';

const CONNECTIONS = 64;
export const REQUEST_BODY = JSON.stringify({
  model: 'gpt-5-mini',
  messages: [{ role: 'user', content: 'Say hello to the person who reads this benchmark, please, politely.' }],
}).padEnd(150, ' ');

interface Candidate {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  /** Figure name → pids summed. The first one is the proxy itself. */
  readonly processes: Readonly<Record<string, readonly number[]>>;
  stop(): Promise<void>;
}

export interface CpuFigure {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** µs per request, by process group. */
  readonly cpuUs: Readonly<Record<string, number>>;
  readonly errors: number;
}

export interface CpuOptions {
  readonly rounds: number;
  readonly seconds: number;
}

export async function cpuPerRequest(
  gateway: GatewayStack,
  providerPort: number,
  options: CpuOptions,
): Promise<readonly CpuFigure[]> {
  const candidates = await startCandidates(gateway, providerPort);
  const rounds = new Map<string, CpuFigure[]>();
  try {
    for (let round = 0; round <= options.rounds; round++) {
      for (const candidate of candidates) {
        const figure = await measure(candidate, round === 0 ? 2 : options.seconds);
        if (round > 0) rounds.set(candidate.name, [...(rounds.get(candidate.name) ?? []), figure]); // round 0 warms up
      }
    }
  } finally {
    for (const candidate of candidates) await candidate.stop();
  }
  return [...rounds.values()].map(medianFigure);
}

async function measure(candidate: Candidate, seconds: number): Promise<CpuFigure> {
  const groups = Object.entries(candidate.processes);
  const sum = (pids: readonly number[]): number => pids.reduce((total, pid) => total + cpuTimeUs(pid), 0);
  const before = groups.map(([, pids]) => sum(pids));
  const load = await runWrk({
    url: `${candidate.url}/chat/completions`,
    connections: CONNECTIONS,
    seconds,
    headers: { Authorization: `Bearer ${candidate.token}` },
    body: REQUEST_BODY,
  });
  const cpuUs = Object.fromEntries(
    groups.map(([name, pids], i) => [name, (sum(pids) - before[i]!) / Math.max(1, load.requests)]),
  );
  return { name: candidate.name, requestsPerSecond: load.perSecond, cpuUs, errors: load.errors };
}

async function startCandidates(gateway: GatewayStack, providerPort: number): Promise<Candidate[]> {
  const token = gateway.token;
  const list: Candidate[] = [
    {
      name: 'gateway',
      url: `${gateway.url}/v1/proxy/openai/v1`,
      token,
      processes: {
        proxy: [gateway.dataPlane.pid],
        redis: [gateway.redis.pid],
        controlPlane: [gateway.stack.control.pid],
      },
      stop: async () => {},
    },
    {
      name: 'direct',
      url: `http://127.0.0.1:${providerPort}/v1`,
      token,
      processes: { proxy: [] },
      stop: async () => {},
    },
  ];
  if (nginxAvailable()) {
    const { url, child } = await startPlainNginx(providerPort);
    list.push({ name: 'nginx', url: `${url}/v1`, token, processes: { proxy: [child.pid] }, stop: () => child.stop() });
  }
  if (luaAvailable()) {
    const redis = await startRedis();
    const load = ['-p', String(redis.port), 'script', 'load', ADMIT_SCRIPT];
    const sha = execFileSync('redis-cli', load).toString().trim();
    const { url, child } = await startLuaNginx(providerPort, redis.port, sha);
    list.push({
      name: 'nginx + Lua + Redis',
      url: `${url}/v1`,
      token,
      processes: { proxy: [child.pid], redis: [redis.child.pid] },
      stop: async () => {
        await child.stop();
        await redis.child.stop();
      },
    });
  }
  const port = await freePort();
  const script = fileURLToPath(new URL('../references/fastify-reply-from.js', import.meta.url));
  const fastify = await startChild(
    'fastify',
    process.execPath,
    [script, String(port), `http://127.0.0.1:${providerPort}`],
    port,
  );
  list.push({
    name: 'Fastify reply-from',
    url: `http://127.0.0.1:${port}/v1`,
    token,
    processes: { proxy: [fastify.pid] },
    stop: () => fastify.stop(),
  });
  return list;
}

function medianFigure(figures: readonly CpuFigure[]): CpuFigure {
  const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
  const first = figures[0]!;
  return {
    name: first.name,
    requestsPerSecond: median(figures.map((f) => f.requestsPerSecond)),
    cpuUs: Object.fromEntries(Object.keys(first.cpuUs).map((key) => [key, median(figures.map((f) => f.cpuUs[key]!))])),
    errors: figures.reduce((sum, f) => sum + f.errors, 0),
  };
}

/** Scenario 2: latency that a proxy adds at a fixed rate, through − direct, in alternating blocks of one run. */
import type { GatewayStack } from '../gateway-stack.js';
import { runOpenLoop } from '../load/open-loop.js';
import { nginxAvailable, startPlainNginx } from '../references/nginx.js';
import { percentile } from '../statistics.js';
import { REQUEST_BODY } from './cpu-per-request.js';

export interface LatencyFigure {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly addedP50Us: number;
  readonly addedP99Us: number;
  readonly errors: number;
}

export interface LatencyOptions {
  readonly rates: readonly number[];
  readonly blocks: number;
  readonly blockSeconds: number;
}

export async function addedLatency(
  gateway: GatewayStack,
  providerPort: number,
  options: LatencyOptions,
): Promise<readonly LatencyFigure[]> {
  const nginx = nginxAvailable() ? await startPlainNginx(providerPort) : null;
  const targets = [
    { name: 'direct', origin: `http://127.0.0.1:${providerPort}`, path: '/v1/chat/completions' },
    { name: 'gateway', origin: gateway.url, path: '/v1/proxy/openai/v1/chat/completions' },
    ...(nginx === null ? [] : [{ name: 'nginx', origin: nginx.url, path: '/v1/chat/completions' }]),
  ];
  const figures: LatencyFigure[] = [];
  try {
    for (const perSecond of options.rates) {
      const samples = targets.map(() => ({ latencies: [] as number[], errors: 0 }));
      for (let block = 0; block <= options.blocks; block++) {
        for (const [i, { origin, path }] of targets.entries()) {
          const headers = { authorization: `Bearer ${gateway.token}` };
          const seconds = block === 0 ? 1 : options.blockSeconds;
          const result = await runOpenLoop({ origin, path, headers, body: REQUEST_BODY, perSecond, seconds });
          if (block === 0) continue; // warm-up
          for (const latency of result.latenciesUs) samples[i]!.latencies.push(latency);
          samples[i]!.errors += result.errors;
        }
      }
      const direct = samples[0]!.latencies;
      for (const [i, { name }] of targets.entries()) {
        const { latencies, errors } = samples[i]!;
        const [p50Us, p99Us] = [percentile(latencies, 50), percentile(latencies, 99)];
        const addedP50Us = p50Us - percentile(direct, 50);
        figures.push({ name, perSecond, p50Us, p99Us, addedP50Us, addedP99Us: p99Us - percentile(direct, 99), errors });
      }
    }
  } finally {
    await nginx?.child.stop();
  }
  return figures;
}

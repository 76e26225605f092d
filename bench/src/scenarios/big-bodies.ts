/** Scenario 4: 100 MiB up and down: throughput beside nginx, and memory. */
import { Readable } from 'node:stream';
import { request } from 'undici';
import type { GatewayStack } from '../gateway-stack.js';
import { residentBytes } from '../process-usage.js';
import { nginxAvailable, startPlainNginx } from '../references/nginx.js';

export interface BodiesFigure {
  readonly name: string;
  readonly downMiBPerSecond: number;
  readonly upMiBPerSecond: number;
  /** Highest growth seen while the bodies passed, bytes; null for others than the gateway. */
  readonly rssGrowthBytes: number | null;
}

const MIB = 1_048_576;
const BLOCK = Buffer.alloc(65_536, 'x');
const SAMPLE_MS = 50;

export async function bigBodies(
  gateway: GatewayStack,
  providerPort: number,
  mebibytes: number,
): Promise<readonly BodiesFigure[]> {
  const nginx = nginxAvailable() ? await startPlainNginx(providerPort) : null;
  const authorization = `Bearer ${gateway.token}`;
  const bytes = mebibytes * MIB;
  const measure = async (name: string, base: string, pid: number | null): Promise<BodiesFigure> => {
    const before = pid === null ? 0 : residentBytes(pid);
    let highest = before;
    const sampler = setInterval(() => {
      if (pid !== null) highest = Math.max(highest, residentBytes(pid));
    }, SAMPLE_MS);
    const down = await timed(() => download(`${base}/download?bytes=${bytes}`, authorization));
    const up = await timed(() => upload(`${base}/upload`, authorization, bytes));
    clearInterval(sampler);
    return {
      name,
      downMiBPerSecond: mebibytes / down,
      upMiBPerSecond: mebibytes / up,
      rssGrowthBytes: pid === null ? null : highest - before,
    };
  };
  try {
    const figures = [
      await measure('direct', `http://127.0.0.1:${providerPort}`, null),
      await measure('gateway', `${gateway.url}/v1/proxy/openai/v1`, gateway.dataPlane.pid),
    ];
    if (nginx !== null) figures.push(await measure('nginx', nginx.url, null));
    return figures;
  } finally {
    await nginx?.child.stop();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function download(url: string, authorization: string): Promise<void> {
  const { statusCode, body } = await request(url, { headers: { authorization } });
  if (statusCode !== 200) throw new Error(`download answered ${statusCode}`);
  for await (const _chunk of body);
}

async function upload(url: string, authorization: string, bytes: number): Promise<void> {
  const headers = { authorization, 'content-type': 'application/octet-stream', 'content-length': String(bytes) };
  const { statusCode, body } = await request(url, { method: 'POST', headers, body: Readable.from(blocks(bytes)) });
  const answer = (await body.json()) as { bytes: number };
  if (statusCode !== 200 || answer.bytes !== bytes)
    throw new Error(`upload answered ${statusCode}, ${answer.bytes} bytes`);
}

async function* blocks(bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= BLOCK.length) yield left >= BLOCK.length ? BLOCK : BLOCK.subarray(0, left);
}

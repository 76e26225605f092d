/** Scenario 4: 100 MiB up and down: throughput compared with nginx, and memory. */
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { residentBytes } from '../process-usage.js';
import { nginxAvailable, startPlainNginx } from '../references/nginx.js';
import { median } from '../statistics.js';
import { type Bench, rounded, type Scenario, type ScenarioResult } from './scenario.js';

interface BodiesFigure {
  readonly name: string;
  readonly downMiBPerSecond: number;
  readonly upMiBPerSecond: number;
  /** Highest growth while the bodies passed, bytes; null for the provider itself. */
  readonly rssGrowthBytes: number | null;
}

const MIB = 1_048_576;
const MEBIBYTES = 100;
const ROUNDS = 3;
const BLOCK = Buffer.alloc(65_536, 'x');
const SAMPLE_MS = 50;
/** The provider of the bench has a self-signed certificate. */
const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });

export const bigBodies: Scenario = {
  name: 'bodies',
  title: `${MEBIBYTES} MiB down and up`,
  async run({ gateway, provider }: Bench): Promise<ScenarioResult> {
    const nginx = nginxAvailable() ? await startPlainNginx(provider.port) : null;
    const { pid } = gateway.dataPlane;
    const targets: { name: string; base: string; pid: number | null }[] = [
      { name: 'direct', base: provider.origin, pid: null },
      { name: 'gateway', base: `${gateway.url}/v1/proxy/openai/v1`, pid },
    ];
    if (nginx !== null) targets.push({ name: 'nginx', base: nginx.url, pid: nginx.child.pid });
    const rounds = targets.map((): BodiesFigure[] => []);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, target] of targets.entries()) rounds[i]!.push(await measure(target, gateway.token));
      }
    } finally {
      await nginx?.child.stop();
    }
    const figures = rounds.map(summary);
    return {
      figures,
      rows: figures.map(({ name, downMiBPerSecond, upMiBPerSecond, rssGrowthBytes }) => ({
        name,
        'down MiB/s': rounded(downMiBPerSecond),
        'up MiB/s': rounded(upMiBPerSecond),
        'RSS growth MiB': rounded(rssGrowthBytes === null ? null : rssGrowthBytes / MIB),
      })),
      charts: [
        {
          title: `${MEBIBYTES} MiB bodies`,
          unit: 'MiB/s',
          bars: figures.flatMap((f) => [
            { label: `${f.name} down`, value: f.downMiBPerSecond },
            { label: `${f.name} up`, value: f.upMiBPerSecond },
          ]),
        },
      ],
      notes: nginx === null ? ['nginx skipped: not installed'] : [],
    };
  },
};

async function measure(
  { name, base, pid }: { readonly name: string; readonly base: string; readonly pid: number | null },
  token: string,
): Promise<BodiesFigure> {
  const authorization = `Bearer ${token}`;
  const before = pid === null ? 0 : residentBytes(pid);
  let highest = before;
  const sampler = setInterval(() => {
    if (pid !== null) highest = Math.max(highest, residentBytes(pid));
  }, SAMPLE_MS);
  try {
    const down = await timed(() => download(`${base}/download?bytes=${MEBIBYTES * MIB}`, authorization));
    const up = await timed(() => upload(`${base}/upload`, authorization, MEBIBYTES * MIB));
    return {
      name,
      downMiBPerSecond: MEBIBYTES / down,
      upMiBPerSecond: MEBIBYTES / up,
      rssGrowthBytes: pid === null ? null : highest - before,
    };
  } finally {
    clearInterval(sampler);
  }
}

/** Median speeds, and the growth of the first round: later rounds reuse its memory. */
function summary(rounds: readonly BodiesFigure[]): BodiesFigure {
  return {
    ...rounds[0]!,
    downMiBPerSecond: median(rounds.map((f) => f.downMiBPerSecond)),
    upMiBPerSecond: median(rounds.map((f) => f.upMiBPerSecond)),
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function download(url: string, authorization: string): Promise<void> {
  const { statusCode, body } = await request(url, { dispatcher, headers: { authorization } });
  if (statusCode !== 200) throw new Error(`download responded with ${statusCode}`);
  for await (const _chunk of body);
}

async function upload(url: string, authorization: string, bytes: number): Promise<void> {
  const headers = { authorization, 'content-type': 'application/octet-stream', 'content-length': String(bytes) };
  const { statusCode, body } = await request(url, {
    dispatcher,
    method: 'POST',
    headers,
    body: Readable.from(blocks(bytes)),
  });
  const answer = (await body.json()) as { bytes: number };
  if (statusCode !== 200 || answer.bytes !== bytes)
    throw new Error(`upload responded with ${statusCode}, ${answer.bytes} bytes`);
}

async function* blocks(bytes: number): AsyncGenerator<Buffer> {
  for (let left = bytes; left > 0; left -= BLOCK.length) yield left >= BLOCK.length ? BLOCK : BLOCK.subarray(0, left);
}

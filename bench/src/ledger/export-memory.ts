/** Memory of the control plane while it exports one agent's whole history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../process-usage.js';
import type { ApiTarget } from './usage-request-times.js';

const MIB = 2 ** 20;
const SAMPLE_EVERY_MS = 50;

interface ExportFigures {
  readonly format: string;
  readonly records: number;
  readonly seconds: number;
  readonly mebibytes: number;
  readonly rssGrowthMiB: number;
}

/** A client that reads at most this fast and disconnects after a while. */
interface SlowReader {
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

export async function measureExport(
  { url, session }: ApiTarget,
  agentId: string,
  format: 'csv' | 'json',
  controlPid: number,
  slow: SlowReader | null = null,
): Promise<ExportFigures> {
  const before = residentBytes(controlPid);
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentBytes(controlPid));
  }, SAMPLE_EVERY_MS);
  const startMs = performance.now();
  const path = `/v1/usage/agents/${agentId}/export?period=90d&format=${format}`;
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${session}` } });
  let bytes = 0;
  let lines = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
    if (slow === null) continue;
    const aheadMs = (1_000 * bytes) / slow.bytesPerSecond - (performance.now() - startMs);
    if (aheadMs > 0) await sleep(aheadMs);
    if (performance.now() - startMs > 1_000 * slow.seconds) break;
  }
  const seconds = Math.round((performance.now() - startMs) / 100) / 10;
  await sleep(SAMPLE_EVERY_MS);
  clearInterval(sampler);
  const records = format === 'csv' ? lines - 1 : lines - 2;
  const rssGrowthMiB = Math.round((peak - before) / MIB);
  return { format, records, seconds, mebibytes: Math.round(bytes / MIB), rssGrowthMiB };
}

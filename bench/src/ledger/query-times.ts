/** Times of usage answers over HTTP, as a dashboard asks them: one at a time, caches warm. */
import { percentile } from '../statistics.js';

export interface QueryTime {
  readonly query: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly bytes: number;
}

/** A slow query is asked less often. */
const TIME_MS_MAX = 5_000;
const SAMPLES_MIN = 10;

export interface ApiTarget {
  readonly url: string;
  readonly session: string;
}

export async function fetchText({ url, session }: ApiTarget, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${session}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}

/** `paths` are asked in turn, so that no query is only ever about one agent. */
export async function timeQuery(
  target: ApiTarget,
  query: string,
  paths: readonly string[],
  times: number,
): Promise<QueryTime> {
  const samples: number[] = [];
  let bytes = 0;
  for (const path of paths) await fetchText(target, path);
  const endMs = performance.now() + TIME_MS_MAX;
  for (let i = 0; i < times && (i < SAMPLES_MIN || performance.now() < endMs); i++) {
    const startMs = performance.now();
    bytes = (await fetchText(target, paths[i % paths.length]!)).length;
    samples.push(performance.now() - startMs);
  }
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  return { query, p50Ms: rounded(percentile(samples, 50)), p95Ms: rounded(percentile(samples, 95)), bytes };
}

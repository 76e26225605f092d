/** Closed-loop load with wrk (Debian package `wrk`): light enough not to be the bottleneck on two cores. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Answers that were not 2xx or 3xx, and socket errors. */
  readonly errors: number;
}

export async function runWrk(options: LoadOptions): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'acg-bench-wrk-'));
  const script = join(directory, 'post.lua');
  const headers = Object.entries({ 'Content-Type': 'application/json', ...options.headers })
    .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
    .join('\n');
  writeFileSync(script, `wrk.method = 'POST'\nwrk.body = ${JSON.stringify(options.body)}\n${headers}\n`);
  const { stdout } = await execute('wrk', [
    '-t1',
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    '-s',
    script,
    options.url,
  ]);
  const number = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0);
  return {
    requests: number(/(\d+) requests in/),
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    errors:
      number(/Non-2xx or 3xx responses: (\d+)/) +
      number(/connect (\d+)/) +
      number(/read (\d+)/) +
      number(/timeout (\d+)/),
  };
}

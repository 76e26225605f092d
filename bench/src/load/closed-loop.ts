/**
 * Closed-loop load over keep-alive connections: with wrk (Debian package `wrk`), which is light enough not to be the
 * bottleneck on two cores; without it by connections of this process.
 */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stopAtTeardown, temporaryDirectory } from '../teardown.js';
import { KeepAliveConnection, postRequest } from './keep-alive-connection.js';

const execute = promisify(execFile);

interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Responses other than 2xx or 3xx, and socket errors. */
  readonly errors: number;
}

const wrkAvailable = spawnSync('wrk', ['--version']).error === undefined;

export const runClosedLoop = (options: LoadOptions): Promise<LoadResult> =>
  wrkAvailable ? runWrk(options) : runHere(options);

async function runWrk(options: LoadOptions): Promise<LoadResult> {
  const script = join(temporaryDirectory(), 'post.lua');
  const headers = Object.entries({ 'Content-Type': 'application/json', ...options.headers })
    .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)
    .join('\n');
  writeFileSync(script, `wrk.method = 'POST'\nwrk.body = ${JSON.stringify(options.body)}\n${headers}\n`);
  const connections = `-c${options.connections}`;
  const running = execute('wrk', ['-t1', connections, `-d${options.seconds}s`, '-s', script, options.url]);
  const ended = stopAtTeardown(running.child);
  const { stdout } = await running;
  await ended();
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

async function runHere({ url, connections, seconds, headers, body }: LoadOptions): Promise<LoadResult> {
  const { origin } = new URL(url);
  const request = postRequest(url, headers, body);
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  let requests = 0;
  let errors = 0;
  const lane = (): Promise<void> =>
    new Promise((resolve) => {
      let connection = new KeepAliveConnection(origin);
      const next = (): void => {
        if (performance.now() >= endMs) {
          connection.close();
          resolve();
          return;
        }
        connection.send(request, (status) => {
          requests++;
          if (status < 200 || status > 399) errors++;
          if (connection.broken) connection = new KeepAliveConnection(origin);
          // In a later tick: a target that rejects at once must not overflow the stack.
          if (status === 0) setImmediate(next);
          else next();
        });
      };
      next();
    });
  await Promise.all(Array.from({ length: connections }, lane));
  return { requests, perSecond: (1_000 * requests) / (performance.now() - startMs), errors };
}

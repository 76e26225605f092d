/** A helper process of the bench: starts it, waits until it listens, stops it by pid. */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { stopAtTeardown } from './teardown.js';

export interface Child {
  readonly name: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const LISTEN_TIMEOUT_MS = 15_000;

/** Starts a program and waits until `port` accepts connections. */
export async function startChild(
  name: string,
  command: string,
  args: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Child> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
  const stop = stopAtTeardown(child);
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-2_000);
  });
  let failure: Error | null = null;
  child.on('error', (error) => {
    failure = error;
  });
  const deadline = Date.now() + LISTEN_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (failure !== null || child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${name} did not start: ${String(failure ?? stderr.trim())}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { name, pid: child.pid!, stop };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * Cleanup at the end of a scenario, after an error and at Ctrl-C. Each stop function is registered when its process or
 * file is created. They run newest first, each at most once.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Stop = () => Promise<void> | void;

const pending: Stop[] = [];
const STOP_TIMEOUT_MS = 25_000;
const KILL_AFTER_MS = 5_000;

/** The returned function runs `stop` now, unless it has already run. */
export function atTeardown(stop: Stop): () => Promise<void> {
  const once = async (): Promise<void> => {
    const at = pending.indexOf(once);
    if (at < 0) return;
    pending.splice(at, 1);
    await stop();
  };
  pending.push(once);
  return once;
}

/** Runs the remaining stop functions; a failed one does not prevent the others. */
export async function tearDown(): Promise<void> {
  for (let stop = pending.at(-1); stop !== undefined; stop = pending.at(-1)) {
    try {
      await stop();
    } catch (error) {
      console.error('could not be stopped:', error);
    }
  }
}

let interrupted = false;

/** After a signal, further failures are a result of it. */
export const wasInterrupted = (): boolean => interrupted;

/** From now on SIGINT and SIGTERM tear down and exit the process; a second signal exits at once. */
export function tearDownOnSignals(): void {
  for (const [signal, exitCode] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (interrupted) process.exit(exitCode);
      interrupted = true;
      console.error(`${signal}: stopping everything that was started …`);
      setTimeout(() => process.exit(exitCode), STOP_TIMEOUT_MS).unref();
      void tearDown().finally(() => process.exit(exitCode));
    });
  }
}

/** Stops a program by its pid, first with SIGTERM. Registered at teardown. */
export function stopAtTeardown(child: ChildProcess): () => Promise<void> {
  return atTeardown(async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    await gone;
    clearTimeout(timer);
  });
}

/** A new temporary directory, removed at teardown. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'acg-bench-'));
  atTeardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

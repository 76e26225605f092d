/**
 * What has to end when the bench does, however it ends: at the end of a scenario, at an error, at Ctrl-C. Stops are
 * registered when the thing is started and run newest first, each at most once.
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

/** The returned function runs `stop` now, unless it ran before. */
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

/** Runs what is left; one stop that fails does not keep the others from running. */
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

/** A signal has come: what fails from now on fails because of that. */
export const wasInterrupted = (): boolean => interrupted;

/** From now on SIGINT and SIGTERM tear down and end the process; a second one ends it at once. */
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

/** Ends a program, by its pid: politely first. Registered at teardown. */
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

/** A new directory under the system's for temporary files, removed at teardown. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'acg-bench-'));
  atTeardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

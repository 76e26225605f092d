/** An interrupted chaos run leaves no process and no file behind, whatever it was doing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noop } from '@acg/base/noop';
import { expect, test } from 'vitest';
import { waitForCondition } from '../fixtures/stack.js';

const SCRIPT = fileURLToPath(new URL('../../dist/chaos/main.js', import.meta.url));
const TIMEOUT_MS = 300_000;
/** A process that still runs after this time was left behind. */
const EXIT_TIMEOUT_MS = 10_000;

/** Runs until `isThen` returns true, then sends the signal; Ctrl-C goes to the whole process group. */
async function runUntilInterrupted(
  signal: NodeJS.Signals,
  toGroup: boolean,
  isThen: (printed: string, processes: readonly { command: string }[]) => boolean,
) {
  const home = mkdtempSync(join(tmpdir(), 'acg-interrupt-'));
  chmodSync(home, 0o711);
  const env = { PATH: process.env.PATH, TMPDIR: home };
  const child = spawn(process.execPath, [SCRIPT, '--seed', '4711', '--minutes', '2'], { env, detached: true });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  }
  const closed = once(child, 'close');
  await waitForCondition(
    () => child.exitCode !== null || isThen(printed, listProcessesUnder(home)),
    'the moment to interrupt',
    TIMEOUT_MS / 2,
  );
  if (child.exitCode === null) process.kill(toGroup ? -child.pid! : child.pid!, signal);
  const [exitCode] = (await closed) as [number | null];
  // The watcher of Postgres exits when it reads the end of the run's pipe, a moment after the run itself has exited.
  await waitForCondition(() => listProcessesUnder(home).length === 0, 'no process is left', EXIT_TIMEOUT_MS).catch(
    noop,
  );
  const left = { processes: listProcessesUnder(home), files: readdirSync(home) };
  for (const { pid } of left.processes) process.kill(pid, 'SIGKILL');
  rmSync(home, { recursive: true, force: true });
  return { exitCode, printed, left };
}

/** Processes with that directory in their command, environment or working directory. */
function listProcessesUnder(home: string): { pid: number; command: string }[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const all = [command, readFileSync(`/proc/${pid}/environ`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
      return all.some((text) => text.includes(home)) ? [{ pid: Number(pid), command }] : [];
    } catch {
      return [];
    }
  });
}

test(
  'interrupted run: cleans up after Ctrl-C during traffic and faults',
  async () => {
    const { exitCode, printed, left } = await runUntilInterrupted('SIGINT', true, (so) =>
      /\d under way; hurt:/.test(so),
    );
    expect(left, printed).toEqual({ processes: [], files: [] });
    expect(exitCode).toBe(130);
    expect(printed).toMatch(/seed 4711: exit 130\n$/);
  },
  TIMEOUT_MS,
);

test(
  'interrupted run: cleans up after SIGTERM during startup',
  async () => {
    const isStarting = (processes: readonly { command: string }[]): boolean =>
      processes.some(({ command }) => command.includes('controlplane'));
    const { exitCode, printed, left } = await runUntilInterrupted('SIGTERM', false, (_, processes) =>
      isStarting(processes),
    );
    expect(left, printed).toEqual({ processes: [], files: [] });
    expect(exitCode).toBe(143);
    expect(printed).toMatch(/seed 4711: exit 143\n$/);
  },
  TIMEOUT_MS,
);

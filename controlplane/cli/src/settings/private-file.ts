/** Reads and writes JSON files of this user: replaced atomically, never readable by other users. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';

/** Returns the parsed content; null when the file does not exist. */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CliError(EXIT_CODES.failed, `${path}: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may be a secret.
    throw new CliError(EXIT_CODES.failed, `${path} is not JSON`, { hint: 'correct or delete it' });
  }
}

export function writePrivateFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.tmp`;
  try {
    rmSync(draft, { force: true }); // a leftover file would keep its mode
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CliError(EXIT_CODES.failed, `cannot write ${path}: ${(error as Error).message}`);
  }
}

/** Removes the rights of other users; returns true when there were any. Windows has no such rights. */
export function restrictToOwner(path: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return false;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || (found.mode & 0o077) === 0) return false;
  chmodSync(path, 0o600);
  return true;
}

const LOCK_WAIT_MS = 5_000;
const LOCK_POLL_MS = 10;
/** Writers hold the lock for milliseconds, so a lock of this age (ms) belongs to a process that was killed. */
const LOCK_STALE_MS = 10_000;

/** Runs `change` in one process at a time, so that two processes that save simultaneously do not undo each other. */
export function withFileLock(path: string, change: () => void): void {
  const lock = `${path}.lock`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  acquireLock(lock);
  try {
    change();
  } finally {
    rmSync(lock, { force: true });
  }
}

function acquireLock(lock: string): void {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      writeFileSync(lock, '', { mode: 0o600, flag: 'wx' });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new CliError(EXIT_CODES.failed, `cannot write ${lock}: ${(error as Error).message}`);
      }
    }
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - since > LOCK_STALE_MS) rmSync(lock, { force: true });
    else if (Date.now() > deadline) throw new CliError(EXIT_CODES.failed, `${lock} is locked by another acg`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

/**
 * Each worker process keeps its segments in a directory of its own under the spool root, `worker-0`, `worker-1` …,
 * held by an OS lock. A directory whose lock is free belongs to nobody alive: a starting worker takes the first such
 * directory with all that is in it, and a running one adopts what dead siblings left. Directories are never removed:
 * a directory that vanished between another worker's open and lock would swallow its records.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '@acg/base/directory-lock';

const WORKERS_MAX = 1024;
const WORKER_DIRECTORY = /^worker-\d{1,4}$/;
const SEGMENT_FILE = /^\d{13}-\d{6}\.seg$/;

export interface WorkerDirectory {
  readonly path: string;
  readonly lock: DirectoryLock;
}

/** `message` is one line that says what to set. */
export class SpoolUnusable extends Error {
  constructor(root: string, cause: unknown) {
    super(`SPOOL_DIR ${root} cannot be used: ${(cause as Error).message}`, { cause });
    this.name = 'SpoolUnusable';
  }
}

/**
 * Takes the first worker directory that no living process holds, with whatever a dead one left in it. Throws
 * {@link SpoolUnusable}.
 */
export function claimWorkerDirectory(root: string): WorkerDirectory {
  try {
    return claimFirst(root);
  } catch (error) {
    throw new SpoolUnusable(root, error);
  }
}

function claimFirst(root: string): WorkerDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (let i = 0; i < WORKERS_MAX; i++) {
    const path = join(root, `worker-${i}`);
    const lock = tryLockDirectory(path);
    if (lock !== null) return { path, lock };
  }
  throw new DirectoryInUse(root);
}

/** Locks the directories of dead siblings that still hold segments. */
export function adoptDeadSiblings(root: string, held: ReadonlySet<string>): readonly WorkerDirectory[] {
  const adopted: WorkerDirectory[] = [];
  for (const name of readdirSync(root).filter((entry) => WORKER_DIRECTORY.test(entry))) {
    const path = join(root, name);
    if (held.has(path) || listSegmentFiles(path).length === 0) continue;
    const lock = tryLockDirectory(path);
    if (lock !== null) adopted.push({ path, lock });
  }
  return adopted;
}

/** Paths of the segments in a directory, oldest first. */
export function listSegmentFiles(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => SEGMENT_FILE.test(name));
  return names.sort().map((name) => join(directory, name));
}

/** File name of the segment opened at `nowMs`; `counter` tells segments of one millisecond apart. */
export function segmentFileName(nowMs: number, counter: number): string {
  return `${String(nowMs).padStart(13, '0')}-${String(counter % 1_000_000).padStart(6, '0')}.seg`;
}

function tryLockDirectory(path: string): DirectoryLock | null {
  try {
    return lockDirectory(path, 'spool');
  } catch (error) {
    if (error instanceof DirectoryInUse) return null;
    throw error;
  }
}

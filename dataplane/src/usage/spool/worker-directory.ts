/**
 * Each worker process keeps its segments in a directory of its own under the spool root, `worker-0`, `worker-1` …,
 * held by an OS lock. A directory whose lock is free belongs to nobody alive: a starting worker takes the first such
 * directory with all that is in it, and a running one adopts what dead siblings left. Directories are never removed:
 * a directory that vanished between another worker's open and lock would swallow its records.
 *
 *   <opened ms>-<counter>.seg                               a segment; perhaps nothing of it was sent yet
 *   <opened ms>-<counter>.<shipped ms>.<number>.<id>.kept   one that the ledger has, kept for a while (segments.ts); number
 *                                                           and id are the ledger's mark, `0.none` where it sent none
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '@acg/base/directory-lock';

const WORKERS_MAX = 1024;
const WORKER_DIRECTORY = /^worker-\d{1,4}$/;
const SEGMENT_FILE = /^\d{13}-\d{6}\.seg$/;
const KEPT_FILE = /^(\d{13}-\d{6})\.(\d{13})\.(\d{1,16})\.([0-9a-f-]{36}|none)\.kept$/;

export interface WorkerDirectory {
  readonly path: string;
  readonly lock: DirectoryLock;
}

/** `message` is one line that says what to set. */
export class SpoolUnusableError extends Error {
  constructor(root: string, cause: unknown) {
    super(`SPOOL_DIR ${root} cannot be used: ${(cause as Error).message}`, { cause });
    this.name = 'SpoolUnusable';
  }
}

/**
 * Takes the first worker directory that no living process holds, with whatever a dead one left in it. Throws
 * {@link SpoolUnusableError}.
 */
export function claimWorkerDirectory(root: string): WorkerDirectory {
  try {
    return claimFirstFree(root);
  } catch (error) {
    throw new SpoolUnusableError(root, error);
  }
}

function claimFirstFree(root: string): WorkerDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  for (let i = 0; i < WORKERS_MAX; i++) {
    const path = join(root, `worker-${i}`);
    const lock = tryLockDirectory(path);
    if (lock !== null) return { path, lock };
  }
  throw new DirectoryInUse(root);
}

/** Locks the directories of dead siblings that still hold segments, sent or not. */
export function adoptDeadSiblings(root: string, held: ReadonlySet<string>): readonly WorkerDirectory[] {
  const adopted: WorkerDirectory[] = [];
  for (const name of readdirSync(root).filter((entry) => WORKER_DIRECTORY.test(entry))) {
    const path = join(root, name);
    if (held.has(path) || isEmpty(path)) continue;
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

/** Names one commit of the ledger; see gateway.proto. */
export interface LedgerMark {
  readonly number: number;
  readonly id: string;
}

interface RetainedSegmentFile {
  readonly path: string;
  /** Unix ms. */
  readonly shippedMs: number;
  /** Of the commit that completed it; null: not known. */
  readonly mark: LedgerMark | null;
}

/** The segments in a directory that the ledger has, oldest first. */
export function listRetainedSegments(directory: string): readonly RetainedSegmentFile[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => {
      const parts = KEPT_FILE.exec(name);
      if (parts === null) return [];
      const [, , shippedMs, number, id] = parts;
      const mark = id === 'none' ? null : { number: Number(number), id: id! };
      return [{ path: join(directory, name), shippedMs: Number(shippedMs), mark }];
    });
}

/** The path that a segment has once the ledger has all of it. */
export function retainedSegmentPath(path: string, shippedMs: number, mark: LedgerMark | null): string {
  const name = basename(path).split('.', 1)[0]!;
  const shipped = String(shippedMs).padStart(13, '0');
  return join(dirname(path), `${name}.${shipped}.${mark === null ? '0.none' : `${mark.number}.${mark.id}`}.kept`);
}

/** The path that a kept segment has once it is to be sent again. */
export const unsentSegmentPath = (path: string): string =>
  join(dirname(path), `${basename(path).split('.', 1)[0]!}.seg`);

const isEmpty = (directory: string): boolean =>
  !readdirSync(directory).some((name) => SEGMENT_FILE.test(name) || KEPT_FILE.test(name));

/** File name of the segment opened at `nowMs`; `counter` tells segments of one millisecond apart. */
export function formatSegmentFileName(nowMs: number, counter: number): string {
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

/**
 * Directories of the worker processes under the spool root: `worker-0`, `worker-1` …, each protected by an OS lock. A
 * free lock means that no living process owns the directory. A starting worker claims the first free directory with its
 * files, and a running one adopts directories of dead siblings. Directories are never removed: one removed between
 * another worker's open and lock would lose its records.
 *
 *   <opened ms>-<counter>.seg                               a segment that is not known to be sent
 *   <opened ms>-<counter>.<reported ms>.<number>.<id>.kept  a retained segment, which the ledger has (segment-queue.ts);
 *                                                           number and id are the ledger mark, `0.none` without one
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DirectoryInUse, type DirectoryLock, lockDirectory } from '@acg/base/directory-lock';

const WORKERS_MAX = 1024;
const WORKER_DIRECTORY = /^worker-\d{1,4}$/;
const SEGMENT_FILE = /^\d{13}-\d{6}\.seg$/;
const RETAINED_FILE = /^(\d{13}-\d{6})\.(\d{13})\.(\d{1,16})\.([0-9a-f-]{36}|none)\.kept$/;

export interface WorkerDirectory {
  readonly path: string;
  readonly lock: DirectoryLock;
}

/** `message` is one line that names the variable to set. */
export class SpoolUnusableError extends Error {
  constructor(root: string, cause: unknown) {
    super(`SPOOL_DIR ${root} cannot be used: ${(cause as Error).message}`, { cause });
    this.name = 'SpoolUnusableError';
  }
}

/**
 * Claims the first worker directory that no living process owns, with the files of a dead owner. Throws {@link
 * SpoolUnusableError}.
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

/** Locks the directories of dead siblings that still have segments, sent or unsent. */
export function adoptDeadSiblings(root: string, ownedPaths: ReadonlySet<string>): readonly WorkerDirectory[] {
  const adopted: WorkerDirectory[] = [];
  for (const name of readdirSync(root).filter((entry) => WORKER_DIRECTORY.test(entry))) {
    const path = join(root, name);
    if (ownedPaths.has(path) || isEmpty(path)) continue;
    const lock = tryLockDirectory(path);
    if (lock !== null) adopted.push({ path, lock });
  }
  return adopted;
}

/** Paths of the unsent segments in a directory, oldest first. */
export function listSegmentFiles(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => SEGMENT_FILE.test(name));
  return names.sort().map((name) => join(directory, name));
}

/** Identifies one commit of the ledger; see gateway.proto. */
export interface LedgerMark {
  readonly number: number;
  readonly id: string;
}

interface RetainedSegmentFile {
  readonly path: string;
  /** When the ledger had all of it, Unix ms. */
  readonly reportedMs: number;
  /** Commit that completed the segment; null: unknown. */
  readonly mark: LedgerMark | null;
}

/** The retained segments in a directory, oldest first. */
export function listRetainedSegments(directory: string): readonly RetainedSegmentFile[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => {
      const match = RETAINED_FILE.exec(name);
      if (match === null) return [];
      const [, , reportedMs, number, id] = match;
      const mark = id === 'none' ? null : { number: Number(number), id: id! };
      return [{ path: join(directory, name), reportedMs: Number(reportedMs), mark }];
    });
}

/** Path of a segment once it is retained. */
export function retainedSegmentPath(path: string, reportedMs: number, mark: LedgerMark | null): string {
  const name = basename(path).split('.', 1)[0]!;
  const reported = String(reportedMs).padStart(13, '0');
  return join(dirname(path), `${name}.${reported}.${mark === null ? '0.none' : `${mark.number}.${mark.id}`}.kept`);
}

/** Path of a retained segment once it must be sent again. */
export const unsentSegmentPath = (path: string): string =>
  join(dirname(path), `${basename(path).split('.', 1)[0]!}.seg`);

const isEmpty = (directory: string): boolean =>
  !readdirSync(directory).some((name) => SEGMENT_FILE.test(name) || RETAINED_FILE.test(name));

/** File name of a segment opened at `nowMs`; `counter` distinguishes segments of one millisecond. */
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

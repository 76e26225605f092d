/**
 * Ensures that one process uses a data directory: an OS lock on a file in it. The kernel releases the lock when the
 * process ends, even by SIGKILL (docs/operations.md#single-node). The empty lock file stays and has no meaning by itself.
 */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';

export class DirectoryInUse extends Error {
  constructor(readonly directory: string) {
    super(`${directory} is in use by another process: stop that one first, or choose another directory`);
    this.name = 'DirectoryInUse';
  }
}

export interface DirectoryLock {
  release(): void;
}

/** Takes the lock `name` of a directory (created with mode 0700 when missing) or throws {@link DirectoryInUse}. */
export function lockDirectory(directory: string, name: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fd = openSync(join(directory, `${name}.lock`), 'a+', 0o600);
  if (!tryLock(fd)) {
    closeSync(fd);
    throw new DirectoryInUse(directory);
  }
  return { release: () => closeSync(fd) };
}

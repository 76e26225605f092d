/**
 * Creates the data directory. Not with `recursive`: in a file system that creates no directories, such as /proc, Node
 * 20 repeats that call forever. A failure names the variable and the directory.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DamagedDataDirectoryError } from './node-secrets.js';

/** `directory`: an absolute path. */
export function createDataDirectory(directory: string): void {
  const missing: string[] = [];
  let existing = directory;
  for (; !existsSync(existing); existing = dirname(existing)) missing.unshift(existing);
  if (!statSync(existing).isDirectory())
    throw new DamagedDataDirectoryError(`GATEWAY_DATA_DIR=${directory}: ${existing} is not a directory`);
  for (const path of missing) {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      throw new DamagedDataDirectoryError(
        `GATEWAY_DATA_DIR=${directory} cannot be created: ${(error as Error).message}`,
      );
    }
  }
}

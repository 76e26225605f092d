/** JSON files of this user alone: written whole or not at all, never readable by anybody else. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, Failure } from '../failure.js';

/** What is in it; null: there is no such file. */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Failure(EXIT.failed, `${path}: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may be a secret.
    throw new Failure(EXIT.failed, `${path} is not JSON`, { hint: 'mend or delete it' });
  }
}

export function writePrivateFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.tmp`;
  try {
    rmSync(draft, { force: true }); // else the mode would be that of what was left there
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure(EXIT.failed, `cannot write ${path}: ${(error as Error).message}`);
  }
}

/** Takes everybody else's rights away; true where there were some. Windows has no such bits. */
export function closeToOthers(path: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return false;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o077) === 0) return false;
  chmodSync(path, 0o600);
  return true;
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** SHA-256 of names and contents, in hex. A build whose inputs have the hash of before is skipped. */
export function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path).update('\0').update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

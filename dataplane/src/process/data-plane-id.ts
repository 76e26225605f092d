/** The data plane's own id: made once, kept in its data directory (docs/contract.md#without-the-counter-store). */

import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UUID_PATTERN } from '@acg/base/uuid';

/**
 * Reads `{dataDir}/dataplane-id`, or makes it; workers that start together agree on the first one's. A damaged file is
 * made anew: an id only has to be the same most days.
 */
export function loadDataPlaneId(dataDir: string): string {
  const path = join(dataDir, 'dataplane-id');
  const kept = readFileOrEmpty(path).trim();
  if (UUID_PATTERN.test(kept)) return kept;
  const id = randomUUID();
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${id}\n`, { mode: 0o600 });
  try {
    if (kept !== '') rmSync(path, { force: true });
    linkSync(own, path); // unlike a rename it fails where another worker was first
    return id;
  } catch {
    const first = readFileOrEmpty(path).trim();
    return UUID_PATTERN.test(first) ? first : id;
  } finally {
    rmSync(own, { force: true });
  }
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

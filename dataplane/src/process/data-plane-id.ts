/** The data plane's id: created once and stored in its data directory (docs/contract.md#counter-store-outage). */

import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UUID_PATTERN } from '@acg/base/uuid-patterns';

/**
 * Reads `{dataDir}/dataplane-id`, or creates it; workers that start together use the first one's. A damaged file is
 * replaced with a new id, which is safe because the id only needs to be stable most of the time.
 */
export function loadDataPlaneId(dataDir: string): string {
  const path = join(dataDir, 'dataplane-id');
  const kept = readFileOrEmpty(path).trim();
  if (UUID_PATTERN.test(kept)) return kept;
  const id = randomUUID();
  const ownPath = `${path}.${process.pid}`;
  writeFileSync(ownPath, `${id}\n`, { mode: 0o600 });
  try {
    if (kept !== '') rmSync(path, { force: true });
    linkSync(ownPath, path); // unlike rename, link fails when another worker was first
    return id;
  } catch {
    const first = readFileOrEmpty(path).trim();
    return UUID_PATTERN.test(first) ? first : id;
  } finally {
    rmSync(ownPath, { force: true });
  }
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

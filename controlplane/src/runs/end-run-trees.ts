import type { Tx } from '../db/postgres-client.js';
import { appendRunsEnded } from './ending/append-runs-ended.js';
import * as store from './store.js';

/**
 * Ends runs and their sub-runs. Returns those that ended, and the runs as they are then. The caller publishes an
 * invalidation of the kind `key` with the id of each run: contexts name their run and its ancestors, so it reaches the
 * whole tree.
 */
export async function endRunTrees(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
): Promise<Awaited<ReturnType<typeof store.endRuns>>> {
  const result = await store.endRuns(tx, orgId, ids);
  const endedIds = new Set(result.ended.map(({ id }) => id));
  const topRuns = [...result.runs.values()].filter(({ id, ancestors }) => ancestors.length === 0 && endedIds.has(id));
  await appendRunsEnded(
    tx,
    topRuns.map((run) => ({ ...run, orgId })),
  );
  return result;
}

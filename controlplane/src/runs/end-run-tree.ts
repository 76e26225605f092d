import type { Tx } from '../db/postgres-client.js';
import { appendRunEnded } from './ending/append-run-ended.js';
import * as store from './store.js';

/**
 * Ends a run and its sub-runs. Returns the ids of those that ended. The caller publishes one invalidation of
 * the kind `key` with the run's id: contexts name their run and its ancestors, so it reaches the whole tree.
 */
export async function endRunTree(tx: Tx, orgId: string, run: store.RunRow): Promise<readonly string[]> {
  const ended = await store.endRun(tx, orgId, run.id);
  if (run.ancestors.length === 0 && ended.includes(run.id))
    await appendRunEnded(tx, orgId, (await store.loadRun(tx, orgId, run.id))!);
  return ended;
}

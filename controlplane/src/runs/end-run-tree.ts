import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';
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

export async function appendRunEnded(tx: Tx, orgId: string, run: store.RunRow): Promise<void> {
  await appendEvent(tx, orgId, 'run.ended', {
    runId: run.id,
    label: run.label,
    agentId: run.agentId,
    agentName: run.agentName,
    reason: run.state === 'expired' ? 'expired' : 'ended',
    budgetCents: run.budgetCents,
    spentCents: toCents(run.spentNanos),
    orgId,
  });
}

export const toCents = (nanos: number): number => Math.floor(Number(nanos) / NANOS_PER_CENT + 0.5);

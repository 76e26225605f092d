import type { Tx } from '../../db/postgres-client.js';
import { appendRunsEnded, loadEndedRuns } from './append-runs-ended.js';

/**
 * Ends all running runs of these agents, or those that these gateway tokens (`key_id`) or keys of these trust rules
 * started, with their sub-runs. The caller invalidates the agents, tokens or rules, which ends the calls of the runs: their
 * contexts name all three.
 */
export async function endRunsOf(
  tx: Tx,
  column: 'agent_id' | 'key_id' | 'trust_rule_id',
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const isOpen = tx`${tx(column)} = any(${[...ids]}::uuid[]) and ended_at is null`;
  // From the top down and before the change, as in runs/store.ts: it waits for sub-runs that are being started, which the
  // change would not see.
  await tx`select from runs where ${isOpen} order by cardinality(ancestors), id for no key update`;
  const ended = await tx<{ id: string; isTop: boolean }[]>`
    update runs set ended_at = now(), end_reason = 'ended' where ${isOpen} and expires_at > now()
    returning id, ancestors = '{}' as "isTop"`;
  const topIds = ended.filter(({ isTop }) => isTop).map(({ id }) => id);
  await appendRunsEnded(tx, await loadEndedRuns(tx, topIds));
}

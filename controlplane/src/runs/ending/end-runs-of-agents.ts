import type { Tx } from '../../db/postgres-client.js';
import { appendRunEnded } from './append-run-ended.js';

type EndedRow = Parameters<typeof appendRunEnded>[2] & { readonly orgId: string };

/** Ends all running runs of these agents. The caller invalidates the agents, which ends the calls of their runs. */
export async function endRunsOfAgents(tx: Tx, agentIds: readonly string[]): Promise<void> {
  const ofAgents = tx`agent_id = any(${[...agentIds]}::uuid[]) and ended_at is null`;
  // From the top down and before the change, as in runs/store.ts: it waits for sub-runs that are being started, which the
  // change would not see.
  await tx`select from runs where ${ofAgents} order by cardinality(ancestors), id for no key update`;
  const ended = await tx<{ id: string; isTop: boolean }[]>`
    update runs set ended_at = now(), end_reason = 'ended' where ${ofAgents} and expires_at > now()
    returning id, ancestors = '{}' as "isTop"`;
  const topIds = ended.filter(({ isTop }) => isTop).map(({ id }) => id);
  if (topIds.length === 0) return;
  const topRuns = await tx<EndedRow[]>`
    select r.id, r.org_id as "orgId", r.label, r.agent_id as "agentId", a.name as "agentName", r.end_reason as state,
           r.budget_cents as "budgetCents", s.spent_nanos as "spentNanos"
      from runs r join agents a on a.id = r.agent_id cross join lateral budget_period_spend(r.org_id, r.id, 'total') s
     where r.id = any(${topIds}::uuid[]) order by r.id`;
  for (const run of topRuns) await appendRunEnded(tx, run.orgId, run);
}

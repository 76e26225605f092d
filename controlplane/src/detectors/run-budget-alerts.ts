/** The event `run.budget_exceeded`: once per run, when its budget rejects a call (docs/contract.md#runs). */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Tx } from '../db/postgres-client.js';
import { appendEvent } from '../events/append-events.js';

interface RejectingRun {
  readonly id: string;
  readonly orgId: string;
  readonly label: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly budgetCents: number;
  readonly spentNanos: number;
}

/** Called by the ingest within its transaction, with the ids of the budgets that rejected calls. */
export async function detectRejectingRuns(
  tx: Tx,
  rejections: readonly { readonly orgId: string; readonly budgetIds: readonly string[] }[],
): Promise<void> {
  const rejected = rejections.flatMap(({ orgId, budgetIds }) => budgetIds.map((id) => ({ id, orgId })));
  if (rejected.length === 0) return;
  const runs = await tx<RejectingRun[]>`
    with found as (
      select r.id from runs r
        join unnest(${rejected.map(({ id }) => id)}::uuid[], ${rejected.map(({ orgId }) => orgId)}::uuid[]) as b(id, org_id)
          on b.id = r.id and b.org_id = r.org_id
       where r.exceeded_at is null order by r.id for update of r
    ), marked as (
      update runs set exceeded_at = now() where id in (select id from found) and exceeded_at is null
      returning id, org_id, label, agent_id, budget_cents
    )
    select m.id, m.org_id as "orgId", m.label, m.agent_id as "agentId", a.name as "agentName",
           m.budget_cents as "budgetCents", s.spent_nanos as "spentNanos"
      from marked m join agents a on a.id = m.agent_id
     cross join lateral budget_period_spend(m.org_id, m.id, 'total') s`;
  for (const { id, orgId, spentNanos, ...run } of runs) {
    const spentCents = Math.round(spentNanos / NANOS_PER_CENT);
    await appendEvent(tx, orgId, 'run.budget_exceeded', { ...run, runId: id, spentCents, orgId });
  }
}

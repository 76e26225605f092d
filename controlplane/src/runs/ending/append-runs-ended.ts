import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import { appendEvents } from '../../events/append-events.js';

/** A top run that has ended. */
interface EndedRun {
  readonly id: string;
  readonly orgId: string;
  readonly label: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly state: string;
  readonly budgetCents: number;
  readonly spentNanos: number;
}

export async function loadEndedRuns(tx: Tx, ids: readonly string[]): Promise<readonly EndedRun[]> {
  if (ids.length === 0) return [];
  return tx<EndedRun[]>`
    select r.id, r.org_id as "orgId", r.label, r.agent_id as "agentId", a.name as "agentName", r.end_reason as state,
           r.budget_cents as "budgetCents", s.spent_nanos as "spentNanos"
      from runs r join agents a on a.id = r.agent_id cross join lateral budget_period_spend(r.org_id, r.id, 'total') s
     where r.id = any(${[...ids]}::uuid[]) order by r.id`;
}

export async function appendRunsEnded(tx: Tx, runs: readonly EndedRun[]): Promise<void> {
  const events = runs.map(({ orgId, ...run }) => ({
    orgId,
    data: {
      runId: run.id,
      label: run.label,
      agentId: run.agentId,
      agentName: run.agentName,
      reason: run.state === 'expired' ? ('expired' as const) : ('ended' as const),
      budgetCents: run.budgetCents,
      spentCents: toCents(run.spentNanos),
      orgId,
    },
  }));
  await appendEvents(tx, 'run.ended', events);
}

export const toCents = (nanos: number): number => Math.floor(Number(nanos) / NANOS_PER_CENT + 0.5);

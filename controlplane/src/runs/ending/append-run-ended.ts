import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Tx } from '../../db/postgres-client.js';
import { appendEvent } from '../../events/append-events.js';

/** A top run that has ended. */
interface EndedRun {
  readonly id: string;
  readonly label: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly state: string;
  readonly budgetCents: number;
  readonly spentNanos: number;
}

export async function appendRunEnded(tx: Tx, orgId: string, run: EndedRun): Promise<void> {
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

/**
 * Hard budgets: what an agent's calls cost in the ledger stays within its budget. What docs/contract.md#hard-budgets takes
 * out is taken out here call by call: one whose data plane was killed under it, and one that ran while the counter store
 * was away or came back without what its primary had last been told.
 */
import {
  type AgentTerms,
  type BookedCall,
  type CallTrace,
  diedUnder,
  type FaultTrace,
  type Interval,
  overlaps,
  timeOf,
} from '../history.js';

interface BudgetHistory {
  readonly agents: readonly AgentTerms[];
  readonly calls: readonly CallTrace[];
  readonly booked: readonly BookedCall[];
  readonly faults: readonly FaultTrace[];
  readonly storeAway: readonly Interval[];
}

export interface HardSpend {
  readonly agent: string;
  readonly budgetNanos: number;
  readonly spentNanos: number;
  /** Of calls that the bound does not cover. */
  readonly outsideNanos: number;
}

export function hardSpends({ agents, calls, booked, faults, storeAway }: BudgetHistory): HardSpend[] {
  const callOf = new Map(calls.map((call) => [call.id, call]));
  const isOutside = (call: CallTrace): boolean =>
    diedUnder(call, faults) || storeAway.some((gap) => overlaps(gap, timeOf(call)));
  return agents
    .filter(({ hardBudget, budgetNanos }) => hardBudget && budgetNanos !== null)
    .map(({ agent, budgetNanos }) => {
      const own = booked.filter((record) => record.agent === agent);
      const outside = own.filter(({ callId }) => {
        const call = callId === null ? undefined : callOf.get(callId);
        return call !== undefined && isOutside(call);
      });
      return { agent, budgetNanos: budgetNanos!, spentNanos: sumOf(own), outsideNanos: sumOf(outside) };
    });
}

export function hardBudgetsKept(spends: readonly HardSpend[]): string[] {
  return spends
    .filter(({ spentNanos, outsideNanos, budgetNanos }) => spentNanos - outsideNanos > budgetNanos)
    .map(
      ({ agent, spentNanos, outsideNanos, budgetNanos }) =>
        `${agent}: spent ${spentNanos} of ${budgetNanos} nano-dollars, ${outsideNanos} of them where the bound does not hold`,
    );
}

const sumOf = (records: readonly BookedCall[]): number => records.reduce((sum, { costNanos }) => sum + costNanos, 0);

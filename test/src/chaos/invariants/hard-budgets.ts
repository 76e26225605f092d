/**
 * Hard budgets: what an agent's calls cost in the ledger stays within its budget. What docs/contract.md#hard-budgets takes
 * out is taken out here call by call: one whose data plane was killed under it, and one that ran while the counter store
 * was away or came back without what its primary had last been told.
 */
import {
  type AgentLimits,
  type CallTrace,
  callInterval,
  type FaultTrace,
  type Interval,
  type LedgerCall,
  overlaps,
  wasDataPlaneKilledDuring,
} from '../evidence/history.js';

interface BudgetHistory {
  readonly agents: readonly AgentLimits[];
  readonly calls: readonly CallTrace[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly faults: readonly FaultTrace[];
  readonly storeOutages: readonly Interval[];
}

export interface HardBudgetSpend {
  readonly agent: string;
  readonly budgetNanos: number;
  readonly spentNanos: number;
  /** Of calls that the bound does not cover. */
  readonly exemptNanos: number;
}

export function sumHardBudgetSpend({
  agents,
  calls,
  ledgerCalls: booked,
  faults,
  storeOutages: storeAway,
}: BudgetHistory): HardBudgetSpend[] {
  const callOf = new Map(calls.map((call) => [call.id, call]));
  const isOutside = (call: CallTrace): boolean =>
    wasDataPlaneKilledDuring(call, faults) || storeAway.some((gap) => overlaps(gap, callInterval(call)));
  return agents
    .filter(({ hardBudget, budgetNanos }) => hardBudget && budgetNanos !== null)
    .map(({ agent, budgetNanos }) => {
      const own = booked.filter((record) => record.agent === agent);
      const outside = own.filter(({ callId }) => {
        const call = callId === null ? undefined : callOf.get(callId);
        return call !== undefined && isOutside(call);
      });
      return { agent, budgetNanos: budgetNanos!, spentNanos: sumCostNanos(own), exemptNanos: sumCostNanos(outside) };
    });
}

export function checkHardBudgets(spends: readonly HardBudgetSpend[]): string[] {
  return spends
    .filter(({ spentNanos, exemptNanos: outsideNanos, budgetNanos }) => spentNanos - outsideNanos > budgetNanos)
    .map(
      ({ agent, spentNanos, exemptNanos: outsideNanos, budgetNanos }) =>
        `${agent}: spent ${spentNanos} of ${budgetNanos} nano-dollars, ${outsideNanos} of them where the bound does not hold`,
    );
}

const sumCostNanos = (records: readonly LedgerCall[]): number =>
  records.reduce((sum, { costNanos }) => sum + costNanos, 0);

/**
 * Hard budgets: the ledger cost of an agent's calls stays within its budget. Exempt, as in
 * docs/contract.md#hard-budgets, is each call whose data plane was killed during the call, and each call during an
 * outage of the counter store or a failover that lost writes.
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
} from '../evidence/evidence-types.js';

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
  /** Cost of the exempt calls, which the bound does not cover. */
  readonly exemptNanos: number;
}

export function sumHardBudgetSpend({
  agents,
  calls,
  ledgerCalls,
  faults,
  storeOutages,
}: BudgetHistory): HardBudgetSpend[] {
  const callOf = new Map(calls.map((call) => [call.id, call]));
  const isExempt = (call: CallTrace): boolean =>
    wasDataPlaneKilledDuring(call, faults) || storeOutages.some((gap) => overlaps(gap, callInterval(call)));
  return agents
    .filter(({ hardBudget, budgetNanos }) => hardBudget && budgetNanos !== null)
    .map(({ agent, budgetNanos }) => {
      const own = ledgerCalls.filter((record) => record.agent === agent);
      const outside = own.filter(({ callId }) => {
        const call = callId === null ? undefined : callOf.get(callId);
        return call !== undefined && isExempt(call);
      });
      return { agent, budgetNanos: budgetNanos!, spentNanos: sumCostNanos(own), exemptNanos: sumCostNanos(outside) };
    });
}

export function checkHardBudgets(spends: readonly HardBudgetSpend[]): string[] {
  return spends
    .filter(({ spentNanos, exemptNanos, budgetNanos }) => spentNanos - exemptNanos > budgetNanos)
    .map(
      ({ agent, spentNanos, exemptNanos, budgetNanos }) =>
        `${agent}: spent ${spentNanos} of ${budgetNanos} nano-dollars, ${exemptNanos} of them exempt`,
    );
}

const sumCostNanos = (records: readonly LedgerCall[]): number =>
  records.reduce((sum, { costNanos }) => sum + costNanos, 0);

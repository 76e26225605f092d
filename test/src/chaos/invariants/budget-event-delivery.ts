/**
 * Budget events reach their receiver, each under one id however often it is sent (docs/webhooks.md). A receiver that
 * drops duplicate ids handles a spent budget once.
 */
import type { AgentLimits, LedgerCall } from '../evidence/evidence-types.js';

/** One POST at the receiver. */
export interface ReceivedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly agent: string;
  /** The receiver responded with 2xx. */
  readonly accepted: boolean;
  readonly genuine: boolean;
}

interface WebhookHistory {
  readonly agents: readonly AgentLimits[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly deliveries: readonly ReceivedDelivery[];
}

const EXCEEDED = 'agent.budget_exceeded';
const THRESHOLD = 'usage.threshold';
/** Share of the budget at which `usage.threshold` fires by default. */
const THRESHOLD_RATIO = 0.8;

export function checkBudgetEvents({ agents, ledgerCalls, deliveries }: WebhookHistory): string[] {
  const violations = deliveries
    .filter(({ genuine }) => !genuine)
    .map((one) => `${one.deliveryId}: its signature is wrong`);
  for (const { agent, budgetNanos } of agents) {
    const spent = ledgerCalls
      .filter((record) => record.agent === agent)
      .reduce((sum, { costNanos }) => sum + costNanos, 0);
    for (const [event, ratio] of [
      [EXCEEDED, 1],
      [THRESHOLD, THRESHOLD_RATIO],
    ] as const) {
      const sent = deliveries.filter((one) => one.agent === agent && one.event === event);
      const ids = new Set(sent.map(({ deliveryId }) => deliveryId));
      if (ids.size > 1) violations.push(`${agent}: ${event} arrived under ${ids.size} ids`);
      if (budgetNanos === null) {
        if (ids.size > 0) violations.push(`${agent}: ${event} without a budget`);
      } else if (spent >= budgetNanos * ratio && !sent.some(({ accepted }) => accepted)) {
        violations.push(`${agent}: ${event} was never delivered`);
      }
    }
  }
  return violations;
}

/**
 * Budget events reach their receiver, and each under one id however often it is sent (docs/webhooks.md): the receiver
 * that drops ids it knows hears of a spent budget once.
 */
import type { AgentLimits, LedgerCall } from '../evidence/history.js';

/** One POST at the receiver. */
export interface ReceivedDelivery {
  readonly deliveryId: string;
  readonly event: string;
  readonly agent: string;
  /** The receiver said 2xx. */
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
/** Of the budget, where `usage.threshold` fires unless the agent says otherwise. */
const THRESHOLD_RATIO = 0.8;

export function checkBudgetEvents({ agents, ledgerCalls: booked, deliveries }: WebhookHistory): string[] {
  const broken = deliveries.filter(({ genuine }) => !genuine).map((one) => `${one.deliveryId}: its signature is wrong`);
  for (const { agent, budgetNanos } of agents) {
    const spent = booked.filter((record) => record.agent === agent).reduce((sum, { costNanos }) => sum + costNanos, 0);
    for (const [event, ratio] of [
      [EXCEEDED, 1],
      [THRESHOLD, THRESHOLD_RATIO],
    ] as const) {
      const sent = deliveries.filter((one) => one.agent === agent && one.event === event);
      const ids = new Set(sent.map(({ deliveryId }) => deliveryId));
      if (ids.size > 1) broken.push(`${agent}: ${event} came under ${ids.size} ids`);
      if (budgetNanos === null) {
        if (ids.size > 0) broken.push(`${agent}: ${event} without a budget`);
      } else if (spent >= budgetNanos * ratio && !sent.some(({ accepted }) => accepted)) {
        broken.push(`${agent}: ${event} was never delivered`);
      }
    }
  }
  return broken;
}

/** Describes an event's data in a sentence; a dash where the label says everything. */
import { formatCents, formatCount, NO_VALUE } from '../../format/format.js';
import { formatMeasure, type Metric } from './measures.js';

const ABUSE_REASONS: Readonly<Record<string, string>> = {
  rejections: 'rejected calls',
  auth_failures: 'authentication failures at the provider',
  addresses: 'IP addresses with one token',
};
const PERCENT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

type Data = Readonly<Record<string, unknown>>;
const numberOrZero = (value: unknown): number => (typeof value === 'number' ? value : 0);
const formatSeconds = (seconds: unknown): string =>
  numberOrZero(seconds) < 60
    ? `${formatCount(numberOrZero(seconds))} s`
    : `${formatCount(numberOrZero(seconds) / 60)} min`;
const formatSpendOfBudget = (data: Data): string =>
  `${formatCents(numberOrZero(data.spentCents))} of ${formatCents(numberOrZero(data.budgetCentsMonthly))} this month`;

const formatMetric = ({ metric }: Data, value: unknown): string =>
  typeof value === 'number' ? formatMeasure(metric as Metric, value) : 'too few calls';

export function describeEvent(event: string, data: Data): string {
  switch (event) {
    case 'agent.budget_exceeded':
      return `${formatSpendOfBudget(data)}; calls are rejected.`;
    case 'usage.threshold':
      return `${formatCount(numberOrZero(data.thresholdPercent))}% reached: ${formatSpendOfBudget(data)}.`;
    case 'provider.circuit_opened':
      return `${PERCENT.format(numberOrZero(data.errorRate))}% of ${formatCount(numberOrZero(data.requests))} calls failed within ${formatSeconds(data.windowSeconds)}.`;
    case 'provider.circuit_closed':
      return `Probe calls: ${formatCount(numberOrZero(data.requests))}.`;
    case 'abuse.detected':
      return `${formatCount(numberOrZero(data.count))} ${ABUSE_REASONS[String(data.reason)] ?? 'signals'} within ${formatSeconds(data.windowSeconds)}.`;
    case 'credential.refused':
      return 'Not in use until you enter a new one.';
    case 'credential.accepted':
      return 'Calls are accepted again.';
    case 'credential.used_elsewhere':
      return `${formatCents(numberOrZero(data.unattributedCents))} of ${String(data.keyLabel)} on ${String(data.day)} did not pass the gateway.`;
    case 'price.drift':
      return `${String(data.model)} is billed at another price since ${String(data.day)}.`;
    case 'alert.opened':
    case 'alert.resolved':
      return `${String(data.ruleName)}: ${formatMetric(data, data.value)}, last week ${formatMetric(data, data.baseline)}.`;
    case 'webhook.paused':
      return `${formatCount(numberOrZero(data.failedAttempts))} attempts failed.`;
    default:
      return NO_VALUE;
  }
}

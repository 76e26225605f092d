/** The figures of an event as a sentence; empty: its name says it all. */
import { formatCents, formatCount, NO_VALUE } from '../../format/format.js';

const ABUSE_REASONS: Readonly<Record<string, string>> = {
  rejections: 'refused calls',
  auth_failures: 'refusals by the provider',
  addresses: 'addresses with one token',
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

export function describeEvent(event: string, data: Data): string {
  switch (event) {
    case 'agent.budget_exceeded':
      return `${formatSpendOfBudget(data)}; calls are refused.`;
    case 'usage.threshold':
      return `${formatCount(numberOrZero(data.thresholdPercent))}% reached: ${formatSpendOfBudget(data)}.`;
    case 'provider.circuit_opened':
      return `${PERCENT.format(numberOrZero(data.errorRate))}% of ${formatCount(numberOrZero(data.requests))} calls failed within ${formatSeconds(data.windowSeconds)}.`;
    case 'provider.circuit_closed':
      return `${formatCount(numberOrZero(data.requests))} calls were tried.`;
    case 'abuse.detected':
      return `${formatCount(numberOrZero(data.count))} ${ABUSE_REASONS[String(data.reason)] ?? 'signs'} within ${formatSeconds(data.windowSeconds)}.`;
    case 'credential.refused':
      return 'It is out of use until it is set again.';
    case 'credential.accepted':
      return 'Calls pass again.';
    case 'webhook.paused':
      return `${formatCount(numberOrZero(data.failedAttempts))} attempts failed.`;
    default:
      return NO_VALUE;
  }
}

/** The figures of an event as a sentence; empty: its name says it all. */
import { cents, count, NONE } from '../../format/format.js';

const ABUSES: Readonly<Record<string, string>> = {
  rejections: 'refused calls',
  auth_failures: 'refusals by the provider',
  addresses: 'addresses with one token',
};
const PERCENT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

type Data = Readonly<Record<string, unknown>>;
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
const minutes = (seconds: unknown): string =>
  numberOf(seconds) < 60 ? `${count(numberOf(seconds))} s` : `${count(numberOf(seconds) / 60)} min`;
const money = (data: Data): string =>
  `${cents(numberOf(data.spentCents))} of ${cents(numberOf(data.budgetCentsMonthly))} this month`;

export function eventDetail(event: string, data: Data): string {
  switch (event) {
    case 'agent.budget_exceeded':
      return `${money(data)}; calls are refused.`;
    case 'usage.threshold':
      return `${count(numberOf(data.thresholdPercent))}% reached: ${money(data)}.`;
    case 'provider.circuit_opened':
      return `${PERCENT.format(numberOf(data.errorRate))}% of ${count(numberOf(data.requests))} calls failed within ${minutes(data.windowSeconds)}.`;
    case 'provider.circuit_closed':
      return `${count(numberOf(data.requests))} calls were tried.`;
    case 'abuse.detected':
      return `${count(numberOf(data.count))} ${ABUSES[String(data.reason)] ?? 'signs'} within ${minutes(data.windowSeconds)}.`;
    case 'credential.refused':
      return 'It is out of use until it is set again.';
    case 'credential.accepted':
      return 'Calls pass again.';
    case 'webhook.paused':
      return `${count(numberOf(data.failedAttempts))} attempts failed.`;
    default:
      return NONE;
  }
}

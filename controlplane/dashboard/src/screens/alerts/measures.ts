/** Measures of alert rules: labels, formatted values, and typed values in the unit of the API. */
import { dollarInputToCents, formatCents, formatCount, NO_VALUE } from '../../format/format.js';
import type { AlertRule } from './fetch-alert-rules.js';

export type Metric = AlertRule['metric'];

export const METRIC_LABELS: Readonly<Record<Metric, string>> = {
  error_rate: 'Error rate',
  latency: 'Latency (95th percentile)',
  spend: 'Spend',
};

const percents = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

/** Percent, milliseconds or US cents. A dash: not enough calls. */
export function formatMeasure(metric: Metric, value: number | null): string {
  if (value === null) return NO_VALUE;
  if (metric === 'spend') return formatCents(value);
  return metric === 'latency' ? `${formatCount(value)} ms` : `${percents.format(value)}%`;
}

const CENTS_PER_USD = 100;

/** Percent, milliseconds or US cents as an input in percent, milliseconds or US dollars. */
export const measureToInput = (metric: Metric, value: number): number =>
  metric === 'spend' ? value / CENTS_PER_USD : value;

/** An input in percent, milliseconds or US dollars as percent, milliseconds or whole US cents. */
export const inputToMeasure = (metric: Metric, typed: number | string): number =>
  metric === 'spend' ? (dollarInputToCents(typed) ?? 0) : Number(typed);

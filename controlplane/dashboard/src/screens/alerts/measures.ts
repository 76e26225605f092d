/** Measures of alert rules: labels and formatted values. */
import { formatCents, formatCount, NO_VALUE } from '../../format/format.js';
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

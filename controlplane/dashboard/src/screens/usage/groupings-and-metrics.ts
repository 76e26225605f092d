/** Groupings, metrics and query parameters of usage reports. */
import type { parseTimeRange } from '../../components/forms/time-range-control.js';
import { formatCompactCount, formatCount, formatUsd } from '../../format/format.js';

export const GROUPINGS = [
  { value: 'provider', label: 'Provider' },
  { value: 'model', label: 'Model' },
  { value: 'tool', label: 'Tool' },
  { value: 'agent', label: 'Agent' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Gateway token' },
  { value: 'status', label: 'Status' },
] as const;
export type Grouping = (typeof GROUPINGS)[number]['value'];
export const parseGrouping = (text: string): Grouping =>
  GROUPINGS.find(({ value }) => value === text)?.value ?? 'provider';

/** Null: one dimension only. */
export const parseSecondGrouping = (text: string, by: Grouping): Exclude<Grouping, 'status'> | null => {
  const found = GROUPINGS.find(({ value }) => value === text)?.value;
  return found === undefined || found === 'status' || found === by ? null : found;
};

interface UsageTotals {
  readonly requests: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly costUsd: number | null;
}

export const METRICS = [
  { value: 'spend', label: 'Spend', of: ({ costUsd }: UsageTotals) => costUsd, format: formatUsd },
  { value: 'requests', label: 'Calls', of: ({ requests }: UsageTotals) => requests, format: formatCount },
  { value: 'tokensIn', label: 'Tokens in', of: ({ tokensIn }: UsageTotals) => tokensIn, format: formatCompactCount },
  {
    value: 'tokensOut',
    label: 'Tokens out',
    of: ({ tokensOut }: UsageTotals) => tokensOut,
    format: formatCompactCount,
  },
] as const;
type Metric = (typeof METRICS)[number];

/** By status, only the number of calls is known. */
export const parseMetric = (text: string, by: Grouping): Metric =>
  by === 'status' ? METRICS[1] : (METRICS.find(({ value }) => value === text) ?? METRICS[0]);

/** Query parameters shared by all reports of the page. */
export type UsageQuery = ReturnType<typeof parseTimeRange> & { readonly agentId?: string; readonly projectId?: string };

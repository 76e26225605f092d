/** By what usage can be told apart, and what is known of each group. */
import { formatCompactCount, formatCount, formatUsd } from '../../format/format.js';

export const GROUPINGS = [
  { value: 'provider', label: 'Provider' },
  { value: 'model', label: 'Model' },
  { value: 'agent', label: 'Agent' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'status', label: 'Status' },
] as const;
export type Grouping = (typeof GROUPINGS)[number]['value'];
export const parseGrouping = (text: string): Grouping =>
  GROUPINGS.find(({ value }) => value === text)?.value ?? 'provider';

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

/** Of a status only the number of calls is known. */
export const parseMetric = (text: string, by: Grouping): Metric =>
  by === 'status' ? METRICS[1] : (METRICS.find(({ value }) => value === text) ?? METRICS[0]);

const NIL_ID = /^[0-]*$/;
const SHORT = 8;

/** What a group is called: by its name, or what there is of one that is gone. */
export function groupLabel(by: Grouping, value: string, name: string | null): string {
  if (name !== null && name !== '') return name;
  if (NIL_ID.test(value)) return by === 'model' ? 'no model' : 'not known';
  return by === 'agent' || by === 'project' || by === 'key' ? `deleted (${value.slice(0, SHORT)})` : value;
}

/** By what usage can be told apart, and what is known of each group. */
import { count, countShort, usd } from '../../format/format.js';

export const GROUPS = [
  { value: 'provider', label: 'Provider' },
  { value: 'model', label: 'Model' },
  { value: 'agent', label: 'Agent' },
  { value: 'project', label: 'Project' },
  { value: 'key', label: 'Key' },
  { value: 'status', label: 'Status' },
] as const;
export type GroupName = (typeof GROUPS)[number]['value'];
export const groupOf = (text: string): GroupName => GROUPS.find(({ value }) => value === text)?.value ?? 'provider';

interface Figures {
  readonly requests: number | null;
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
  readonly costUsd: number | null;
}

export const MEASURES = [
  { value: 'spend', label: 'Spend', of: ({ costUsd }: Figures) => costUsd, format: usd },
  { value: 'requests', label: 'Calls', of: ({ requests }: Figures) => requests, format: count },
  { value: 'tokensIn', label: 'Tokens in', of: ({ tokensIn }: Figures) => tokensIn, format: countShort },
  { value: 'tokensOut', label: 'Tokens out', of: ({ tokensOut }: Figures) => tokensOut, format: countShort },
] as const;
type Measure = (typeof MEASURES)[number];

/** Of a status only the number of calls is known. */
export const measureOf = (text: string, by: GroupName): Measure =>
  by === 'status' ? MEASURES[1] : (MEASURES.find(({ value }) => value === text) ?? MEASURES[0]);

const NIL = /^[0-]*$/;
const SHORT = 8;

/** What a group is called: by its name, or what there is of one that is gone. */
export function labelOf(by: GroupName, value: string, name: string | null): string {
  if (name !== null && name !== '') return name;
  if (NIL.test(value)) return by === 'model' ? 'no model' : 'not known';
  return by === 'agent' || by === 'project' || by === 'key' ? `deleted (${value.slice(0, SHORT)})` : value;
}

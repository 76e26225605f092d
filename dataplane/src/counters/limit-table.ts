/**
 * Every limit that a call of an agent can meet, one row each, in the order in which they are checked. The admission
 * script, the in-process counters, the refusals, `/v1/self` and the context on the wire all go by this table: a limit of
 * a known window and unit is added here and in the control plane's list (agents/limit-fields.ts), and nowhere else.
 *
 * The limits of one agent are an array with one number per row, in the row's unit; {@link UNLIMITED} = none.
 */

import { NANOS_PER_CENT } from '@acg/base/units';
export type LimitType = 'rpm' | 'rpd' | 'budget';

/**
 * minute: any 60 s (sliding); day: 24 h from the first request (fixed); month: the calendar month in UTC.
 */
type WindowName = 'minute' | 'day' | 'month';

/** What is counted. Money is nano-dollars inside the data plane, cents on the wire and in answers. */
type LimitUnit = 'requests' | 'cents';

/** Whose sum it is: an agent's with one provider, or an agent's over all providers. */
type LimitScope = 'agent_provider' | 'agent';

export interface LimitRow {
  readonly type: LimitType;
  readonly window: WindowName;
  readonly unit: LimitUnit;
  readonly scope: LimitScope;
  /** Holds where the control plane names none; null = unlimited. In the row's unit. */
  readonly default: number | null;
  /** Said by the refusal. */
  readonly message: string;
}

export const LIMIT_TABLE: readonly LimitRow[] = Object.freeze([
  {
    type: 'rpm',
    window: 'minute',
    unit: 'requests',
    scope: 'agent_provider',
    default: 60,
    message: 'Rate limit exceeded: too many requests in a minute.',
  },
  {
    type: 'rpd',
    window: 'day',
    unit: 'requests',
    scope: 'agent_provider',
    default: 10_000,
    message: 'Rate limit exceeded: too many requests in a day.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'agent',
    default: null,
    message: 'The monthly budget of this agent is spent.',
  },
]);

export const UNLIMITED = Number.POSITIVE_INFINITY;

/** By row of the table; requests, or nano-dollars. */
export type Limits = readonly number[];

/** The row of a limit; rows are found once, at start. */
function limitRow(type: LimitType, scope: LimitScope): number {
  const row = LIMIT_TABLE.findIndex((one) => one.type === type && one.scope === scope);
  if (row < 0) throw new Error(`no limit ${type} of ${scope}`);
  return row;
}

export const RPM_ROW = limitRow('rpm', 'agent_provider');
export const RPD_ROW = limitRow('rpd', 'agent_provider');
export const BUDGET_ROW = limitRow('budget', 'agent');

/** A figure of a row's unit as answers show it: money in cents, rounded half up; null where there is no limit. */
export function shown(row: LimitRow, value: number): number | null {
  if (value === UNLIMITED) return null;
  return row.unit === 'cents' ? Math.floor(value / NANOS_PER_CENT + 0.5) : value;
}

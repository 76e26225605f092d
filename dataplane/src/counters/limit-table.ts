/**
 * Every limit that a call of an agent can meet, one row each, in the order in which they are checked. The admission
 * script, the in-process counters, the refusals, `/v1/self` and the context on the wire all go by this table: a limit of
 * a known way of counting is added here and in the control plane's list (limits/limit-fields.ts). Who sets and shows it
 * stands in docs/architecture.md#to-add-a-limit.
 *
 *   window   unit       how it is counted                                   rows
 *   minute   requests   sliding log: exact in any 60 s                      the first one, no other
 *   day      requests   fixed window from its first request                 any number
 *   minute   tokens     60 buckets, added when a call has ended             any number
 *   month    cents      purses: month spend of an agent, project or org     any number; the agent's first
 *
 * The limits of one agent are an array with one number per row, in the row's unit; {@link UNLIMITED} = none.
 */
import { NANOS_PER_CENT } from '@acg/base/units';

export type LimitType = 'rpm' | 'rpd' | 'tpm' | 'budget';

type WindowName = 'minute' | 'day' | 'month';

/** What is counted. Money is nano-dollars inside the data plane, cents on the wire and in answers. */
type LimitUnit = 'requests' | 'tokens' | 'cents';

/** Whose sum it is: an agent's with one provider, or that of an agent, a project or an organization over all of them. */
export type LimitScope = 'agent_provider' | 'agent' | 'project' | 'org';

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
    type: 'tpm',
    window: 'minute',
    unit: 'tokens',
    scope: 'agent_provider',
    default: null,
    message: 'Rate limit exceeded: too many tokens in a minute.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'agent',
    default: null,
    message: 'The monthly budget of this agent is spent.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'project',
    default: null,
    message: 'The monthly budget of the project is spent.',
  },
  {
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'org',
    default: null,
    message: 'The monthly budget of the organization is spent.',
  },
]);

export const UNLIMITED = Number.POSITIVE_INFINITY;

/** By row of the table; requests, or nano-dollars. */
export type Limits = readonly number[];

/** The row of a limit; rows are found once, at start. */
export function limitRow(type: LimitType, scope: LimitScope): number {
  const row = LIMIT_TABLE.findIndex((one) => one.type === type && one.scope === scope);
  if (row < 0) throw new Error(`no limit ${type} of ${scope}`);
  return row;
}

export const RPM_ROW = limitRow('rpm', 'agent_provider');
export const RPD_ROW = limitRow('rpd', 'agent_provider');
export const BUDGET_ROW = limitRow('budget', 'agent');

const rowsOf = (window: WindowName, unit: LimitUnit): readonly number[] =>
  LIMIT_TABLE.flatMap((row, at) => (row.window === window && row.unit === unit ? [at] : []));

/** Rows by the way in which they are counted; the script takes them in this order, so the table must have it. */
export const FIXED_ROWS = rowsOf('day', 'requests');
export const TOKEN_ROWS = rowsOf('minute', 'tokens');
export const MONEY_ROWS = rowsOf('month', 'cents');
/** The rows that count per provider; a verdict has two figures for each. */
export const PAIR_ROWS: readonly number[] = [RPM_ROW, ...FIXED_ROWS, ...TOKEN_ROWS];
if ([...PAIR_ROWS, ...MONEY_ROWS].some((row, at) => row !== at)) throw new Error('limit table: rows out of order');

/** Lengths of the windows, ms; shortened by tests only. The minute is at most 4 294 s: its stamps are 32 bits of µs. */
export type Windows = Readonly<Record<Exclude<WindowName, 'month'> | 'tokenMinute', number>>;

/**
 * The minute of requests is held 30 ms longer than it is: a request takes a moment from its admission to the provider, the
 * first ones of a connection more than later ones, and no 60 s *at the provider* may see more than the limit (measured
 * without it: 51 arrivals in 59 988 ms against a limit of 50).
 */
export const REAL_WINDOWS: Windows = { minute: 60_030, day: 86_400_000, tokenMinute: 60_000 };

/** A figure of a row's unit as answers show it: money in cents, rounded half up; null where there is no limit. */
export function shown(row: LimitRow, value: number): number | null {
  if (value === UNLIMITED) return null;
  return row.unit === 'cents' ? Math.floor(value / NANOS_PER_CENT + 0.5) : value;
}

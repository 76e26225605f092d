/**
 * The limits (their one list is base's) as the counters go by them. The limits of one agent are an array with one number
 * per row, in the row's unit, money in nano-dollars; {@link UNLIMITED} = none.
 */
import { LIMIT_ALGORITHMS, LIMITS, type Limit, type LimitAlgorithm, WINDOW_MS } from '@acg/base/limits';
import { NANOS_PER_CENT } from '@acg/base/units';

export type LimitType = Limit['type'];
export type LimitScope = Limit['scope'];
export type LimitRow = Limit;

export const LIMIT_TABLE: readonly LimitRow[] = LIMITS;

export const UNLIMITED = Number.POSITIVE_INFINITY;

/** By row of the table; requests, or nano-dollars. */
export type LimitValues = readonly number[];

/** The row of a limit; rows are found once, at start. */
export function findLimitRow(type: LimitType, scope: LimitScope): number {
  const row = LIMIT_TABLE.findIndex((one) => one.type === type && one.scope === scope);
  if (row < 0) throw new Error(`no limit ${type} of ${scope}`);
  return row;
}

export const RPM_ROW = findLimitRow('rpm', 'agent_provider');
export const RPD_ROW = findLimitRow('rpd', 'agent_provider');
export const TPM_ROW = findLimitRow('tpm', 'agent_provider');
export const BUDGET_ROW = findLimitRow('budget', 'agent');

/** Rows by the way in which they are counted. */
export const rowsCountedAs = (as: LimitAlgorithm): readonly number[] =>
  LIMIT_TABLE.flatMap((row, at) => (row.counted === as ? [at] : []));
if (LIMIT_ALGORITHMS.flatMap(rowsCountedAs).some((row, at) => row !== at)) throw new Error('limits: rows out of order');

export const TOKEN_ROWS = rowsCountedAs('token');
export const BUDGET_ROWS = rowsCountedAs('purse');
/** The rows that count per provider; a verdict has two figures for each. */
export const AGENT_PROVIDER_ROWS: readonly number[] = LIMIT_TABLE.flatMap(({ scope }, at) =>
  scope === 'agent_provider' ? [at] : [],
);

/** Lengths of the windows, ms; shortened by tests only. The minute is at most 4 294 s: its stamps are 32 bits of µs. */
export type WindowLengthsMs = Readonly<Record<keyof typeof WINDOW_MS | 'tokenMinute', number>>;

/**
 * The minute of requests is held 30 ms longer than it is: a request takes a moment from its admission to the provider, the
 * first ones of a connection more than later ones, and no 60 s *at the provider* may see more than the limit (measured
 * without it: 51 arrivals in 59 988 ms against a limit of 50).
 */
export const DEFAULT_WINDOW_LENGTHS_MS: WindowLengthsMs = {
  ...WINDOW_MS,
  minute: WINDOW_MS.minute + 30,
  tokenMinute: WINDOW_MS.minute,
};

/** Length of a window of requests, µs. */
export const windowLengthUs = (row: number, windows: WindowLengthsMs): number =>
  windows[LIMIT_TABLE[row]!.window as keyof typeof WINDOW_MS] * 1000;

/** A figure of a row's unit as answers show it: money in cents, rounded half up; null where there is no limit. */
export function toDisplayValue(row: LimitRow, value: number): number | null {
  if (value === UNLIMITED) return null;
  return row.unit === 'cents' ? Math.floor(value / NANOS_PER_CENT + 0.5) : value;
}

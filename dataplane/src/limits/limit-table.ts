/**
 * The limits of base's table as the counters use them. One agent's limits are an array with one number per row, in the
 * row's unit; money in nano-dollars; {@link UNLIMITED} = no limit.
 */
import { LIMIT_ALGORITHMS, LIMITS, type Limit, type LimitAlgorithm, WINDOW_MS } from '@acg/base/limit-definitions';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { type CalendarUnit, type CalendarWindow, calendarWindowAt } from './calendar-window.js';

export type LimitType = Limit['type'];
export type LimitScope = Limit['scope'];
export type LimitRow = Limit;

export const LIMIT_TABLE: readonly LimitRow[] = LIMITS;

export const UNLIMITED = Number.POSITIVE_INFINITY;

/** By row of the table: requests, tokens or nano-dollars. */
export type LimitValues = readonly number[];

/** Row of a limit in the table; computed once at module load. Throws when there is no such limit. */
export function findLimitRow(type: LimitType, scope: LimitScope): number {
  const rowIndex = LIMIT_TABLE.findIndex((row) => row.type === type && row.scope === scope);
  if (rowIndex < 0) throw new Error(`The limit table has no limit ${type} of scope ${scope}`);
  return rowIndex;
}

/** Stands for the limit of a tool, which is no row of the table; checked after the request windows. */
export const TOOL_RATE_ROW = -2;

export const RPM_ROW = findLimitRow('rpm', 'agent_provider');
export const RPD_ROW = findLimitRow('rpd', 'agent_provider');
export const TPM_ROW = findLimitRow('tpm', 'agent_provider');
export const BUDGET_ROW = findLimitRow('budget', 'agent');

/** Rows that are counted by the given algorithm. */
const rowsCountedAs = (algorithm: LimitAlgorithm): readonly number[] =>
  LIMIT_TABLE.flatMap((row, index) => (row.algorithm === algorithm ? [index] : []));
if (LIMIT_ALGORITHMS.flatMap(rowsCountedAs).some((row, index) => row !== index))
  throw new Error('The limit table must order its rows by algorithm');

export const FIXED_ROWS = rowsCountedAs('fixed');
export const TOKEN_ROWS = rowsCountedAs('token');
export const BUDGET_ROWS = rowsCountedAs('spend');
/** The rows that count per provider; a verdict has two figures for each. */
export const AGENT_PROVIDER_ROWS: readonly number[] = LIMIT_TABLE.flatMap(({ scope }, index) =>
  scope === 'agent_provider' ? [index] : [],
);

/** Window lengths, ms; shortened by tests only. `minute` is at most 4 294 s, because its stamps are 32 bits of µs. */
export type WindowLengthsMs = Readonly<Record<keyof typeof WINDOW_MS | 'tokenMinute', number>>;

/**
 * The request minute is 30 ms longer than a minute. A request takes a moment from admission to the provider, and the
 * first ones of a connection take longer. No 60 s *at the provider* may see more than the limit. Measured without the
 * 30 ms: 51 arrivals in 59 988 ms against a limit of 50.
 */
export const DEFAULT_WINDOW_LENGTHS_MS: WindowLengthsMs = {
  ...WINDOW_MS,
  minute: WINDOW_MS.minute + 30,
  tokenMinute: WINDOW_MS.minute,
};

/** The calendar window of a budget row that an instant falls into. */
export const budgetWindowAt = (row: number, unixSec: number): CalendarWindow =>
  calendarWindowAt(LIMIT_TABLE[row]!.window as CalendarUnit, unixSec);

/** Length of a request window, µs. */
export const windowLengthUs = (row: number, windows: WindowLengthsMs): number =>
  windows[LIMIT_TABLE[row]!.window as keyof typeof WINDOW_MS] * 1000;

/** Converts a row's value for display: money to cents, rounded half up. Null when there is no limit. */
export function toDisplayValue(row: LimitRow, value: number): number | null {
  if (value === UNLIMITED) return null;
  return row.unit === 'cents' ? Math.floor(value / NANOS_PER_CENT + 0.5) : value;
}

/** Name of a scope in the counters' keys: `agent:…`, `project:…`, `org:…`. */
export const scopeTag = (scope: string, id: string): string => `${scope}:${id}`;

/** The admission script, and the JSON of its reply. admit.lua describes the fields of request and reply. */
import { readFileSync } from 'node:fs';
import { FIXED_ROWS, type WindowLengthsMs, windowLengthUs } from '../../../limits/limit-table.js';

export const ADMIT_SCRIPT = readFileSync(new URL('./admit.lua', import.meta.url), 'utf8');

/** How long a reservation counts in the store without renewal. */
export const RESERVATION_LEASE_MS = 15_000;
const TOKEN_BUCKETS = 60;

/** The members that are the same in every request. */
export function writeRequestConstants(windows: WindowLengthsMs): string {
  const fixed = FIXED_ROWS.map((row) => windowLengthUs(row, windows)).join(',');
  const bucket = (windows.tokenMinute * 1000) / TOKEN_BUCKETS;
  return `"minute":${windows.minute * 1000},"fixed":[${fixed}],"bucket":${bucket},"lease":${RESERVATION_LEASE_MS * 1000}`;
}

export interface AdmitReply {
  /** Time of the store, Unix µs. */
  readonly now: number;
  /** Missing like `checks` when `now` is outside the request's `valid`. */
  /** {@link spendReplyOf} reads it. */
  readonly spends?: readonly number[];
  readonly checks?: readonly AdmitVerdict[];
}

/** Nano-dollars: this writer's total before the call; spend and reservations of all writers. */
export type SpendReply = readonly [previous: number, spent: number, reserved: number];

/** The reply for a spend item of the request, by its index. */
export const spendReplyOf = (spends: readonly number[], index: number): SpendReply => [
  spends[3 * index]!,
  spends[3 * index + 1]!,
  spends[3 * index + 2]!,
];

/**
 * How many of the check's requests pass (the first in order of arrival); what rejects the next request: a row of the
 * limit table, from 1, -1 for the limit of a tool, -2 and below for a budget by its position in the check, 0 = none; when
 * it admits one, Unix µs, 0 for budgets; flat pairs of a limit in audit mode and how many of the passing requests fit in it; then figures of rate
 * limits: those of the minute, in a peek those of all.
 */
export type AdmitVerdict = readonly [
  admitted: number,
  rejectedBy: number,
  retryAtUs: number,
  wouldReject: readonly number[],
  minute: RateFigures,
  ...others: RateFigures[],
];

/** `resetUs`: when the counted requests leave, Unix µs; 0 = none is counted. */
type RateFigures = readonly [remaining: number, resetUs: number];

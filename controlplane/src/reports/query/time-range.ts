/** Time ranges of usage reports, in whole hours of UTC, because rollups are hourly. Pure. */
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import { InvalidInput } from '../../domain/errors.js';
import { EARLIEST_TIMESTAMP_MS, LATEST_TIMESTAMP_MS, parseTimestamp } from '../../http/timestamp-params.js';

const PERIOD_HOURS = { '24h': 24, '7d': 168, '30d': 720, '90d': 2_160 } as const;
export const PERIODS = ['24h', '7d', '30d', '90d'] as const;
export type Period = (typeof PERIODS)[number];
export const INTERVALS = ['hour', 'day'] as const;
export type Interval = (typeof INTERVALS)[number];

/** From (inclusive) to (exclusive), Unix ms. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The hours of a period that ends with the current, unfinished hour: `24h` is exactly 24 of them. */
export function periodRange(period: Period, nowMs: number): TimeRange {
  const toMs = floorTo(nowMs, HOUR_MS) + HOUR_MS;
  return { fromMs: toMs - PERIOD_HOURS[period] * HOUR_MS, toMs };
}

/** Up to this length a series is hourly by default. */
const HOURLY_MS_MAX = 7 * DAY_MS;

export const defaultInterval = ({ fromMs, toMs }: TimeRange): Interval =>
  toMs - fromMs <= HOURLY_MS_MAX ? 'hour' : 'day';

/**
 * Range of inclusive UTC days `YYYY-MM-DD`. Default start: the first of the current month, or of the end's month if
 * that is earlier. Default end: today, or the start if that is later. Throws {@link InvalidInput} if the start is after
 * the end.
 */
export function resolveDayRange(start: string | undefined, end: string | undefined, nowMs: number): TimeRange {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const first = start ?? firstOfMonth(end !== undefined && end < today ? end : today);
  const last = end ?? (first > today ? first : today);
  if (first > last) throw new InvalidInput(`start must not be after end (${first} is after ${last})`);
  return { fromMs: clampToLatest(Date.parse(first)), toMs: clampToLatest(Date.parse(last) + DAY_MS) };
}

/** A period or a range of days; the last 24 hours if both are missing. */
export interface RequestedRange {
  readonly period?: Period;
  readonly start?: string;
  readonly end?: string;
}

/** Null: the request gave days. */
export const requestedPeriod = ({ period = '24h', start, end }: RequestedRange): Period | null =>
  start === undefined && end === undefined ? period : null;

/** Part of the file name of an export. */
export const rangeFileName = (requested: RequestedRange): string =>
  requestedPeriod(requested) ?? [requested.start ?? 'until', requested.end ?? 'today'].join('-');

export function resolveRange({ period, start, end }: RequestedRange, nowMs: number): TimeRange {
  if (start === undefined && end === undefined) return periodRange(period ?? '24h', nowMs);
  if (period !== undefined) throw new InvalidInput('give either period, or start and end, not both');
  return resolveDayRange(start, end, nowMs);
}

/**
 * The period before a range, for comparison. Within one calendar month it is the month before: all of it for a whole
 * month, otherwise the same days of it. Else it is the same length immediately before.
 */
export function previousRange({ fromMs, toMs }: TimeRange): TimeRange {
  const from = new Date(fromMs);
  const startsMonth = from.getUTCDate() === 1 && fromMs % DAY_MS === 0;
  const nextMonth = startOfNextUtcMonth(fromMs);
  if (!startsMonth || toMs > nextMonth) return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
  const previousMonth = Date.UTC(from.getUTCFullYear(), from.getUTCMonth() - 1, 1);
  return {
    fromMs: previousMonth,
    toMs: toMs === nextMonth ? fromMs : Math.min(previousMonth + (toMs - fromMs), fromMs),
  };
}

/**
 * Range from `startTime` (inclusive) to `endTime` (exclusive), both ISO 8601; a missing bound is open. Throws {@link
 * InvalidInput}.
 */
export function parseTimeRange(startTime: string | undefined, endTime: string | undefined): TimeRange {
  const fromMs = startTime === undefined ? EARLIEST_TIMESTAMP_MS : parseTimestamp('startTime', startTime);
  const toMs = endTime === undefined ? LATEST_TIMESTAMP_MS : parseTimestamp('endTime', endTime);
  const range = { fromMs, toMs };
  if (range.fromMs > range.toMs) throw new InvalidInput('startTime must not be after endTime');
  return range;
}

export const clampToLatest = (ms: number): number => Math.min(ms, LATEST_TIMESTAMP_MS);

const firstOfMonth = (day: string): string => `${day.slice(0, 7)}-01`;

/** Enough for a year by the hour, or about 30 years by the day. */
const BUCKETS_MAX = 10_000;

/**
 * Starts of all buckets of a range, oldest first. The first one may begin before the range does. Throws {@link
 * InvalidInput} if there are more than `bucketsMax`.
 */
export function bucketStarts(range: TimeRange, interval: Interval, bucketsMax = BUCKETS_MAX): readonly number[] {
  const width = interval === 'hour' ? HOUR_MS : DAY_MS;
  if ((range.toMs - range.fromMs) / width > bucketsMax) {
    throw new InvalidInput(`a series has at most ${bucketsMax} points. Request a shorter time range, or interval=day.`);
  }
  const starts: number[] = [];
  for (let ms = floorTo(range.fromMs, width); ms < range.toMs; ms += width) starts.push(ms);
  return starts;
}

/** `YYYY-MM-DD HH:MM:SS`, UTC (docs/contract.md#conventions). */
export const formatBucket = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** Start of the next calendar month, UTC. */
export function startOfNextUtcMonth(nowMs: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

const floorTo = (ms: number, width: number): number => ms - (ms % width);

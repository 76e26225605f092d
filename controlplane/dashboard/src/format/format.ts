/** Formats of numbers, money and times. */
import { chosenTimeZone, timeZoneUnit } from './time-zone.js';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
export const CENTS_PER_USD = 100;
/** Smaller amounts are shown as `< $0.0001`. */
const SMALLEST_USD = 0.0001;
const CENT_DIGITS = 2;
/**
 * Digits after the decimal point of a dollar amount; costs are whole nano-dollars, and axis labels may lie between
 * them.
 */
const DIGITS_MAX = 12;

const wholeNumbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const compactNumbers = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const smallDollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });
const percents = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

export const NO_VALUE = '–';

export const formatCount = (value: number): string => wholeNumbers.format(value);
export const formatAgentCount = (count: number): string => `${formatCount(count)} ${count === 1 ? 'agent' : 'agents'}`;
/** `1.2K`, for axes and small places. */
export const formatCompactCount = (value: number): string => compactNumbers.format(value);
/** Percent values from 0 to 100, as the API returns rates: 0.4 → `0.4%`. */
export const formatPercent = (value: number): string => percents.format(value / 100);

/** Spend in dollars; four decimals below a cent, and never `$0.00` for a positive cost. */
export function formatUsd(value: number | null): string {
  if (value === null) return NO_VALUE;
  if (value === 0 || Math.abs(value) >= 1 / CENTS_PER_USD) return dollars.format(value);
  return Math.abs(value) < SMALLEST_USD ? `< ${smallDollars.format(SMALLEST_USD)}` : smallDollars.format(value);
}

/** Dollars on an axis whose labels are `step` dollars apart, with enough decimals to tell them apart. */
export function formatUsdTick(value: number, step: number): string {
  if (value === 0) return dollars.format(0);
  let digits = CENT_DIGITS;
  while (digits < DIGITS_MAX && !isNearlyInteger(step * 10 ** digits)) digits++;
  return value.toLocaleString('en-US', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** Tolerates the rounding error of binary fractions. */
const isNearlyInteger = (value: number): boolean => value > 0.5 && Math.abs(value - Math.round(value)) < 0.01;

/** Spend in cents, possibly fractional. */
export const formatCents = (value: number | null): string => formatUsd(value === null ? null : value / CENTS_PER_USD);

/** Whole cents as a dollar input value; null becomes empty. */
export const centsToDollarInput = (cents: number | null): string =>
  cents === null ? '' : (cents / CENTS_PER_USD).toFixed(2);

/** A dollar input as whole cents; null: empty. Inputs return text such as `12.50` while it ends with a zero. */
export function dollarInputToCents(value: number | string): number | null {
  const dollarsTyped = typeof value === 'string' ? Number.parseFloat(value) : value;
  return Number.isFinite(dollarsTyped) ? Math.round(dollarsTyped * CENTS_PER_USD) : null;
}

export function formatMilliseconds(value: number | null): string {
  if (value === null) return NO_VALUE;
  if (value < 1_000) return `${wholeNumbers.format(value)} ms`;
  return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)} s`;
}

export function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1_000 && unit < units.length - 1) {
    size /= 1_000;
    unit++;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Formatters of each zone, created on first use. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** `zone`: default the chosen one. */
function formatTimeAs(
  at: string | number,
  options: Intl.DateTimeFormatOptions,
  zone: 'UTC' | undefined = chosenTimeZone(),
): string {
  const key = JSON.stringify([options, zone]);
  const known = formatters.get(key);
  const formatter = known ?? new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
  if (known === undefined) formatters.set(key, formatter);
  return formatter.format(new Date(at));
}

const DAY_PARTS = { day: 'numeric', month: 'short' } as const;
const relativeTimes = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Date and time in the chosen zone, with its unit. */
export const formatDateTime = (iso: string): string =>
  `${formatTimeAs(iso, { dateStyle: 'medium', timeStyle: 'short' })} ${timeZoneUnit(Date.parse(iso))}`;
/** Date and time with seconds and unit. */
export const formatExactTime = (iso: string): string =>
  `${formatTimeAs(iso, { dateStyle: 'medium', timeStyle: 'medium' })} ${timeZoneUnit(Date.parse(iso))}`;
/** The day, with its year unless it is the present one. */
export function formatShortDate(iso: string): string {
  const yearOf = (at: Date) => formatTimeInput(at).slice(0, YEAR_CHARS);
  return formatTimeAs(iso, yearOf(new Date(iso)) === yearOf(new Date()) ? DAY_PARTS : { dateStyle: 'medium' });
}
/** Whether the time is of the present day of the chosen zone. Lists ask it of each row, so it formats nothing by locale. */
export function isToday(iso: string): boolean {
  const dayOf = (at: Date) => formatTimeInput(at).slice(0, DAY_CHARS);
  return dayOf(new Date(iso)) === dayOf(new Date());
}
/** Time of day with seconds; lists show the unit in their head. */
export const formatTime = (iso: string): string => formatTimeAs(iso, { timeStyle: 'medium' });
/**
 * Start of a report's bucket, Unix ms. Reports write it as UTC without a zone (`YYYY-MM-DD HH:MM:SS`), which a browser
 * would read as local time.
 */
export const bucketStartMs = (bucket: string): number => Date.parse(`${bucket.replace(' ', 'T')}Z`);
/** A bucket of a report: an hour in the chosen zone; a day is a UTC day in both, because reports count it so. */
export const formatBucket = (startMs: number, interval: 'hour' | 'day'): string =>
  interval === 'day'
    ? formatTimeAs(startMs, DAY_PARTS, 'UTC')
    : formatTimeAs(startMs, { ...DAY_PARTS, hour: '2-digit', minute: '2-digit' });
/** The unit of a report's buckets, for heads and legends. */
export const bucketUnit = (interval: 'hour' | 'day', atMs: number): string =>
  interval === 'day' ? 'UTC' : timeZoneUnit(atMs);

/** `8 sec. ago`, `in 3 days`. */
export function formatRelativeTime(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1_000);
  const size = Math.abs(seconds);
  if (size < MINUTE_S) return relativeTimes.format(seconds, 'second');
  if (size < HOUR_S) return relativeTimes.format(Math.round(seconds / MINUTE_S), 'minute');
  if (size < DAY_S) return relativeTimes.format(Math.round(seconds / HOUR_S), 'hour');
  return relativeTimes.format(Math.round(seconds / DAY_S), 'day');
}

const YEAR_CHARS = 4;
const DAY_CHARS = 10;
const MINUTE_CHARS = 16;
/** Formats a time for a `datetime-local` input: in the chosen zone, without a zone, to the minute or the millisecond. */
export function formatTimeInput(at: Date, precision: 'minute' | 'millisecond' = 'minute'): string {
  const offsetMs = chosenTimeZone() === undefined ? at.getTimezoneOffset() * MINUTE_S * 1_000 : 0;
  const text = new Date(at.getTime() - offsetMs).toISOString();
  return precision === 'minute' ? text.slice(0, MINUTE_CHARS) : text.slice(0, -1);
}

/** Reads a `datetime-local` input in the chosen zone; Unix ms, NaN: empty or incomplete. */
export const parseTimeInput = (text: string): number =>
  Date.parse(text === '' || chosenTimeZone() === undefined ? text : `${text}Z`);

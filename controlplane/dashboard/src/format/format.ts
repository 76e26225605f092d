/** Formats of numbers, money and times. */

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const CENTS_PER_USD = 100;
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

const dateTimes = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const exactTimes = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const utcDays = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const utcHours = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const relativeTimes = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Local date and time. */
export const formatDateTime = (iso: string): string => dateTimes.format(new Date(iso));
/** Local date and time with seconds and zone. */
export const formatExactTime = (iso: string): string => exactTimes.format(new Date(iso));
export const formatDate = (iso: string): string => dates.format(new Date(iso));
/** Local time of day with seconds. */
export const formatTime = (iso: string): string => times.format(new Date(iso));
/**
 * Start of a report's bucket, Unix ms. Reports write it as UTC without a zone (`YYYY-MM-DD HH:MM:SS`), which a browser
 * would read as local time.
 */
export const bucketStartMs = (bucket: string): number => Date.parse(`${bucket.replace(' ', 'T')}Z`);
/** A bucket of a report, UTC. */
export const formatBucket = (startMs: number, interval: 'hour' | 'day'): string =>
  interval === 'day' ? utcDays.format(startMs) : utcHours.format(startMs);

/** `8 sec. ago`, `in 3 days`. */
export function formatRelativeTime(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1_000);
  const size = Math.abs(seconds);
  if (size < MINUTE_S) return relativeTimes.format(seconds, 'second');
  if (size < HOUR_S) return relativeTimes.format(Math.round(seconds / MINUTE_S), 'minute');
  if (size < DAY_S) return relativeTimes.format(Math.round(seconds / HOUR_S), 'hour');
  return relativeTimes.format(Math.round(seconds / DAY_S), 'day');
}

const MINUTE_CHARS = 16;
/** Formats a time for a `datetime-local` input: local, without a zone, to the minute or the millisecond. */
export function formatLocalTimeInput(at: Date, precision: 'minute' | 'millisecond' = 'minute'): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_S * 1_000).toISOString();
  return precision === 'minute' ? local.slice(0, MINUTE_CHARS) : local.slice(0, -1);
}

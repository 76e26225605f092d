/** Formats values for users. Money is in cents, which may have a fraction; times are in ISO 8601 or milliseconds. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/time-and-money-units';

/** Created when first used: loading the data of ICU takes longer than the rest of a command's start. */
function createLazily(options: Intl.NumberFormatOptions): () => Intl.NumberFormat {
  let format: Intl.NumberFormat | null = null;
  return () => {
    format ??= new Intl.NumberFormat('en-US', options);
    return format;
  };
}
const dollarFormat = createLazily({ style: 'currency', currency: 'USD' });
const smallDollarFormat = createLazily({
  style: 'currency',
  currency: 'USD',
  minimumSignificantDigits: 1,
  maximumSignificantDigits: 2,
});
const wholeNumberFormat = createLazily({ maximumFractionDigits: 0 });

/** Never prints `$0.00` for an amount above 0. */
export function formatCents(cents: number): string {
  const usd = cents / 100;
  return usd !== 0 && Math.abs(usd) < 0.01 ? smallDollarFormat().format(usd) : dollarFormat().format(usd);
}

export const formatCount = (value: number): string => wholeNumberFormat().format(value);
/** Formats a value that is a percentage already, as in the API: 25 is a quarter. */
export const formatPercent = (value: number): string => `${value.toFixed(value > 0 && value < 10 ? 1 : 0)} %`;

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / DAY_MS)} d`;
}

/** `–` for a figure that does not exist. */
export const formatOrDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? '–' : format(value);

/** Formats the time since an instant; `–` for null. */
export function formatAgo(instant: string | null, nowMs: number): string {
  if (instant === null) return '–';
  return `${formatDuration(Math.max(0, nowMs - Date.parse(instant)))} ago`;
}

/** Formats a day and, on request, the minute, in UTC. */
export const formatDay = (instant: string | null): string => instant?.slice(0, 10) ?? '–';
export const formatMinute = (instant: string | null): string => instant?.slice(0, 16).replace('T', ' ') ?? '–';
/** Formats the second, with the zone: `2026-11-22 16:51:54Z`. */
export const formatSecond = (instant: string): string => `${instant.slice(0, 19).replace('T', ' ')}Z`;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar of `share` × `cells` characters, in eighths. */
export function formatBar(share: number, cells: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * cells * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

/** Parses durations such as 90s, 30m, 12h and 90d. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@acg/base/time-and-money-units';
import { usage } from '../terminal/cli-error.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const DURATION = /^(\d{1,6})([smhdw])$/;

/** Returns milliseconds above 0. */
export function parseDuration(text: string, option: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const ms = Number(amount ?? 0) * (UNIT_MS[unit ?? ''] ?? 0);
  if (ms === 0) throw usage(`${option} must be a span of time, e.g. 30m, 12h or 90d, not ${JSON.stringify(text)}`);
  return ms;
}

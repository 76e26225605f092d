/**
 * Formats the figures of reports: cents from nano-dollars, percentages, averages, forecasts (docs/contract.md#usage).
 * Pure.
 */
import { HOUR_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { startOfNextUtcMonth } from './time-range.js';

const NANOS_PER_CENT_BIG = BigInt(NANOS_PER_CENT);

/** Integer cents of an exact sum, rounded half up. */
export const wholeCentsFromNanos = (nanos: bigint): number =>
  Number((nanos + NANOS_PER_CENT_BIG / 2n) / NANOS_PER_CENT_BIG);

/** Dollars of an exact sum, rounded half up to six decimals; finer than whole cents. */
export const usdFromNanos = (nanos: bigint): number => Number((nanos + 500n) / 1_000n) / 1e6;

/** US cents, not rounded. */
export const centsFromNanos = (nanos: bigint | number): number => Number(nanos) / NANOS_PER_CENT;

export const percentage = (part: number, whole: number): number => (whole === 0 ? 0 : rounded((100 * part) / whole, 2));

/** Milliseconds to two decimals. */
export const averageMs = (sum: number, count: number): number => (count === 0 ? 0 : rounded(sum / count, 2));

const rounded = (value: number, digits: number): number => {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
};

interface ForecastInput {
  /** Spend of the last 24 hours. */
  readonly recentNanos: number;
  /** Time of the first of that spend, Unix ms; null: none. */
  readonly firstSpendMs: number | null;
  /** Spend of the calendar month. */
  readonly monthNanos: number;
  readonly budgetCents: number | null;
  readonly nowMs: number;
}

interface Forecast {
  readonly burnRateCentsPerHour: number;
  readonly projectedMonthlyCents: number;
  readonly projectedMonthlyUsd: number;
  /** 0 when the budget is used up. Null without a budget, or if it lasts until the end of the month. */
  readonly daysUntilBudget: number | null;
}

/** The forecast in the format of agent summaries. */
export function forecastSpend(input: ForecastInput): Forecast {
  const { burnRateCentsPerHour, projectedCents, daysUntilBudget } = projectSpend(input);
  return {
    burnRateCentsPerHour,
    projectedMonthlyCents: Math.round(projectedCents),
    projectedMonthlyUsd: rounded(projectedCents / 100, 6),
    daysUntilBudget,
  };
}

export function projectSpend(input: ForecastInput) {
  const { recentNanos, firstSpendMs, monthNanos, budgetCents, nowMs } = input;
  // The rate counts from the first spend, so that a new agent's rate does not depend on when it was created.
  const hours = Math.max(1, Math.min(24, (nowMs - (firstSpendMs ?? nowMs)) / HOUR_MS));
  const burn = centsFromNanos(recentNanos) / hours;
  const monthCents = centsFromNanos(monthNanos);
  const hoursLeft = (startOfNextUtcMonth(nowMs) - nowMs) / HOUR_MS;
  return {
    burnRateCentsPerHour: rounded(burn, 6),
    projectedCents: monthCents + burn * hoursLeft,
    daysUntilBudget: budgetCents === null ? null : daysUntilSpent(budgetCents - monthCents, burn, hoursLeft),
  };
}

function daysUntilSpent(centsLeft: number, burn: number, hoursLeft: number): number | null {
  if (centsLeft <= 0) return 0;
  const hours = centsLeft / burn; // infinite without spend
  return hours > hoursLeft ? null : rounded(hours / 24, 2);
}

/** How figures are shown: cents from nano-dollars, percentages, averages, forecasts (docs/contract.md#usage). Pure. */
import { HOUR_MS, NANOS_PER_CENT } from '@acg/base/units';
import { nextMonth } from './period.js';

const NANOS_PER_CENT_BIG = BigInt(NANOS_PER_CENT);

/** Integer cents of an exact sum, rounded half up. */
export const wholeCents = (nanos: bigint): number => Number((nanos + NANOS_PER_CENT_BIG / 2n) / NANOS_PER_CENT_BIG);

/** Cents with their fraction. */
const fractionalCents = (nanos: number): number => nanos / NANOS_PER_CENT;

export const percentage = (part: number, whole: number): number => (whole === 0 ? 0 : rounded((100 * part) / whole, 2));

/** Milliseconds to two decimals. */
export const average = (sum: number, count: number): number => (count === 0 ? 0 : rounded(sum / count, 2));

const rounded = (value: number, digits: number): number => {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
};

interface ForecastInput {
  /** Spend of the last 24 hours, or since the agent's creation where it is younger. */
  readonly recentNanos: number;
  readonly createdAtMs: number;
  /** Spend of the calendar month. */
  readonly monthNanos: number;
  readonly budgetCents: number | null;
  readonly nowMs: number;
}

interface Forecast {
  readonly burnRateCentsPerHour: number;
  readonly projectedMonthlyCents: number;
  /** Null without a budget or without spending; 0 when the budget is used up. */
  readonly daysUntilBudget: number | null;
}

export function forecast({ recentNanos, createdAtMs, monthNanos, budgetCents, nowMs }: ForecastInput): Forecast {
  const hours = Math.min(24, Math.max((nowMs - createdAtMs) / HOUR_MS, 1 / 3_600));
  const burn = fractionalCents(recentNanos) / hours;
  const monthCents = fractionalCents(monthNanos);
  const hoursLeft = (nextMonth(nowMs) - nowMs) / HOUR_MS;
  const left = budgetCents === null ? 0 : Math.max(0, budgetCents - monthCents);
  return {
    burnRateCentsPerHour: rounded(burn, 6),
    projectedMonthlyCents: Math.round(monthCents + burn * hoursLeft),
    daysUntilBudget: budgetCents === null || burn === 0 ? null : rounded(left / (burn * 24), 2),
  };
}

/** The calendar month in days: spend so far, projection and budget, each as the sum since its first day. Pure. */
import { DAY_MS } from '@acg/base/time-and-money-units';
import { bucketStartMs } from '../../format/format.js';

const CENTS_PER_USD = 100;

interface MonthSpendInput {
  readonly nowMs: number;
  /** Days so far, as reports return them. */
  readonly days: readonly { readonly bucket: string; readonly costUsd: number }[];
  /** Null: not known yet. */
  readonly projectedCents: number | null;
}

export interface MonthSpend {
  /** Every day of the month, as reports write it. */
  readonly buckets: readonly string[];
  /** US dollars since the first day; 0 after today. */
  readonly spent: readonly number[];
  /** US dollars from today on; null before, and without a projection. */
  readonly projected: readonly (number | null)[];
}

/** The first day of the month and the last one, UTC midnight, Unix ms. */
export function monthBounds(nowMs: number): { readonly firstMs: number; readonly lastMs: number } {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { firstMs: Date.UTC(year, month, 1), lastMs: Date.UTC(year, month + 1, 0) };
}

export function monthSpend({ nowMs, days, projectedCents }: MonthSpendInput): MonthSpend {
  const { firstMs, lastMs } = monthBounds(nowMs);
  const count = (lastMs - firstMs) / DAY_MS + 1;
  const today = Math.floor((nowMs - firstMs) / DAY_MS);
  const costByDay = new Map(days.map(({ bucket, costUsd }) => [bucketStartMs(bucket), costUsd]));
  let sum = 0;
  const spent = Array.from({ length: count }, (_, i) => {
    if (i > today) return 0;
    sum += costByDay.get(firstMs + i * DAY_MS) ?? 0;
    return sum;
  });
  const end = projectedCents === null ? null : Math.max(sum, projectedCents / CENTS_PER_USD);
  const daysLeft = count - 1 - today;
  return {
    buckets: Array.from({ length: count }, (_, i) =>
      new Date(firstMs + i * DAY_MS).toISOString().slice(0, -1).replace('T', ' '),
    ),
    spent,
    projected: Array.from({ length: count }, (_, i) =>
      end === null || i < today || daysLeft === 0 ? null : sum + ((end - sum) * (i - today)) / daysLeft,
    ),
  };
}

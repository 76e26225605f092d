/** What a batch of new records adds up to. Pure: the ledger stores the result. */
import { Sketch } from './sketch.js';
import { isError, type UsageEntry, type UsageKind } from './usage-entry.js';

export interface HourlySum {
  readonly agentId: string;
  readonly orgId: string;
  readonly providerSlug: string;
  readonly hourMs: number;
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  costNanos: number;
  durationMsSum: number;
  readonly sketch: Sketch;
}

export interface MonthSum {
  readonly agentId: string;
  readonly orgId: string;
  /** `YYYY-MM`, UTC, of the start of the calls. */
  readonly month: string;
  costNanos: number;
}

export interface Rollup {
  readonly hourly: readonly HourlySum[];
  /** Only agents that spent something. */
  readonly months: readonly MonthSum[];
  /** Key id → Unix ms of its last call. */
  readonly lastUsed: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;

const hourOf = (ms: number): number => ms - (ms % HOUR_MS);

/** `YYYY-MM` in UTC. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

export function rollUp(entries: readonly UsageEntry[]): Rollup {
  const hourly = new Map<string, HourlySum>();
  const months = new Map<string, MonthSum>();
  const lastUsed = new Map<string, number>();
  // Entries of one kind and hour add to the same sums: their names are put together once.
  const found = new Map<UsageKind, Found>();
  for (const entry of entries) {
    const { kind } = entry;
    const hourMs = hourOf(entry.startedAtMs);
    let sums = found.get(kind);
    if (sums === undefined || sums.hourly.hourMs !== hourMs) {
      sums = { hourly: hourlySum(hourly, kind, hourMs), month: null, failed: isError(kind), lastUsedMs: 0 };
      found.set(kind, sums);
    }
    add(sums.hourly, entry, sums.failed);
    if (entry.costNanos > 0) {
      sums.month ??= monthSum(months, kind, hourMs);
      sums.month.costNanos += entry.costNanos;
    }
    if (entry.startedAtMs > sums.lastUsedMs) {
      sums.lastUsedMs = Math.max(lastUsed.get(kind.keyId) ?? 0, entry.startedAtMs);
      lastUsed.set(kind.keyId, sums.lastUsedMs);
    }
  }
  return { hourly: [...hourly.values()], months: [...months.values()], lastUsed };
}

interface Found {
  readonly hourly: HourlySum;
  /** Null until something was spent. */
  month: MonthSum | null;
  readonly failed: boolean;
  lastUsedMs: number;
}

function hourlySum(hourly: Map<string, HourlySum>, kind: UsageKind, hourMs: number): HourlySum {
  const { agentId, orgId, providerSlug } = kind;
  const key = `${agentId} ${hourMs} ${providerSlug}`;
  let sum = hourly.get(key);
  if (sum === undefined) {
    const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0, durationMsSum: 0 };
    sum = { agentId, orgId, providerSlug, hourMs, ...zero, sketch: new Sketch() };
    hourly.set(key, sum);
  }
  return sum;
}

function add(sum: HourlySum, entry: UsageEntry, failed: boolean): void {
  sum.requests++;
  if (failed) sum.errors++;
  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  sum.tokensOut += entry.tokensOut;
  sum.costNanos += entry.costNanos;
  sum.durationMsSum += entry.durationMs;
  sum.sketch.add(entry.durationMs);
}

function monthSum(months: Map<string, MonthSum>, { agentId, orgId }: UsageKind, hourMs: number): MonthSum {
  const month = monthOf(hourMs);
  const key = `${agentId} ${month}`;
  let sum = months.get(key);
  if (sum === undefined) {
    sum = { agentId, orgId, month, costNanos: 0 };
    months.set(key, sum);
  }
  return sum;
}

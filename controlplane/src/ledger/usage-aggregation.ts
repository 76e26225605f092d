/** What a batch of new records adds up to. Pure: the ledger stores the result. */
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { DeferredUsageEntry } from './deferred-usage.js';
import { LatencySketch } from './latency-sketch.js';
import { isFailedCall, type UsageDimensions, type UsageEntry } from './usage-entry.js';

/** What is added up of calls. */
interface UsageSums {
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  costNanos: number;
  durationMsSum: number;
  readonly sketch: LatencySketch;
}

export interface HourlyRollup extends UsageSums {
  readonly agentId: string;
  readonly orgId: string;
  /** `''`: not known. */
  readonly projectId: string;
  readonly providerSlug: string;
  /** `''`: the call has none. */
  readonly model: string;
  readonly keyId: string;
  readonly hourMs: number;
  /** Beginning of the last call, Unix ms; 0: there are lines alone. */
  lastMs: number;
}

export interface AgentMonth {
  readonly agentId: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
}

export interface MonthSpendSum extends AgentMonth {
  readonly orgId: string;
  costNanos: number;
  /** The part of it that only the ledger counts. */
  ledgerNanos: number;
}

interface AggregatedUsage {
  readonly hourlyRollups: readonly HourlyRollup[];
  /** Only agents that spent something. */
  readonly monthSums: readonly MonthSpendSum[];
  /** Key id → Unix ms of its last call. */
  readonly lastUsedMsByKey: ReadonlyMap<string, number>;
}

const startOfUtcHour = (ms: number): number => ms - (ms % HOUR_MS);

/** `YYYY-MM` in UTC. */
export const utcMonthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/**
 * The hour to which a call is counted: that of its start, but never outside the month of its admission. Where the two
 * differ (a call that waited at the turn of a month, two clocks), it is the hour of that month that is nearest. A month
 * further away than a day is a mistake and does not count.
 */
function billingHourMs(startedAtMs: number, month: string): number {
  if (month === '' || month === utcMonthOf(startedAtMs)) return startOfUtcHour(startedAtMs);
  const firstMs = Date.parse(`${month}-01`);
  if (startedAtMs < firstMs) return firstMs - startedAtMs > DAY_MS ? startOfUtcHour(startedAtMs) : firstMs;
  const endMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);
  return startedAtMs - endMs > DAY_MS ? startOfUtcHour(startedAtMs) : endMs - HOUR_MS;
}

export function aggregateUsage(
  entries: readonly UsageEntry[],
  lines: readonly DeferredUsageEntry[] = [],
): AggregatedUsage {
  const hourly = new Map<string, HourlyRollup>();
  const months = new Map<string, MonthSpendSum>();
  const lastUsed = new Map<string, number>();
  // Entries of one kind and hour add to the same sums: their names are put together once.
  const found = new Map<UsageDimensions, CachedSums>();
  for (const entry of entries) {
    const { dimensions: kind } = entry;
    const startedHourMs = startOfUtcHour(entry.startedAtMs);
    let sums = found.get(kind);
    if (sums === undefined || sums.startedHourMs !== startedHourMs) {
      const hourMs = billingHourMs(entry.startedAtMs, kind.month);
      sums = {
        startedHourMs,
        hourly: findOrCreateHourlyRollup(hourly, kind, hourMs),
        month: null,
        failed: isFailedCall(kind),
        lastUsedMs: 0,
      };
      found.set(kind, sums);
    }
    addCall(sums.hourly, entry, sums.failed);
    if (entry.startedAtMs > sums.hourly.lastMs) sums.hourly.lastMs = entry.startedAtMs;
    if (entry.costNanos > 0) {
      sums.month ??= findOrCreateMonthSum(months, kind, sums.hourly.hourMs);
      sums.month.costNanos += entry.costNanos;
    }
    if (entry.startedAtMs > sums.lastUsedMs) {
      sums.lastUsedMs = Math.max(lastUsed.get(kind.keyId) ?? 0, entry.startedAtMs);
      lastUsed.set(kind.keyId, sums.lastUsedMs);
    }
  }
  for (const line of lines) addDeferredEntry(hourly, months, line);
  return { hourlyRollups: [...hourly.values()], monthSums: [...months.values()], lastUsedMsByKey: lastUsed };
}

/** The call that fetched the line counts by itself: of the line there are tokens and cost. */
function addDeferredEntry(
  hourly: Map<string, HourlyRollup>,
  months: Map<string, MonthSpendSum>,
  line: DeferredUsageEntry,
): void {
  const { fetch, costNanos } = line;
  const hourMs = billingHourMs(fetch.startedAtMs, fetch.month);
  const sum = findOrCreateHourlyRollup(hourly, { ...fetch, model: line.model }, hourMs);
  sum.tokensIn += line.tokensInUncached + line.tokensCacheRead + line.tokensCacheWrite;
  sum.tokensOut += line.tokensOut;
  sum.costNanos += costNanos;
  if (costNanos === 0) return;
  const month = findOrCreateMonthSum(months, fetch, hourMs);
  month.costNanos += costNanos;
  month.ledgerNanos += costNanos;
}

/** The months to which these add, each once. */
export function monthsWithSpend(
  entries: readonly UsageEntry[],
  lines: readonly DeferredUsageEntry[],
): readonly AgentMonth[] {
  const months = new Map<string, AgentMonth>();
  const seen = new Map<UsageDimensions, number>();
  for (const { dimensions: kind, startedAtMs, costNanos } of entries) {
    const startedHourMs = startOfUtcHour(startedAtMs);
    if (costNanos === 0 || seen.get(kind) === startedHourMs) continue;
    seen.set(kind, startedHourMs);
    const { agentId } = kind;
    const month = utcMonthOf(billingHourMs(startedAtMs, kind.month));
    months.set(`${agentId} ${month}`, { agentId, month });
  }
  for (const { fetch, costNanos } of lines) {
    if (costNanos === 0) continue;
    const month = utcMonthOf(billingHourMs(fetch.startedAtMs, fetch.month));
    months.set(`${fetch.agentId} ${month}`, { agentId: fetch.agentId, month });
  }
  return [...months.values()];
}

interface CachedSums {
  readonly startedHourMs: number;
  readonly hourly: HourlyRollup;
  /** Null until something was spent. */
  month: MonthSpendSum | null;
  readonly failed: boolean;
  lastUsedMs: number;
}

type RollupDimensions = Pick<HourlyRollup, 'agentId' | 'orgId' | 'projectId' | 'providerSlug' | 'model' | 'keyId'>;

function findOrCreateHourlyRollup(
  hourly: Map<string, HourlyRollup>,
  kind: RollupDimensions,
  hourMs: number,
): HourlyRollup {
  const { agentId, orgId, projectId, providerSlug, model, keyId } = kind;
  const key = `${agentId} ${hourMs} ${providerSlug} ${keyId} ${model}`;
  let sum = hourly.get(key);
  if (sum === undefined) {
    const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0, durationMsSum: 0 };
    sum = {
      agentId,
      orgId,
      projectId,
      providerSlug,
      model,
      keyId,
      hourMs,
      lastMs: 0,
      ...zero,
      sketch: new LatencySketch(),
    };
    hourly.set(key, sum);
  }
  return sum;
}

function addCall(sum: UsageSums, entry: UsageEntry, failed: boolean): void {
  sum.requests++;
  if (failed) sum.errors++;
  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  sum.tokensOut += entry.tokensOut;
  sum.costNanos += entry.costNanos;
  sum.durationMsSum += entry.durationMs;
  sum.sketch.addLatency(entry.durationMs);
  sum.sketch.addStatus(entry.dimensions.responseStatus);
}

function findOrCreateMonthSum(
  months: Map<string, MonthSpendSum>,
  { agentId, orgId }: Pick<UsageDimensions, 'agentId' | 'orgId'>,
  hourMs: number,
): MonthSpendSum {
  const month = utcMonthOf(hourMs);
  const key = `${agentId} ${month}`;
  let sum = months.get(key);
  if (sum === undefined) {
    sum = { agentId, orgId, month, costNanos: 0, ledgerNanos: 0 };
    months.set(key, sum);
  }
  return sum;
}

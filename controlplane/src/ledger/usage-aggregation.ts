/** Sums up a batch of new records by hour and by month. Pure: the ledger stores the result. */
import { utcDayOf } from '@acg/base/budget-rows';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { DeferredUsageEntry } from './deferred-usage-deduplication.js';
import { LatencySketch } from './latency-sketch.js';
import { isFailedCall, type UsageDimensions, type UsageEntry } from './usage-record-with-shared-dimensions.js';

/** The summed measures of calls. Cost in nano-dollars, durations in ms. */
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
  /** `''`: unknown. */
  readonly projectId: string;
  readonly providerSlug: string;
  /** The model, or {@link TOOL_PREFIX} and the tool; `''`: the calls have neither. */
  readonly model: string;
  readonly keyId: string;
  readonly hourMs: number;
  /** Start of the last call, Unix ms; 0: the sum holds deferred usage only. */
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
  /** The part of `costNanos` that only the ledger counts: deferred usage. */
  ledgerNanos: number;
}

interface AggregatedUsage {
  readonly hourlyRollups: readonly HourlyRollup[];
  /** Only agents with a cost above 0. */
  readonly monthSums: readonly MonthSpendSum[];
  /** Key id → start of its last call, Unix ms. */
  readonly lastUsedMsByKey: ReadonlyMap<string, number>;
  /** The same by account id. */
  readonly lastUsedMsByAccount: ReadonlyMap<string, number>;
}

const startOfUtcHour = (ms: number): number => ms - (ms % HOUR_MS);

/** `YYYY-MM` in UTC. */
export const utcMonthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/** Month (`YYYY-MM`) and day (`YYYY-MM-DD`) of an admission; `''`: not stated. */
interface AdmissionTime {
  readonly month: string;
  readonly day: string;
}

/**
 * Start of the hour to which a call counts, Unix ms: the hour of its start, but always in the day of its admission, or
 * its month where the day is not stated. They differ when a call waits at the turn of a day, or with two clocks; then the
 * nearest hour of that day counts. A day more than a day away is an error and is ignored.
 */
function billingHourMs(startedAtMs: number, { month, day }: AdmissionTime): number {
  const [fromMs, toMs] = admissionRange(month, day);
  if (startedAtMs < fromMs) return fromMs - startedAtMs > DAY_MS ? startOfUtcHour(startedAtMs) : fromMs;
  if (startedAtMs < toMs) return startOfUtcHour(startedAtMs);
  return startedAtMs - toMs > DAY_MS ? startOfUtcHour(startedAtMs) : toMs - HOUR_MS;
}

function admissionRange(month: string, day: string): readonly [fromMs: number, toMs: number] {
  if (day !== '') return [Date.parse(day), Date.parse(day) + DAY_MS];
  if (month === '') return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [Date.parse(`${month}-01`), Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1)];
}

/** The day to which a call counts, `YYYY-MM-DD`. */
export const billingDayOf = (startedAtMs: number, admission: AdmissionTime): string =>
  utcDayOf(billingHourMs(startedAtMs, admission));

export function aggregateUsage(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[] = [],
): AggregatedUsage {
  const hourly = new Map<string, HourlyRollup>();
  const months = new Map<string, MonthSpendSum>();
  const lastUsedMsByKey = new Map<string, number>();
  const lastUsedMsByAccount = new Map<string, number>();
  // Entries with the same dimensions and hour add to the same sums, so their keys are built once.
  const sumsByDimensions = new Map<UsageDimensions, CachedSums>();
  for (const entry of entries) {
    const { dimensions } = entry;
    const startedHourMs = startOfUtcHour(entry.startedAtMs);
    let sums = sumsByDimensions.get(dimensions);
    if (sums === undefined || sums.startedHourMs !== startedHourMs) {
      const hourMs = billingHourMs(entry.startedAtMs, dimensions);
      sums = {
        startedHourMs,
        hourly: findOrCreateHourlyRollup(hourly, withToolAsModel(dimensions), hourMs),
        month: null,
        failed: isFailedCall(dimensions),
        lastUsedMs: 0,
      };
      sumsByDimensions.set(dimensions, sums);
    }
    addCallToSums(sums.hourly, entry, sums.failed);
    if (entry.startedAtMs > sums.hourly.lastMs) sums.hourly.lastMs = entry.startedAtMs;
    if (entry.costNanos > 0) {
      sums.month ??= findOrCreateMonthSum(months, dimensions, sums.hourly.hourMs);
      sums.month.costNanos += entry.costNanos;
    }
    if (entry.startedAtMs > sums.lastUsedMs) {
      sums.lastUsedMs = entry.startedAtMs;
      raise(lastUsedMsByKey, dimensions.keyId, entry.startedAtMs);
      raise(lastUsedMsByAccount, dimensions.accountId, entry.startedAtMs);
    }
  }
  for (const line of deferredUsage) addDeferredEntryToSums(hourly, months, line);
  return {
    hourlyRollups: [...hourly.values()],
    monthSums: [...months.values()],
    lastUsedMsByKey,
    lastUsedMsByAccount,
  };
}

function raise(lastMsById: Map<string, number>, id: string, ms: number): void {
  if (ms > (lastMsById.get(id) ?? 0)) lastMsById.set(id, ms);
}

/** Adds tokens and cost only: the call that fetched the entry counts itself as a request. */
function addDeferredEntryToSums(
  hourly: Map<string, HourlyRollup>,
  months: Map<string, MonthSpendSum>,
  deferredEntry: DeferredUsageEntry,
): void {
  const { fetch, costNanos } = deferredEntry;
  const hourMs = billingHourMs(fetch.startedAtMs, fetch);
  const sum = findOrCreateHourlyRollup(hourly, { ...fetch, model: deferredEntry.model }, hourMs);
  sum.tokensIn += deferredEntry.tokensInUncached + deferredEntry.tokensCacheRead + deferredEntry.tokensCacheWrite;
  sum.tokensOut += deferredEntry.tokensOut;
  sum.costNanos += costNanos;
  if (costNanos === 0) return;
  const month = findOrCreateMonthSum(months, fetch, hourMs);
  month.costNanos += costNanos;
  month.ledgerNanos += costNanos;
}

/** The distinct agents and months to which these entries add a cost. */
export function monthsWithSpend(
  entries: readonly UsageEntry[],
  deferredUsage: readonly DeferredUsageEntry[],
): readonly AgentMonth[] {
  const months = new Map<string, AgentMonth>();
  const seen = new Map<UsageDimensions, number>();
  for (const { dimensions, startedAtMs, costNanos } of entries) {
    const startedHourMs = startOfUtcHour(startedAtMs);
    if (costNanos === 0 || seen.get(dimensions) === startedHourMs) continue;
    seen.set(dimensions, startedHourMs);
    const { agentId } = dimensions;
    const month = utcMonthOf(billingHourMs(startedAtMs, dimensions));
    months.set(`${agentId} ${month}`, { agentId, month });
  }
  for (const { fetch, costNanos } of deferredUsage) {
    if (costNanos === 0) continue;
    const month = utcMonthOf(billingHourMs(fetch.startedAtMs, fetch));
    months.set(`${fetch.agentId} ${month}`, { agentId: fetch.agentId, month });
  }
  return [...months.values()];
}

interface CachedSums {
  readonly startedHourMs: number;
  readonly hourly: HourlyRollup;
  /** Null until an entry has a cost. */
  month: MonthSpendSum | null;
  readonly failed: boolean;
  lastUsedMs: number;
}

/**
 * Begins the name of a tool in the rollups' column of the model. A call has a model or a tool, so one column holds both,
 * and the key of the large rollup tables stays.
 */
export const TOOL_PREFIX = 'tool:';

function withToolAsModel(dimensions: UsageDimensions): RollupDimensions {
  const { agentId, orgId, projectId, providerSlug, keyId, tool } = dimensions;
  if (tool === '') return dimensions;
  return { agentId, orgId, projectId, providerSlug, keyId, model: TOOL_PREFIX + tool };
}

type RollupDimensions = Pick<HourlyRollup, 'agentId' | 'orgId' | 'projectId' | 'providerSlug' | 'model' | 'keyId'>;

function findOrCreateHourlyRollup(
  hourly: Map<string, HourlyRollup>,
  dimensions: RollupDimensions,
  hourMs: number,
): HourlyRollup {
  const { agentId, orgId, projectId, providerSlug, model, keyId } = dimensions;
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

function addCallToSums(sum: UsageSums, entry: UsageEntry, failed: boolean): void {
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

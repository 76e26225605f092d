/** What a batch of new records adds up to. Pure: the ledger stores the result. */
import { DAY_MS, HOUR_MS } from '@acg/base/units';
import type { LineEntry } from './lines.js';
import { Sketch } from './sketch.js';
import { isError, type UsageEntry, type UsageKind } from './usage-entry.js';

/** What is added up of calls. */
interface UsageSums {
  requests: number;
  errors: number;
  tokensIn: number;
  tokensOut: number;
  costNanos: number;
  durationMsSum: number;
  readonly sketch: Sketch;
}

export interface HourlySum extends UsageSums {
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

export interface MonthSum extends AgentMonth {
  readonly orgId: string;
  costNanos: number;
  /** The part of it that only the ledger counts. */
  ledgerNanos: number;
}

interface Rollup {
  readonly hourly: readonly HourlySum[];
  /** Only agents that spent something. */
  readonly months: readonly MonthSum[];
  /** Key id → Unix ms of its last call. */
  readonly lastUsed: ReadonlyMap<string, number>;
}

const hourOf = (ms: number): number => ms - (ms % HOUR_MS);

/** `YYYY-MM` in UTC. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

/**
 * The hour to which a call is counted: that of its start, but never outside the month of its admission. Where the two
 * differ (a call that waited at the turn of a month, two clocks), it is the hour of that month that is nearest. A month
 * further away than a day is a mistake and does not count.
 */
function countedHour(startedAtMs: number, month: string): number {
  if (month === '' || month === monthOf(startedAtMs)) return hourOf(startedAtMs);
  const firstMs = Date.parse(`${month}-01`);
  if (startedAtMs < firstMs) return firstMs - startedAtMs > DAY_MS ? hourOf(startedAtMs) : firstMs;
  const endMs = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);
  return startedAtMs - endMs > DAY_MS ? hourOf(startedAtMs) : endMs - HOUR_MS;
}

export function rollUp(entries: readonly UsageEntry[], lines: readonly LineEntry[] = []): Rollup {
  const hourly = new Map<string, HourlySum>();
  const months = new Map<string, MonthSum>();
  const lastUsed = new Map<string, number>();
  // Entries of one kind and hour add to the same sums: their names are put together once.
  const found = new Map<UsageKind, Found>();
  for (const entry of entries) {
    const { kind } = entry;
    const startedHourMs = hourOf(entry.startedAtMs);
    let sums = found.get(kind);
    if (sums === undefined || sums.startedHourMs !== startedHourMs) {
      const hourMs = countedHour(entry.startedAtMs, kind.month);
      sums = {
        startedHourMs,
        hourly: hourlySum(hourly, kind, hourMs),
        month: null,
        failed: isError(kind),
        lastUsedMs: 0,
      };
      found.set(kind, sums);
    }
    add(sums.hourly, entry, sums.failed);
    if (entry.startedAtMs > sums.hourly.lastMs) sums.hourly.lastMs = entry.startedAtMs;
    if (entry.costNanos > 0) {
      sums.month ??= monthSum(months, kind, sums.hourly.hourMs);
      sums.month.costNanos += entry.costNanos;
    }
    if (entry.startedAtMs > sums.lastUsedMs) {
      sums.lastUsedMs = Math.max(lastUsed.get(kind.keyId) ?? 0, entry.startedAtMs);
      lastUsed.set(kind.keyId, sums.lastUsedMs);
    }
  }
  for (const line of lines) addLine(hourly, months, line);
  return { hourly: [...hourly.values()], months: [...months.values()], lastUsed };
}

/** The call that fetched the line counts by itself: of the line there are tokens and cost. */
function addLine(hourly: Map<string, HourlySum>, months: Map<string, MonthSum>, line: LineEntry): void {
  const { fetch, costNanos } = line;
  const hourMs = countedHour(fetch.startedAtMs, fetch.month);
  const sum = hourlySum(hourly, { ...fetch, model: line.model }, hourMs);
  sum.tokensIn += line.tokensInUncached + line.tokensCacheRead + line.tokensCacheWrite;
  sum.tokensOut += line.tokensOut;
  sum.costNanos += costNanos;
  if (costNanos === 0) return;
  const month = monthSum(months, fetch, hourMs);
  month.costNanos += costNanos;
  month.ledgerNanos += costNanos;
}

/** The months to which these add, each once. */
export function paidMonths(entries: readonly UsageEntry[], lines: readonly LineEntry[]): readonly AgentMonth[] {
  const months = new Map<string, AgentMonth>();
  const seen = new Map<UsageKind, number>();
  for (const { kind, startedAtMs, costNanos } of entries) {
    const startedHourMs = hourOf(startedAtMs);
    if (costNanos === 0 || seen.get(kind) === startedHourMs) continue;
    seen.set(kind, startedHourMs);
    const { agentId } = kind;
    const month = monthOf(countedHour(startedAtMs, kind.month));
    months.set(`${agentId} ${month}`, { agentId, month });
  }
  for (const { fetch, costNanos } of lines) {
    if (costNanos === 0) continue;
    const month = monthOf(countedHour(fetch.startedAtMs, fetch.month));
    months.set(`${fetch.agentId} ${month}`, { agentId: fetch.agentId, month });
  }
  return [...months.values()];
}

interface Found {
  readonly startedHourMs: number;
  readonly hourly: HourlySum;
  /** Null until something was spent. */
  month: MonthSum | null;
  readonly failed: boolean;
  lastUsedMs: number;
}

type Counted = Pick<HourlySum, 'agentId' | 'orgId' | 'projectId' | 'providerSlug' | 'model' | 'keyId'>;

function hourlySum(hourly: Map<string, HourlySum>, kind: Counted, hourMs: number): HourlySum {
  const { agentId, orgId, projectId, providerSlug, model, keyId } = kind;
  const key = `${agentId} ${hourMs} ${providerSlug} ${keyId} ${model}`;
  let sum = hourly.get(key);
  if (sum === undefined) {
    const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0, durationMsSum: 0 };
    sum = { agentId, orgId, projectId, providerSlug, model, keyId, hourMs, lastMs: 0, ...zero, sketch: new Sketch() };
    hourly.set(key, sum);
  }
  return sum;
}

function add(sum: UsageSums, entry: UsageEntry, failed: boolean): void {
  sum.requests++;
  if (failed) sum.errors++;
  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  sum.tokensOut += entry.tokensOut;
  sum.costNanos += entry.costNanos;
  sum.durationMsSum += entry.durationMs;
  sum.sketch.add(entry.durationMs);
  sum.sketch.addStatus(entry.kind.responseStatus);
}

function monthSum(
  months: Map<string, MonthSum>,
  { agentId, orgId }: Pick<UsageKind, 'agentId' | 'orgId'>,
  hourMs: number,
): MonthSum {
  const month = monthOf(hourMs);
  const key = `${agentId} ${month}`;
  let sum = months.get(key);
  if (sum === undefined) {
    sum = { agentId, orgId, month, costNanos: 0, ledgerNanos: 0 };
    months.set(key, sum);
  }
  return sum;
}

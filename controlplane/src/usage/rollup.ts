/** What a batch of new records adds up to. Pure: the ledger stores the result. */
import { Sketch } from './sketch.js';
import { isError, type UsageEntry } from './usage-entry.js';

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
  const monthOfHour = new Map<number, string>();
  for (const entry of entries) {
    addHour(hourly, entry);
    if (entry.costNanos > 0) addMonth(months, entry, monthOfHour);
    lastUsed.set(entry.keyId, Math.max(lastUsed.get(entry.keyId) ?? 0, entry.startedAtMs));
  }
  return { hourly: [...hourly.values()], months: [...months.values()], lastUsed };
}

function addHour(hourly: Map<string, HourlySum>, entry: UsageEntry): void {
  const hourMs = hourOf(entry.startedAtMs);
  const key = `${entry.agentId} ${hourMs} ${entry.providerSlug}`;
  let sum = hourly.get(key);
  if (sum === undefined) {
    const { agentId, orgId, providerSlug } = entry;
    const zero = { requests: 0, errors: 0, tokensIn: 0, tokensOut: 0, costNanos: 0, durationMsSum: 0 };
    sum = { agentId, orgId, providerSlug, hourMs, ...zero, sketch: new Sketch() };
    hourly.set(key, sum);
  }
  sum.requests++;
  if (isError(entry)) sum.errors++;
  sum.tokensIn += entry.tokensInUncached + entry.tokensCacheRead + entry.tokensCacheWrite;
  sum.tokensOut += entry.tokensOut;
  sum.costNanos += entry.costNanos;
  sum.durationMsSum += entry.durationMs;
  sum.sketch.add(entry.durationMs);
}

/** `monthOfHour` saves making a date for every entry. */
function addMonth(months: Map<string, MonthSum>, entry: UsageEntry, monthOfHour: Map<number, string>): void {
  const hourMs = hourOf(entry.startedAtMs);
  let month = monthOfHour.get(hourMs);
  if (month === undefined) {
    month = monthOf(hourMs);
    monthOfHour.set(hourMs, month);
  }
  const key = `${entry.agentId} ${month}`;
  const sum = months.get(key);
  if (sum !== undefined) sum.costNanos += entry.costNanos;
  else months.set(key, { agentId: entry.agentId, orgId: entry.orgId, month, costNanos: entry.costNanos });
}

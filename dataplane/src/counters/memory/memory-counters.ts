/**
 * Counters of one data plane in its own memory, by the same rules as admit.lua and with an injected clock. Rate windows
 * start empty with the process. Spend is this process's own spend or the ledger's figure, whichever is higher.
 * Memory is bounded: each admission checks a few entries and evicts the expired ones.
 */
import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import type { CalendarWindow } from '../../limits/calendar-window.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  LimitSnapshot,
  PeekRequest,
  Settlement,
  SpendSnapshot,
  ToolRate,
  WindowSnapshot,
} from '../../limits/counters-interface.js';
import {
  AGENT_PROVIDER_ROWS,
  budgetWindowAt,
  DEFAULT_WINDOW_LENGTHS_MS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  TOOL_RATE_ROW,
  UNLIMITED,
  type WindowLengthsMs,
} from '../../limits/limit-table.js';
import { type ClockUs, createMicrosecondWallClock } from './microsecond-wall-clock.js';
import { RateLimitWindows } from './rate-limit-windows.js';
import { WindowSpend } from './window-spend.js';

/** Checked before the limit of a tool. */
const REQUEST_ROWS = AGENT_PROVIDER_ROWS.filter((row) => !TOKEN_ROWS.includes(row));
const EVICTION_CHECKS_PER_ADMISSION = 2;
const US_PER_SECOND = 1_000_000;

/** The limit that rejects a request. `spend` is that of the exceeded budget; null for a rate limit. */
interface LimitRejection {
  readonly row: number;
  readonly retryAtSec: number;
  readonly spend: WindowSpend | null;
}

export class MemoryCounters implements Counters {
  readonly kind = 'memory';
  readonly isEnforcing = true;
  readonly #clock: ClockUs;
  readonly #windows: WindowLengthsMs;
  readonly #rateWindows = new Map<string, RateLimitWindows>();
  /** By scope and calendar window. */
  readonly #spends = new Map<string, WindowSpend>();
  #windowSweep: IterableIterator<[string, RateLimitWindows]> | null = null;
  #spendSweep: IterableIterator<[string, WindowSpend]> | null = null;

  constructor(clock: ClockUs = createMicrosecondWallClock(), windows: Partial<WindowLengthsMs> = {}) {
    this.#clock = clock;
    this.#windows = { ...DEFAULT_WINDOW_LENGTHS_MS, ...windows };
  }

  /** Number of tracked agent-provider pairs and of scopes per window; for tests of the memory bound. */
  get trackedCount(): number {
    return this.#rateWindows.size + this.#spends.size;
  }

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    const { limits, providerSlug, reservationNanos, toolRate = null } = request;
    const nowUs = this.#clock();
    const nowSec = Math.floor(nowUs / US_PER_SECOND);
    this.#evictExpiredIncrementally(nowUs);
    const rateWindows = this.#getOrCreateWindows(limits.agentId, providerSlug);
    rateWindows.advanceTo(nowUs);
    const toolWindows = toolRate === null ? null : this.#getOrCreateToolWindows(limits, providerSlug, toolRate);
    toolWindows?.advanceTo(nowUs);
    const budgets = this.#budgetSpends(limits, nowSec);
    const rejection =
      findFullWindow(rateWindows, limits, REQUEST_ROWS) ??
      findFullToolWindow(toolWindows, toolRate) ??
      findFullWindow(rateWindows, limits, TOKEN_ROWS) ??
      findExceededBudget(limits, budgets, nowSec, reservationNanos);
    const reportedSpend = rejection?.spend ?? budgets[0];
    if (rejection === null) {
      rateWindows.consumeRequest();
      toolWindows?.consumeRequest();
      for (const spend of budgets) spend.reservedNanos += reservationNanos;
    }
    done({
      outcome: rejection === null ? 'admitted' : (LIMIT_TABLE[rejection.row]?.type ?? 'tool_rpm'),
      rejectedByRow: rejection?.row ?? -1,
      retryAtSec: rejection?.retryAtSec ?? 0,
      rpmRemaining: rateWindows.remaining(RPM_ROW, limits),
      rpmResetAtSec: rateWindows.resetAtSec(RPM_ROW) ?? 0,
      admittedAtSec: nowSec,
      spentNanos: reportedSpend?.spentNanos ?? 0,
      reservedNanos: reportedSpend?.reservedNanos ?? 0,
      reservationNanos,
    });
  }

  growReservation(
    limits: AgentLimits,
    admittedAtSec: number,
    additionalNanos: number,
    done: (granted: boolean) => void,
  ): void {
    const budgets = this.#budgetSpends(limits, admittedAtSec);
    const granted = findExceededBudget(limits, budgets, admittedAtSec, additionalNanos) === null;
    if (granted) for (const spend of budgets) spend.reservedNanos += additionalNanos;
    done(granted);
  }

  settle({ limits, providerSlug, admittedAtSec, costNanos, tokens, reservationNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    if (cost > 0) {
      for (const { tag, row } of limits.scopes)
        this.#getOrCreateSpend(tag, budgetWindowAt(row, admittedAtSec)).addSpend(cost);
    }
    if (reservationNanos > 0) {
      for (const spend of this.#budgetSpends(limits, admittedAtSec))
        spend.reservedNanos = Math.max(0, spend.reservedNanos - reservationNanos);
    }
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] === UNLIMITED || !(tokens > 0)) continue;
      this.#getOrCreateWindows(limits.agentId, providerSlug).addTokens(row, this.#clock(), tokens);
    }
  }

  updateLedgerSpend(tag: string, window: CalendarWindow, nanos: number, ledgerOnlyNanos: number): void {
    this.#spends.get(spendKey(tag, window))?.updateFromLedger(nanos, ledgerOnlyNanos);
  }

  peek({ limits, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const nowUs = this.#clock();
    const nowSec = Math.floor(nowUs / US_PER_SECOND);
    const windows = providerSlugs.map((providerSlug): WindowSnapshot => {
      const rateWindows =
        this.#rateWindows.get(windowsKey(limits.agentId, providerSlug)) ?? new RateLimitWindows(this.#windows);
      rateWindows.advanceTo(nowUs);
      return {
        providerSlug,
        remaining: AGENT_PROVIDER_ROWS.map((row) => rateWindows.remaining(row, limits)),
        resetAtSec: AGENT_PROVIDER_ROWS.map((row) => rateWindows.resetAtSec(row)),
        rejection: findFullWindow(rateWindows, limits, AGENT_PROVIDER_ROWS),
      };
    });
    const spends = limits.scopes.map((scope): SpendSnapshot => {
      const { spentNanos, reservedNanos } = this.#refreshSpend(limits, scope, nowSec);
      return { row: scope.row, spentNanos, reservedNanos };
    });
    done({ windows, spends });
  }

  /** Does nothing: without an external store there is no data loss to report. */
  setDataLostListener(): void {}

  async close(): Promise<void> {}

  /** Spend of each budgeted scope in the window of an instant. */
  #budgetSpends(limits: AgentLimits, unixSec: number): readonly WindowSpend[] {
    return limits.budgetedScopes.map((scope) => this.#refreshSpend(limits, scope, unixSec));
  }

  #getOrCreateToolWindows({ agentId }: AgentLimits, providerSlug: string, { pattern }: ToolRate): RateLimitWindows {
    return this.#getOrCreateWindows(agentId, `${providerSlug}:tool:${pattern}`);
  }

  #getOrCreateWindows(agentId: string, windowOf: string): RateLimitWindows {
    const key = windowsKey(agentId, windowOf);
    let rateWindows = this.#rateWindows.get(key);
    if (rateWindows === undefined) {
      rateWindows = new RateLimitWindows(this.#windows);
      this.#rateWindows.set(key, rateWindows);
    }
    return rateWindows;
  }

  #refreshSpend(
    limits: AgentLimits,
    { tag, row, ledgerNanos, ledgerOnlyNanos }: ScopeSpend,
    unixSec: number,
  ): WindowSpend {
    const window = budgetWindowAt(row, unixSec);
    const spend = this.#getOrCreateSpend(tag, window);
    if (limits.ledgerWindow?.name === window.name) spend.updateFromLedger(ledgerNanos, ledgerOnlyNanos);
    return spend;
  }

  #getOrCreateSpend(tag: string, window: CalendarWindow): WindowSpend {
    const key = spendKey(tag, window);
    let spend = this.#spends.get(key);
    if (spend === undefined) {
      spend = new WindowSpend(window);
      this.#spends.set(key, spend);
    }
    return spend;
  }

  #evictExpiredIncrementally(nowUs: number): void {
    for (let i = 0; i < EVICTION_CHECKS_PER_ADMISSION; i++) {
      this.#windowSweep ??= this.#rateWindows.entries();
      const entry = this.#windowSweep.next();
      if (entry.done === true) this.#windowSweep = null;
      else if (entry.value[1].isExpired(nowUs)) this.#rateWindows.delete(entry.value[0]);
    }
    this.#spendSweep ??= this.#spends.entries();
    const spend = this.#spendSweep.next();
    if (spend.done === true) this.#spendSweep = null;
    else if (spend.value[1].isExpired(nowUs / US_PER_SECOND)) this.#spends.delete(spend.value[0]);
  }
}

const windowsKey = (agentId: string, providerSlug: string): string => `${agentId}:${providerSlug}`;
const spendKey = (tag: string, { name }: CalendarWindow): string => `${tag}:${name}`;

/** Returns the first full window in the order of the limit table, or null. */
function findFullWindow(
  rateWindows: RateLimitWindows,
  limits: AgentLimits,
  rows: readonly number[],
): LimitRejection | null {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    if (limits.byRow[row] !== UNLIMITED && rateWindows.remaining(row, limits) === 0) {
      return { row, retryAtSec: rateWindows.retryAtSec(row, limits), spend: null };
    }
  }
  return null;
}

/** The minute of a tool is that of a provider with another limit. */
function findFullToolWindow(windows: RateLimitWindows | null, rate: ToolRate | null): LimitRejection | null {
  if (windows === null || rate === null) return null;
  const limits = { byRow: [rate.rpm] };
  if (windows.remaining(RPM_ROW, limits) > 0) return null;
  return { row: TOOL_RATE_ROW, retryAtSec: windows.retryAtSec(RPM_ROW, limits), spend: null };
}

/** Returns the first budget that has no room for the request, or null. `spends`: of the budgeted scopes, in order. */
function findExceededBudget(
  limits: AgentLimits,
  spends: readonly WindowSpend[],
  unixSec: number,
  reservationNanos: number,
): LimitRejection | null {
  const at = limits.budgetedScopes.findIndex(({ budgetNanos }, i) => {
    const { spentNanos, reservedNanos } = spends[i]!;
    return reservationNanos > 0
      ? spentNanos + reservedNanos + reservationNanos > budgetNanos
      : spentNanos >= budgetNanos;
  });
  if (at < 0) return null;
  const { row } = limits.budgetedScopes[at]!;
  return { row, retryAtSec: budgetWindowAt(row, unixSec).endSec, spend: spends[at]! };
}

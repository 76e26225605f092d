/**
 * Counters of one data plane in its own memory, by the same rules as admit.lua and with an injected clock. Rate windows
 * start empty with the process. Month spend is this process's own spend or the ledger's figure, whichever is higher.
 * Memory is bounded: each admission checks a few entries and evicts the expired ones.
 */
import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { monthEndSec, monthOfMs } from '../../limits/calendar-month.js';
import type {
  Admission,
  AdmissionRequest,
  Counters,
  LimitSnapshot,
  PeekRequest,
  Settlement,
  SpendSnapshot,
  WindowSnapshot,
} from '../../limits/counters-interface.js';
import {
  AGENT_PROVIDER_ROWS,
  DEFAULT_WINDOW_LENGTHS_MS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  UNLIMITED,
  type WindowLengthsMs,
} from '../../limits/limit-table.js';
import { type ClockUs, createMicrosecondWallClock } from './microsecond-wall-clock.js';
import { MonthSpend } from './month-spend.js';
import { RateLimitWindows } from './rate-limit-windows.js';

const EVICTION_CHECKS_PER_ADMISSION = 2;

/** The limit that rejects a request. `spend` is the exceeded month spend; null for a rate limit. */
interface LimitRejection {
  readonly row: number;
  readonly retryAtSec: number;
  readonly spend: MonthSpend | null;
}

export class MemoryCounters implements Counters {
  readonly kind = 'memory';
  readonly isEnforcing = true;
  readonly #clock: ClockUs;
  readonly #windows: WindowLengthsMs;
  readonly #rateWindows = new Map<string, RateLimitWindows>();
  readonly #monthSpends = new Map<string, MonthSpend>();
  #windowSweep: IterableIterator<[string, RateLimitWindows]> | null = null;
  #spendSweep: IterableIterator<[string, MonthSpend]> | null = null;

  constructor(clock: ClockUs = createMicrosecondWallClock(), windows: Partial<WindowLengthsMs> = {}) {
    this.#clock = clock;
    this.#windows = { ...DEFAULT_WINDOW_LENGTHS_MS, ...windows };
  }

  /** Number of tracked agent-provider pairs and scopes; for tests of the memory bound. */
  get trackedCount(): number {
    return this.#rateWindows.size + this.#monthSpends.size;
  }

  admit({ limits, providerSlug, reservationNanos }: AdmissionRequest, done: (admission: Admission) => void): void {
    const nowUs = this.#clock();
    this.#evictExpiredIncrementally(nowUs);
    const month = monthOfMs(nowUs / 1000);
    const rateWindows = this.#getOrCreateWindows(limits.agentId, providerSlug);
    rateWindows.advanceTo(nowUs);
    const rejection = findFullWindow(rateWindows, limits) ?? this.#findExceededBudget(limits, month, reservationNanos);
    const reportedSpend =
      rejection?.spend ??
      (limits.budgetedScopes.length > 0 ? this.#refreshScopeSpend(limits, limits.budgetedScopes[0]!) : null);
    if (rejection === null) {
      rateWindows.consumeRequest();
      if (reservationNanos > 0) this.#refreshScopeSpend(limits, limits.scopes[0]!).reservedNanos += reservationNanos;
    }
    done({
      outcome: rejection === null ? 'admitted' : LIMIT_TABLE[rejection.row]!.type,
      rejectedByRow: rejection?.row ?? -1,
      retryAtSec: rejection?.retryAtSec ?? 0,
      rpmRemaining: rateWindows.remaining(RPM_ROW, limits),
      rpmResetAtSec: rateWindows.resetAtSec(RPM_ROW) ?? 0,
      month,
      spentNanos: reportedSpend?.spentNanos(month) ?? 0,
      reservedNanos: reportedSpend?.reservedNanos ?? 0,
      reservationNanos,
    });
  }

  growReservation(limits: AgentLimits, additionalNanos: number, done: (granted: boolean) => void): void {
    const spend = this.#refreshScopeSpend(limits, limits.scopes[0]!);
    const month = monthOfMs(this.#clock() / 1000);
    const granted = spend.spentNanos(month) + spend.reservedNanos + additionalNanos <= limits.scopes[0]!.budgetNanos;
    if (granted) spend.reservedNanos += additionalNanos;
    done(granted);
  }

  settle({ limits, providerSlug, month, costNanos, tokens, reservationNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    for (let i = 0; i < limits.scopes.length; i++) {
      const releasedNanos = i === 0 ? reservationNanos : 0;
      if (!(cost > 0) && releasedNanos === 0) continue;
      const spend = this.#refreshScopeSpend(limits, limits.scopes[i]!);
      if (cost > 0) spend.addSpend(month, cost);
      spend.reservedNanos = Math.max(0, spend.reservedNanos - releasedNanos);
    }
    if (cost > 0) for (const tag of limits.unbudgetedTags) this.#getOrCreateSpend(tag).addSpend(month, cost);
    for (const row of TOKEN_ROWS) {
      if (limits.byRow[row] === UNLIMITED || !(tokens > 0)) continue;
      this.#getOrCreateWindows(limits.agentId, providerSlug).addTokens(row, this.#clock(), tokens);
    }
  }

  updateLedgerSpend(tag: string, month: number, nanos: number, ledgerOnlyNanos: number): void {
    this.#monthSpends.get(tag)?.updateFromLedger(month, nanos, ledgerOnlyNanos);
  }

  peek({ limits, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const nowUs = this.#clock();
    const month = monthOfMs(nowUs / 1000);
    const windows = providerSlugs.map((providerSlug): WindowSnapshot => {
      const rateWindows =
        this.#rateWindows.get(windowsKey(limits.agentId, providerSlug)) ?? new RateLimitWindows(this.#windows);
      rateWindows.advanceTo(nowUs);
      return {
        providerSlug,
        remaining: AGENT_PROVIDER_ROWS.map((row) => rateWindows.remaining(row, limits)),
        resetAtSec: AGENT_PROVIDER_ROWS.map((row) => rateWindows.resetAtSec(row)),
        rejection: findFullWindow(rateWindows, limits),
      };
    });
    const spends = limits.scopes.map((scope): SpendSnapshot => {
      const spend = this.#refreshScopeSpend(limits, scope);
      return { row: scope.row, spentNanos: spend.spentNanos(month), reservedNanos: spend.reservedNanos };
    });
    done({ windows, spends });
  }

  /** Does nothing: without an external store there is no data loss to report. */
  setDataLostListener(): void {}

  async close(): Promise<void> {}

  #findExceededBudget(limits: AgentLimits, month: number, reservationNanos: number): LimitRejection | null {
    for (let i = 0; i < limits.budgetedScopes.length; i++) {
      const budget = limits.budgetedScopes[i]!;
      const spend = this.#refreshScopeSpend(limits, budget);
      const spent = spend.spentNanos(month);
      const isExceeded =
        i === 0 && reservationNanos > 0
          ? spent + spend.reservedNanos + reservationNanos > budget.budgetNanos
          : spent >= budget.budgetNanos;
      if (isExceeded) return { row: budget.row, retryAtSec: monthEndSec(month), spend };
    }
    return null;
  }

  #getOrCreateWindows(agentId: string, providerSlug: string): RateLimitWindows {
    const key = windowsKey(agentId, providerSlug);
    let rateWindows = this.#rateWindows.get(key);
    if (rateWindows === undefined) {
      rateWindows = new RateLimitWindows(this.#windows);
      this.#rateWindows.set(key, rateWindows);
    }
    return rateWindows;
  }

  #refreshScopeSpend(limits: AgentLimits, { tag, ledgerNanos, ledgerOnlyNanos }: ScopeSpend): MonthSpend {
    const spend = this.#getOrCreateSpend(tag);
    spend.updateFromLedger(limits.month, ledgerNanos, ledgerOnlyNanos);
    return spend;
  }

  #getOrCreateSpend(tag: string): MonthSpend {
    let spend = this.#monthSpends.get(tag);
    if (spend === undefined) {
      spend = new MonthSpend();
      this.#monthSpends.set(tag, spend);
    }
    return spend;
  }

  #evictExpiredIncrementally(nowUs: number): void {
    const month = monthOfMs(nowUs / 1000);
    for (let i = 0; i < EVICTION_CHECKS_PER_ADMISSION; i++) {
      this.#windowSweep ??= this.#rateWindows.entries();
      const entry = this.#windowSweep.next();
      if (entry.done === true) this.#windowSweep = null;
      else if (entry.value[1].isExpired(nowUs)) this.#rateWindows.delete(entry.value[0]);
    }
    this.#spendSweep ??= this.#monthSpends.entries();
    const spend = this.#spendSweep.next();
    if (spend.done === true) this.#spendSweep = null;
    else if (spend.value[1].isExpired(month)) this.#monthSpends.delete(spend.value[0]);
  }
}

const windowsKey = (agentId: string, providerSlug: string): string => `${agentId}:${providerSlug}`;

/** Returns the first full window in the order of the limit table, or null. */
function findFullWindow(rateWindows: RateLimitWindows, limits: AgentLimits): LimitRejection | null {
  for (let i = 0; i < AGENT_PROVIDER_ROWS.length; i++) {
    const row = AGENT_PROVIDER_ROWS[i]!;
    if (limits.byRow[row] !== UNLIMITED && rateWindows.remaining(row, limits) === 0) {
      return { row, retryAtSec: rateWindows.retryAtSec(row, limits), spend: null };
    }
  }
  return null;
}

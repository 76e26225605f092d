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
} from '../../limits/counters.js';
import {
  AGENT_PROVIDER_ROWS,
  DEFAULT_WINDOW_LENGTHS_MS,
  LIMIT_TABLE,
  RPM_ROW,
  TOKEN_ROWS,
  UNLIMITED,
  type WindowLengthsMs,
} from '../../limits/limit-table.js';
import { MonthSpend } from './month-spend.js';
import { RateLimitWindows } from './rate-limit-windows.js';
import { type ClockUs, createWallClock } from './wall-clock.js';

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

  constructor(clock: ClockUs = createWallClock(), windows: Partial<WindowLengthsMs> = {}) {
    this.#clock = clock;
    this.#windows = { ...DEFAULT_WINDOW_LENGTHS_MS, ...windows };
  }

  /** Number of tracked agent-provider pairs and scopes; for tests of the memory bound. */
  get trackedCount(): number {
    return this.#rateWindows.size + this.#monthSpends.size;
  }

  admit(
    { limits: terms, providerSlug, reservationNanos: holdNanos }: AdmissionRequest,
    done: (admission: Admission) => void,
  ): void {
    const nowUs = this.#clock();
    this.#evictExpired(nowUs);
    const month = monthOfMs(nowUs / 1000);
    const pair = this.#getOrCreateWindows(terms.agentId, providerSlug);
    pair.advanceTo(nowUs);
    const rejection = findFullWindow(pair, terms) ?? this.#findExceededBudget(terms, month, holdNanos);
    const own =
      rejection?.spend ??
      (terms.budgetedScopes.length > 0 ? this.#refreshScopeSpend(terms, terms.budgetedScopes[0]!) : null);
    if (rejection === null) {
      pair.consume();
      if (holdNanos > 0) this.#refreshScopeSpend(terms, terms.scopes[0]!).reservedNanos += holdNanos;
    }
    done({
      outcome: rejection === null ? 'admitted' : LIMIT_TABLE[rejection.row]!.type,
      rejectedByRow: rejection?.row ?? -1,
      retryAtSec: rejection?.retryAtSec ?? 0,
      rpmRemaining: pair.remaining(RPM_ROW, terms),
      rpmResetAtSec: pair.resetAtSec(RPM_ROW) ?? 0,
      month,
      spentNanos: own?.spentNanos(month) ?? 0,
      reservedNanos: own?.reservedNanos ?? 0,
      reservationNanos: holdNanos,
    });
  }

  growReservation(limits: AgentLimits, reservationNanos: number, done: (granted: boolean) => void): void {
    const spend = this.#refreshScopeSpend(limits, limits.scopes[0]!);
    const month = monthOfMs(this.#clock() / 1000);
    const granted = spend.spentNanos(month) + spend.reservedNanos + reservationNanos <= limits.scopes[0]!.budgetNanos;
    if (granted) spend.reservedNanos += reservationNanos;
    done(granted);
  }

  settle({ limits: terms, providerSlug, month, costNanos, tokens, reservationNanos: holdNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    for (let i = 0; i < terms.scopes.length; i++) {
      const held = i === 0 ? holdNanos : 0;
      if (!(cost > 0) && held === 0) continue;
      const spend = this.#refreshScopeSpend(terms, terms.scopes[i]!);
      if (cost > 0) spend.add(month, cost);
      spend.reservedNanos = Math.max(0, spend.reservedNanos - held);
    }
    if (cost > 0) for (const tag of terms.unbudgetedTags) this.#getOrCreateSpend(tag).add(month, cost);
    for (const row of TOKEN_ROWS) {
      if (terms.byRow[row] === UNLIMITED || !(tokens > 0)) continue;
      this.#getOrCreateWindows(terms.agentId, providerSlug).addTokens(row, this.#clock(), tokens);
    }
  }

  updateLedgerSpend(tag: string, month: number, nanos: number, ownNanos: number): void {
    this.#monthSpends.get(tag)?.updateFromLedger(month, nanos, ownNanos);
  }

  peek({ limits: terms, providerSlugs }: PeekRequest, done: (snapshot: LimitSnapshot | null) => void): void {
    const nowUs = this.#clock();
    const month = monthOfMs(nowUs / 1000);
    const windows = providerSlugs.map((providerSlug): WindowSnapshot => {
      const pair =
        this.#rateWindows.get(windowsKey(terms.agentId, providerSlug)) ?? new RateLimitWindows(this.#windows);
      pair.advanceTo(nowUs);
      return {
        providerSlug,
        remaining: AGENT_PROVIDER_ROWS.map((row) => pair.remaining(row, terms)),
        resetAtSec: AGENT_PROVIDER_ROWS.map((row) => pair.resetAtSec(row)),
        rejection: findFullWindow(pair, terms),
      };
    });
    const spends = terms.scopes.map((scope): SpendSnapshot => {
      const spend = this.#refreshScopeSpend(terms, scope);
      return { row: scope.row, spentNanos: spend.spentNanos(month), reservedNanos: spend.reservedNanos };
    });
    done({ windows, spends });
  }

  /** Does nothing: without an external store there is no data loss to report. */
  onDataLost(): void {}

  async close(): Promise<void> {}

  #findExceededBudget(terms: AgentLimits, month: number, holdNanos: number): LimitRejection | null {
    for (let i = 0; i < terms.budgetedScopes.length; i++) {
      const budget = terms.budgetedScopes[i]!;
      const spend = this.#refreshScopeSpend(terms, budget);
      const spent = spend.spentNanos(month);
      const refused =
        i === 0 && holdNanos > 0
          ? spent + spend.reservedNanos + holdNanos > budget.budgetNanos
          : spent >= budget.budgetNanos;
      if (refused) return { row: budget.row, retryAtSec: monthEndSec(month), spend };
    }
    return null;
  }

  #getOrCreateWindows(agentId: string, providerSlug: string): RateLimitWindows {
    const name = windowsKey(agentId, providerSlug);
    let pair = this.#rateWindows.get(name);
    if (pair === undefined) {
      pair = new RateLimitWindows(this.#windows);
      this.#rateWindows.set(name, pair);
    }
    return pair;
  }

  #refreshScopeSpend(terms: AgentLimits, { tag, ledgerNanos, ledgerOwnNanos }: ScopeSpend): MonthSpend {
    const spend = this.#getOrCreateSpend(tag);
    spend.updateFromLedger(terms.month, ledgerNanos, ledgerOwnNanos);
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

  #evictExpired(nowUs: number): void {
    const month = monthOfMs(nowUs / 1000);
    for (let i = 0; i < EVICTION_CHECKS_PER_ADMISSION; i++) {
      this.#windowSweep ??= this.#rateWindows.entries();
      const pair = this.#windowSweep.next();
      if (pair.done === true) this.#windowSweep = null;
      else if (pair.value[1].isExpired(nowUs)) this.#rateWindows.delete(pair.value[0]);
    }
    this.#spendSweep ??= this.#monthSpends.entries();
    const spend = this.#spendSweep.next();
    if (spend.done === true) this.#spendSweep = null;
    else if (spend.value[1].isExpired(month)) this.#monthSpends.delete(spend.value[0]);
  }
}

const windowsKey = (agentId: string, providerSlug: string): string => `${agentId}:${providerSlug}`;

/** Returns the first full window in the order of the limit table, or null. */
function findFullWindow(pair: RateLimitWindows, limits: AgentLimits): LimitRejection | null {
  for (let i = 0; i < AGENT_PROVIDER_ROWS.length; i++) {
    const row = AGENT_PROVIDER_ROWS[i]!;
    if (limits.byRow[row] !== UNLIMITED && pair.remaining(row, limits) === 0) {
      return { row, retryAtSec: pair.retryAtSec(row, limits), spend: null };
    }
  }
  return null;
}

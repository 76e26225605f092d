/**
 * Counters of one data plane in its own memory: the same rules as admit.lua, with an injected clock. Windows start
 * empty with the process; month spend is what this process has spent, or what the ledger has. Bounded: a pair is dropped
 * when its windows are over, spend when its month is, found by looking at some others with every admission.
 */
import type { AgentTerms, ScopeSpend } from './agent-terms.js';
import { monthEndSec, monthOfMs } from './calendar-month.js';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Counters,
  Settlement,
  SpendStanding,
  StandingRequest,
  WindowStanding,
} from './counters.js';
import { LIMIT_TABLE, PAIR_ROWS, REAL_WINDOWS, RPM_ROW, TOKEN_ROWS, UNLIMITED, type Windows } from './limit-table.js';
import { MonthSpend } from './month-spend.js';
import { PairWindows } from './pair-windows.js';
import { type ClockUs, wallClock } from './wall-clock.js';

const SWEPT_PER_ADMISSION = 2;

/** Why a request may not pass. */
interface Refusal {
  readonly row: number;
  readonly passesAtSec: number;
  readonly spend: MonthSpend | null;
}

export class MemoryCounters implements Counters {
  readonly kind = 'memory';
  readonly enforcing = true;
  readonly #clock: ClockUs;
  readonly #windows: Windows;
  readonly #pairs = new Map<string, PairWindows>();
  readonly #spends = new Map<string, MonthSpend>();
  #pairSweep: IterableIterator<[string, PairWindows]> | null = null;
  #spendSweep: IterableIterator<[string, MonthSpend]> | null = null;

  constructor(clock: ClockUs = wallClock(), windows: Partial<Windows> = {}) {
    this.#clock = clock;
    this.#windows = { ...REAL_WINDOWS, ...windows };
  }

  /** Pairs and scopes held; for tests of the bound. */
  get size(): number {
    return this.#pairs.size + this.#spends.size;
  }

  admit({ terms, providerSlug, holdNanos }: AdmissionRequest, done: (admission: Admission) => void): void {
    const nowUs = this.#clock();
    this.#sweep(nowUs);
    const month = monthOfMs(nowUs / 1000);
    const pair = this.#pair(terms.agentId, providerSlug);
    pair.advance(nowUs);
    const refusal = windowRefusal(pair, terms) ?? this.#moneyRefusal(terms, month, holdNanos);
    const own = refusal?.spend ?? (terms.budgets.length > 0 ? this.#spendOf(terms, terms.budgets[0]!) : null);
    if (refusal === null) {
      pair.consume();
      if (holdNanos > 0) this.#spendOf(terms, terms.spends[0]!).heldNanos += holdNanos;
    }
    done({
      outcome: refusal === null ? 'admitted' : LIMIT_TABLE[refusal.row]!.type,
      refusedBy: refusal?.row ?? -1,
      passesAtSec: refusal?.passesAtSec ?? 0,
      rpmRemaining: pair.left(RPM_ROW, terms),
      rpmResetAtSec: pair.resetAtSec(RPM_ROW) ?? 0,
      month,
      spentNanos: own?.spentNanos(month) ?? 0,
      heldNanos: own?.heldNanos ?? 0,
      holdNanos,
    });
  }

  grow(terms: AgentTerms, holdNanos: number, done: (granted: boolean) => void): void {
    const spend = this.#spendOf(terms, terms.spends[0]!);
    const month = monthOfMs(this.#clock() / 1000);
    const granted = spend.spentNanos(month) + spend.heldNanos + holdNanos <= terms.spends[0]!.budgetNanos;
    if (granted) spend.heldNanos += holdNanos;
    done(granted);
  }

  settle({ terms, providerSlug, month, costNanos, tokens, holdNanos }: Settlement): void {
    const cost = Math.round(costNanos);
    for (let i = 0; i < terms.spends.length; i++) {
      const held = i === 0 ? holdNanos : 0;
      if (!(cost > 0) && held === 0) continue;
      const spend = this.#spendOf(terms, terms.spends[i]!);
      if (cost > 0) spend.add(month, cost);
      spend.heldNanos = Math.max(0, spend.heldNanos - held);
    }
    if (cost > 0) for (const tag of terms.unbudgeted) this.#spendUnder(tag).add(month, cost);
    for (const row of TOKEN_ROWS) {
      if (terms.limits[row] === UNLIMITED || !(tokens > 0)) continue;
      this.#pair(terms.agentId, providerSlug).addTokens(row, this.#clock(), tokens);
    }
  }

  noteLedger(tag: string, month: number, nanos: number, ownNanos: number): void {
    this.#spends.get(tag)?.learn(month, nanos, ownNanos);
  }

  standing({ terms, providerSlugs }: StandingRequest, done: (standing: AgentStanding | null) => void): void {
    const nowUs = this.#clock();
    const month = monthOfMs(nowUs / 1000);
    const windows = providerSlugs.map((providerSlug): WindowStanding => {
      const pair = this.#pairs.get(pairName(terms.agentId, providerSlug)) ?? new PairWindows(this.#windows);
      pair.advance(nowUs);
      return {
        providerSlug,
        remaining: PAIR_ROWS.map((row) => pair.left(row, terms)),
        resetAtSec: PAIR_ROWS.map((row) => pair.resetAtSec(row)),
        refusal: windowRefusal(pair, terms),
      };
    });
    const spends = terms.spends.map((scope): SpendStanding => {
      const spend = this.#spendOf(terms, scope);
      return { row: scope.row, spentNanos: spend.spentNanos(month), heldNanos: spend.heldNanos };
    });
    done({ windows, spends });
  }

  /** Never: there is no store to lose data. */
  onDataLost(): void {}

  async close(): Promise<void> {}

  #moneyRefusal(terms: AgentTerms, month: number, holdNanos: number): Refusal | null {
    for (let i = 0; i < terms.budgets.length; i++) {
      const budget = terms.budgets[i]!;
      const spend = this.#spendOf(terms, budget);
      const spent = spend.spentNanos(month);
      const refused =
        i === 0 && holdNanos > 0
          ? spent + spend.heldNanos + holdNanos > budget.budgetNanos
          : spent >= budget.budgetNanos;
      if (refused) return { row: budget.row, passesAtSec: monthEndSec(month), spend };
    }
    return null;
  }

  #pair(agentId: string, providerSlug: string): PairWindows {
    const name = pairName(agentId, providerSlug);
    let pair = this.#pairs.get(name);
    if (pair === undefined) {
      pair = new PairWindows(this.#windows);
      this.#pairs.set(name, pair);
    }
    return pair;
  }

  #spendOf(terms: AgentTerms, { tag, ledgerNanos, ledgerOwnNanos }: ScopeSpend): MonthSpend {
    const spend = this.#spendUnder(tag);
    spend.learn(terms.month, ledgerNanos, ledgerOwnNanos);
    return spend;
  }

  #spendUnder(tag: string): MonthSpend {
    let spend = this.#spends.get(tag);
    if (spend === undefined) {
      spend = new MonthSpend();
      this.#spends.set(tag, spend);
    }
    return spend;
  }

  #sweep(nowUs: number): void {
    const month = monthOfMs(nowUs / 1000);
    for (let i = 0; i < SWEPT_PER_ADMISSION; i++) {
      this.#pairSweep ??= this.#pairs.entries();
      const pair = this.#pairSweep.next();
      if (pair.done === true) this.#pairSweep = null;
      else if (pair.value[1].isOver(nowUs)) this.#pairs.delete(pair.value[0]);
    }
    this.#spendSweep ??= this.#spends.entries();
    const spend = this.#spendSweep.next();
    if (spend.done === true) this.#spendSweep = null;
    else if (spend.value[1].isOver(month)) this.#spends.delete(spend.value[0]);
  }
}

const pairName = (agentId: string, providerSlug: string): string => `${agentId}:${providerSlug}`;

/** The first window of the table that is full. */
function windowRefusal(pair: PairWindows, terms: AgentTerms): Refusal | null {
  for (let i = 0; i < PAIR_ROWS.length; i++) {
    const row = PAIR_ROWS[i]!;
    if (terms.limits[row] !== UNLIMITED && pair.left(row, terms) === 0) {
      return { row, passesAtSec: pair.passesAtSec(row, terms), spend: null };
    }
  }
  return null;
}

/**
 * Counters of one data plane in its own memory: the same rules as admit.lua, with an injected clock. Windows start
 * empty with the process; month spend starts from the ledger's figure. Bounded: a pair is dropped when both of its
 * windows are over, found by looking at two other pairs with every admission.
 */
import { STANDARD_WINDOWS, type Windows } from './admit-call.js';
import type { AgentTerms } from './agent-terms.js';
import { monthEndSec, monthOfMs } from './calendar-month.js';
import type {
  Admission,
  AdmissionRequest,
  AgentStanding,
  Counters,
  StandingRequest,
  WindowStanding,
} from './counters.js';
import { BUDGET_ROW, LIMIT_TABLE, RPD_ROW, RPM_ROW, UNLIMITED } from './limit-table.js';
import { SlidingLog } from './sliding-log.js';
import { type ClockUs, wallClock } from './wall-clock.js';

const SWEPT_PER_ADMISSION = 2;
const MONTHS_SPEND_IS_KEPT = 1;

interface Pair {
  readonly log: SlidingLog;
  dayStartUs: number;
  dayCount: number;
}

interface Spend {
  month: number;
  nanos: number;
}

export class MemoryCounters implements Counters {
  readonly kind = 'memory';
  readonly enforcing = true;
  readonly #clock: ClockUs;
  readonly #rpmUs: number;
  readonly #rpdUs: number;
  readonly #pairs = new Map<string, Pair>();
  readonly #spend = new Map<string, Spend>();
  #pairSweep: IterableIterator<[string, Pair]> | null = null;
  #spendSweep: IterableIterator<[string, Spend]> | null = null;

  constructor(clock: ClockUs = wallClock(), windows: Windows = STANDARD_WINDOWS) {
    this.#clock = clock;
    this.#rpmUs = windows.rpmMs * 1000;
    this.#rpdUs = windows.rpdMs * 1000;
  }

  /** Pairs and agents held; for tests of the bound. */
  get size(): number {
    return this.#pairs.size + this.#spend.size;
  }

  admit(request: AdmissionRequest, done: (admission: Admission) => void): void {
    done(this.#decide(request));
  }

  #decide(request: AdmissionRequest): Admission {
    const clockUs = this.#clock();
    this.#sweep(clockUs);
    const { terms, providerSlug } = request;
    const key = `${terms.agentId}:${providerSlug}`;
    const pair = this.#pairs.get(key) ?? { log: new SlidingLog(), dayStartUs: 0, dayCount: 0 };
    const nowUs = this.#settle(pair, clockUs);
    const live = pair.log.countAt(nowUs, this.#rpmUs);
    const rpmLimit = terms.limits[RPM_ROW]!;
    const budgetNanos = terms.limits[BUDGET_ROW]!;
    const month = monthOfMs(clockUs / 1000);
    const spentNanos = this.#spentNanos(terms, month, budgetNanos !== UNLIMITED);
    const left = Math.max(0, rpmLimit - live);
    const rpmResetAtSec = live > 0 ? wholeSeconds(pair.log.at(0) + this.#rpmUs) : wholeSeconds(nowUs);
    const refuse = (refusedBy: number, passesAtSec: number): Admission => {
      const outcome = LIMIT_TABLE[refusedBy]!.type;
      return { outcome, refusedBy, passesAtSec, rpmRemaining: left, rpmResetAtSec, spentNanos };
    };

    if (live >= rpmLimit) {
      const blockerUs = rpmLimit > 0 ? pair.log.at(live - rpmLimit) : nowUs;
      return refuse(RPM_ROW, wholeSeconds(blockerUs + this.#rpmUs));
    }
    if (pair.dayCount >= terms.limits[RPD_ROW]!) return refuse(RPD_ROW, wholeSeconds(pair.dayStartUs + this.#rpdUs));
    if (spentNanos >= budgetNanos) return refuse(BUDGET_ROW, monthEndSec(month));
    if (pair.dayCount === 0) {
      pair.dayStartUs = nowUs;
      this.#pairs.set(key, pair);
    }
    pair.dayCount++;
    pair.log.push(nowUs);
    const resetAtSec = wholeSeconds(pair.log.at(0) + this.#rpmUs);
    return {
      outcome: 'admitted',
      refusedBy: -1,
      passesAtSec: 0,
      rpmRemaining: left - 1,
      rpmResetAtSec: resetAtSec,
      spentNanos,
    };
  }

  addSpend(agentId: string, costNanos: number): void {
    if (!(costNanos > 0)) return;
    this.#agentSpend(agentId, monthOfMs(this.#clock() / 1000)).nanos += Math.round(costNanos);
  }

  standing(request: StandingRequest, done: (standing: AgentStanding | null) => void): void {
    const clockUs = this.#clock();
    const windows: WindowStanding[] = [];
    for (const providerSlug of request.providerSlugs) {
      const pair = this.#pairs.get(`${request.terms.agentId}:${providerSlug}`);
      const nowUs = pair === undefined ? clockUs : this.#settle(pair, clockUs);
      const live = pair?.log.countAt(nowUs, this.#rpmUs) ?? 0;
      const dayCount = pair?.dayCount ?? 0;
      windows.push({
        providerSlug,
        remaining: [
          Math.max(0, request.terms.limits[RPM_ROW]! - live),
          Math.max(0, request.terms.limits[RPD_ROW]! - dayCount),
        ],
        resetAtSec: [
          live > 0 ? wholeSeconds(pair!.log.at(0) + this.#rpmUs) : null,
          dayCount > 0 ? wholeSeconds(pair!.dayStartUs + this.#rpdUs) : null,
        ],
      });
    }
    done({ windows, spentNanos: this.#spentNanos(request.terms, monthOfMs(clockUs / 1000), true) });
  }

  /** Never: there is no store to lose data. */
  onDataLost(): void {}

  async close(): Promise<void> {}

  /** Ends a day window that is over and returns the pair's time, which does not step back by little. */
  #settle(pair: Pair, clockUs: number): number {
    const nowUs = pair.log.steady(clockUs, this.#rpmUs);
    if (pair.dayStartUs > nowUs) pair.dayStartUs = nowUs;
    if (nowUs >= pair.dayStartUs + this.#rpdUs) pair.dayCount = 0;
    return nowUs;
  }

  /** Every spend is added here before the ledger can know of it, so the counter may always be raised to the ledger's figure. */
  #spentNanos(terms: AgentTerms, month: number, asked: boolean): number {
    const floorNanos = terms.month === month ? terms.spentNanos : 0;
    if (!asked) return floorNanos;
    const known = this.#spend.get(terms.agentId);
    if (known === undefined && floorNanos === 0) return 0;
    const spend = this.#agentSpend(terms.agentId, month);
    if (spend.nanos < floorNanos) spend.nanos = floorNanos;
    return spend.nanos;
  }

  #agentSpend(agentId: string, month: number): Spend {
    let spend = this.#spend.get(agentId);
    if (spend === undefined) {
      spend = { month, nanos: 0 };
      this.#spend.set(agentId, spend);
    }
    if (spend.month !== month) {
      spend.month = month;
      spend.nanos = 0;
    }
    return spend;
  }

  #sweep(nowUs: number): void {
    const month = monthOfMs(nowUs / 1000);
    for (let i = 0; i < SWEPT_PER_ADMISSION; i++) {
      this.#pairSweep ??= this.#pairs.entries();
      const pair = this.#pairSweep.next();
      if (pair.done === true) this.#pairSweep = null;
      else if (nowUs >= pair.value[1].dayStartUs + this.#rpdUs + this.#rpmUs) this.#pairs.delete(pair.value[0]);
    }
    this.#spendSweep ??= this.#spend.entries();
    const spend = this.#spendSweep.next();
    if (spend.done === true) this.#spendSweep = null;
    else if (month - spend.value[1].month > MONTHS_SPEND_IS_KEPT) this.#spend.delete(spend.value[0]);
  }
}

/** Rounded up: at that second the thing has happened. */
const wholeSeconds = (us: number): number => Math.ceil(us / 1_000_000);

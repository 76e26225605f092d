/**
 * One admit.lua call for one cluster slot, collected during one event-loop tick. Requests of the same agent, provider
 * and limits share one admission check. Everything about one spend counter is one spend item.
 */

import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { monthOfMs } from '../../limits/calendar-month.js';
import type { Admission } from '../../limits/counters.js';
import { LIMIT_TABLE, RPM_ROW } from '../../limits/limit-table.js';
import { type AdmitReply, type AdmitVerdict, agentProviderKey } from './admit-codec.js';
import type { AdmissionCheck, AdmitItems, BudgetCheck, SpendItem, TokenUsageItem } from './admit-items.js';
import type { SpendCounter } from './spend-counter.js';
import type { SpendCounters } from './spend-counters.js';

export type AdmissionCallback = (admission: Admission) => void;
export type VerdictCallback = (verdict: AdmitVerdict | null) => void;

interface WaiterGroup {
  readonly admissionCheck: AdmissionCheck;
  /** Takes the reservation; null when the check reserves nothing. */
  readonly reservationCounter: SpendCounter | null;
  /** One callback per requested admission, in order of arrival. */
  readonly waiters: AdmissionCallback[];
  /** Set for peeks only: receives the verdict without consuming anything. */
  readonly onVerdict: VerdictCallback | null;
}

const NO_BUDGET_CHECKS: readonly BudgetCheck[] = [];

export class AdmissionBatch implements AdmitItems {
  readonly spends: SpendItem[] = [];
  readonly admissionChecks: AdmissionCheck[] = [];
  readonly tokens: TokenUsageItem[] = [];
  readonly #groups: WaiterGroup[] = [];
  readonly #groupByAgentProvider = new Map<string, WaiterGroup>();

  constructor(
    readonly slot: number,
    readonly spendCounters: SpendCounters,
  ) {}

  /** Any hash tag of the batch, for a key in its slot; null when the batch is empty. */
  get anyHashTag(): string | null {
    return (
      this.spends[0]?.counter.hashTag ?? this.admissionChecks[0]?.limits.agentId ?? this.tokens[0]?.agentId ?? null
    );
  }

  /** `budgets`: the agent's budgeted scopes that are in this slot. */
  admit(
    limits: AgentLimits,
    providerSlug: string,
    budgets: readonly ScopeSpend[],
    reservationNanos: number,
    done: AdmissionCallback,
  ): void {
    const key = agentProviderKey(limits.agentId, providerSlug);
    const known = this.#groupByAgentProvider.get(key);
    if (
      known !== undefined &&
      known.admissionCheck.limits === limits &&
      known.admissionCheck.reservationNanos === reservationNanos
    ) {
      known.admissionCheck.requestCount++;
      known.waiters.push(done);
      return;
    }
    const group = this.#addGroup(limits, providerSlug, budgets, reservationNanos, null);
    group.admissionCheck.requestCount = 1;
    group.waiters.push(done);
    this.#groupByAgentProvider.set(key, group);
  }

  /** Checks budgets only: to grow the reservation of a running call, or for budgets outside the agent's slot. */
  checkBudgets(
    limits: AgentLimits,
    budgets: readonly ScopeSpend[],
    reservationNanos: number,
    done: AdmissionCallback,
  ): void {
    const group = this.#addGroup(limits, null, budgets, reservationNanos, null);
    group.admissionCheck.requestCount = 1;
    group.waiters.push(done);
  }

  peekWindows(limits: AgentLimits, providerSlug: string, onVerdict: VerdictCallback): void {
    this.#addGroup(limits, providerSlug, NO_BUDGETS, 0, onVerdict);
  }

  peekSpend(limits: AgentLimits, spend: ScopeSpend, onVerdict: VerdictCallback): void {
    const { admissionCheck: pairCheck } = this.#addGroup(limits, null, [spend], 0, onVerdict);
    if (limits.hardBudget) this.spends[pairCheck.budgetChecks[0]!.spendIndex]!.hasReservations = true;
  }

  /** Adds the counter's totals, reservations and releases to the batch. */
  reportSpend(counter: SpendCounter): void {
    const item = this.spends[this.#indexOfSpendItem(counter)]!;
    if (counter.reservedNanos > 0 || counter.hasReleases) item.hasReservations = true;
  }

  addTokens(agentId: string, providerSlug: string, row: number, tokens: number): void {
    const known = this.tokens.find(
      (item) => item.agentId === agentId && item.providerSlug === providerSlug && item.row === row,
    );
    if (known === undefined) this.tokens.push({ agentId, providerSlug, row, tokens });
    else known.tokens += tokens;
  }

  /**
   * Fixes the totals to send, right before the batch is sent or dropped. Later reports of its counters go into a new
   * batch.
   */
  seal(): void {
    const { length } = this.spends;
    for (let i = 0; i < length; i++) {
      const item = this.spends[i]!;
      const { counter: purse } = item;
      purse.batch = null;
      item.total = purse.totals[0] ?? null;
      item.sentNanos = item.total === null ? 0 : item.total.nanos;
      for (let past = 1; past < purse.totals.length; past++) {
        const total = purse.totals[past]!;
        this.spends.push({ counter: purse, total, sentNanos: total.nanos, needsSpent: false, hasReservations: false });
      }
    }
  }

  /**
   * Passes the store's verdicts to all waiting callbacks. `isLate`: the waiters were already admitted unchecked, so
   * reservations that the store granted are released.
   */
  deliverReply(reply: AdmitReply, late: boolean): void {
    for (let i = 0; i < this.#groups.length; i++) {
      const { admissionCheck: pairCheck, reservationCounter: holder, waiters, onVerdict } = this.#groups[i]!;
      const verdict = reply.verdicts[i]!;
      const takenNanos = holder === null ? 0 : pairCheck.reservationNanos * verdict.admittedCount;
      if (takenNanos > 0) holder!.reserve(takenNanos);
      if (late) {
        if (takenNanos > 0) holder!.release(takenNanos);
        continue;
      }
      if (onVerdict !== null) onVerdict(verdict);
      for (let n = 0; n < waiters.length; n++)
        waiters[n]!(toAdmission(verdict, n, reply.month, pairCheck.reservationNanos));
    }
  }

  /** Admits all waiting requests unchecked. Returns their number. */
  admitUnchecked(): number {
    let passed = 0;
    for (const { admissionCheck: pairCheck, waiters, onVerdict } of this.#groups) {
      if (onVerdict !== null) onVerdict(null);
      for (const done of waiters) done(createUncheckedAdmission(pairCheck.limits));
      passed += waiters.length;
    }
    return passed;
  }

  #addGroup(
    terms: AgentLimits,
    providerSlug: string | null,
    budgets: readonly ScopeSpend[],
    holdNanos: number,
    onVerdict: VerdictCallback | null,
  ): WaiterGroup {
    let checks = NO_BUDGET_CHECKS;
    let holder: SpendCounter | null = null;
    if (budgets.length > 0) {
      const made: BudgetCheck[] = [];
      for (let i = 0; i < budgets.length; i++) made.push(this.#createBudgetCheck(terms, budgets[i]!));
      checks = made;
      if (holdNanos > 0) {
        const item = this.spends[checks[0]!.spendIndex]!;
        item.hasReservations = true;
        holder = item.counter;
      }
    }
    const pairCheck: AdmissionCheck = {
      limits: terms,
      providerSlug,
      requestCount: 0,
      reservationNanos: holdNanos,
      budgetChecks: checks,
    };
    const group: WaiterGroup = { admissionCheck: pairCheck, reservationCounter: holder, waiters: [], onVerdict };
    this.#groups.push(group);
    this.admissionChecks.push(pairCheck);
    return group;
  }

  #createBudgetCheck(
    terms: AgentLimits,
    { tag, row, budgetNanos, ledgerNanos, ledgerOwnNanos }: ScopeSpend,
  ): BudgetCheck {
    const purse = this.spendCounters.getOrCreate(tag);
    purse.updateFromLedger(terms.month, ledgerNanos, ledgerOwnNanos);
    const purseIndex = this.#indexOfSpendItem(purse);
    this.spends[purseIndex]!.needsSpent = true;
    return { spendIndex: purseIndex, row, budgetNanos };
  }

  #indexOfSpendItem(purse: SpendCounter): number {
    if (purse.batch !== this) {
      purse.batch = this;
      purse.batchIndex = this.spends.length;
      this.spends.push({ counter: purse, total: null, sentNanos: 0, needsSpent: false, hasReservations: false });
    }
    return purse.batchIndex;
  }
}

const NO_BUDGETS: readonly ScopeSpend[] = [];

/**
 * Admission when the store cannot be reached: the full RPM limit remains, and the reset time is now because it is
 * unknown.
 */
export function createUncheckedAdmission({ byRow: limits, month, scopes: spends }: AgentLimits): Admission {
  const nowMs = Date.now();
  const nowMonth = monthOfMs(nowMs);
  return {
    outcome: 'unchecked',
    rejectedByRow: -1,
    retryAtSec: 0,
    rpmRemaining: limits[RPM_ROW]!,
    rpmResetAtSec: Math.ceil(nowMs / 1000),
    month: nowMonth,
    spentNanos: month === nowMonth ? spends[0]!.ledgerNanos : 0,
    reservedNanos: 0,
    reservationNanos: 0,
  };
}

/** Admission of the n-th of `requestCount` requests that share one verdict. */
function toAdmission(verdict: AdmitVerdict, n: number, month: number, holdNanos: number): Admission {
  const passes = n < verdict.admittedCount;
  const refusedBy = passes ? -1 : verdict.rejectedByRow;
  return {
    outcome: refusedBy < 0 ? 'admitted' : LIMIT_TABLE[refusedBy]!.type,
    rejectedByRow: refusedBy,
    retryAtSec: passes ? 0 : verdict.retryAtSec,
    rpmRemaining: passes ? verdict.rpmRemaining + verdict.admittedCount - 1 - n : verdict.rpmRemaining,
    rpmResetAtSec: verdict.rpmResetAtSec ?? 0,
    month,
    spentNanos: verdict.spentNanos,
    reservedNanos: verdict.reservedNanos,
    reservationNanos: holdNanos,
  };
}

/**
 * One admit.lua call for one cluster slot, collected during one event-loop tick. Requests of the same agent, provider
 * and limits share one admission check. Everything about one spend counter is one spend item.
 */

import type { AgentLimits, ScopeSpend } from '../../limits/agent-limits.js';
import { monthOfMs } from '../../limits/calendar-month.js';
import { calendarWindowAt } from '../../limits/calendar-window.js';
import type { Admission } from '../../limits/counters-interface.js';
import { LIMIT_TABLE, RPM_ROW } from '../../limits/limit-table.js';
import { type AdmitReply, type AdmitVerdict, agentProviderKey } from './admit-codec.js';
import type { AdmissionCheck, AdmitItems, BudgetCheck, SpendItem, TokenUsageItem } from './admit-items-types.js';
import type { SpendCounters } from './local-spend-counters-with-eviction.js';
import type { SpendCounter } from './spend-counter-sent-as-totals.js';

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
    const { admissionCheck } = this.#addGroup(limits, null, [spend], 0, onVerdict);
    if (limits.hardBudget) this.spends[admissionCheck.budgetChecks[0]!.spendIndex]!.hasReservations = true;
  }

  /** Adds the counter's totals, reservations and releases to the batch. */
  reportSpend(counter: SpendCounter): void {
    const item = this.spends[this.#getOrCreateSpendItemIndex(counter)]!;
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
  freezeTotals(): void {
    const { length } = this.spends;
    for (let i = 0; i < length; i++) {
      const item = this.spends[i]!;
      const { counter } = item;
      counter.batch = null;
      item.total = counter.totals[0] ?? null;
      item.sentNanos = item.total === null ? 0 : item.total.nanos;
      for (let past = 1; past < counter.totals.length; past++) {
        const total = counter.totals[past]!;
        this.spends.push({ counter, total, sentNanos: total.nanos, needsSpent: false, hasReservations: false });
      }
    }
  }

  /**
   * Passes the store's verdicts to all waiting callbacks. `isLate`: the waiters were already admitted unchecked, so
   * reservations that the store granted are released.
   */
  deliverReply(reply: AdmitReply, isLate: boolean): void {
    for (let i = 0; i < this.#groups.length; i++) {
      const { admissionCheck, reservationCounter, waiters, onVerdict } = this.#groups[i]!;
      const verdict = reply.verdicts[i]!;
      const grantedNanos = reservationCounter === null ? 0 : admissionCheck.reservationNanos * verdict.admittedCount;
      if (grantedNanos > 0) reservationCounter!.reserve(grantedNanos);
      if (isLate) {
        if (grantedNanos > 0) reservationCounter!.release(grantedNanos);
        continue;
      }
      if (onVerdict !== null) onVerdict(verdict);
      for (let n = 0; n < waiters.length; n++)
        waiters[n]!(toAdmission(verdict, n, reply.nowSec, admissionCheck.reservationNanos));
    }
  }

  /** Admits all waiting requests unchecked. Returns their number. */
  admitUnchecked(): number {
    let passed = 0;
    for (const { admissionCheck, waiters, onVerdict } of this.#groups) {
      if (onVerdict !== null) onVerdict(null);
      for (const done of waiters) done(createUncheckedAdmission(admissionCheck.limits));
      passed += waiters.length;
    }
    return passed;
  }

  #addGroup(
    limits: AgentLimits,
    providerSlug: string | null,
    budgets: readonly ScopeSpend[],
    reservationNanos: number,
    onVerdict: VerdictCallback | null,
  ): WaiterGroup {
    let budgetChecks = NO_BUDGET_CHECKS;
    let reservationCounter: SpendCounter | null = null;
    if (budgets.length > 0) {
      const createdChecks: BudgetCheck[] = [];
      for (let i = 0; i < budgets.length; i++) createdChecks.push(this.#createBudgetCheck(limits, budgets[i]!));
      budgetChecks = createdChecks;
      if (reservationNanos > 0) {
        const item = this.spends[budgetChecks[0]!.spendIndex]!;
        item.hasReservations = true;
        reservationCounter = item.counter;
      }
    }
    const admissionCheck: AdmissionCheck = {
      limits,
      providerSlug,
      requestCount: 0,
      reservationNanos,
      budgetChecks,
    };
    const group: WaiterGroup = { admissionCheck, reservationCounter, waiters: [], onVerdict };
    this.#groups.push(group);
    this.admissionChecks.push(admissionCheck);
    return group;
  }

  #createBudgetCheck(
    limits: AgentLimits,
    { tag, row, budgetNanos, ledgerNanos, ledgerOnlyNanos }: ScopeSpend,
  ): BudgetCheck {
    const counter = this.spendCounters.getOrCreate(tag);
    if (limits.ledgerWindow !== null)
      counter.updateFromLedger(monthOfMs(limits.ledgerWindow.startSec * 1000), ledgerNanos, ledgerOnlyNanos);
    const spendIndex = this.#getOrCreateSpendItemIndex(counter);
    this.spends[spendIndex]!.needsSpent = true;
    return { spendIndex, row, budgetNanos };
  }

  #getOrCreateSpendItemIndex(counter: SpendCounter): number {
    if (counter.batch !== this) {
      counter.batch = this;
      counter.batchIndex = this.spends.length;
      this.spends.push({ counter, total: null, sentNanos: 0, needsSpent: false, hasReservations: false });
    }
    return counter.batchIndex;
  }
}

const NO_BUDGETS: readonly ScopeSpend[] = [];

/**
 * Admission when the store cannot be reached: the full RPM limit remains, and the reset time is now because it is
 * unknown.
 */
export function createUncheckedAdmission({ byRow, ledgerWindow, scopes }: AgentLimits): Admission {
  const nowMs = Date.now();
  const nowSec = Math.floor(nowMs / 1000);
  return {
    outcome: 'unchecked',
    rejectedByRow: -1,
    retryAtSec: 0,
    rpmRemaining: byRow[RPM_ROW]!,
    rpmResetAtSec: Math.ceil(nowMs / 1000),
    admittedAtSec: nowSec,
    spentNanos: ledgerWindow?.name === calendarWindowAt('month', nowSec).name ? scopes[0]!.ledgerNanos : 0,
    reservedNanos: 0,
    reservationNanos: 0,
  };
}

/** Admission of the n-th of `requestCount` requests that share one verdict. */
function toAdmission(verdict: AdmitVerdict, position: number, nowSec: number, reservationNanos: number): Admission {
  const isAdmitted = position < verdict.admittedCount;
  const rejectedByRow = isAdmitted ? -1 : verdict.rejectedByRow;
  return {
    outcome: rejectedByRow < 0 ? 'admitted' : LIMIT_TABLE[rejectedByRow]!.type,
    rejectedByRow,
    retryAtSec: isAdmitted ? 0 : verdict.retryAtSec,
    rpmRemaining: isAdmitted ? verdict.rpmRemaining + verdict.admittedCount - 1 - position : verdict.rpmRemaining,
    rpmResetAtSec: verdict.rpmResetAtSec ?? 0,
    admittedAtSec: nowSec,
    spentNanos: verdict.spentNanos,
    reservedNanos: verdict.reservedNanos,
    reservationNanos,
  };
}

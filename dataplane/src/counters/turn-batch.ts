/**
 * What one turn of the event loop has for one slot: requests of one pair are one pair check, all that concerns one purse is one
 * item.
 */

import { type CallReply, pairKey, type Verdict } from './admit-call.js';
import type { AgentTerms, ScopeSpend } from './agent-terms.js';
import { monthOfMs } from './calendar-month.js';
import type { CallItems, Check, PairCheck, PurseItem, TokenItem } from './call-items.js';
import type { Admission } from './counters.js';
import { LIMIT_TABLE, RPM_ROW } from './limit-table.js';
import type { Purse } from './purse.js';
import type { Purses } from './purses.js';

export type AdmissionDone = (admission: Admission) => void;
export type VerdictDone = (verdict: Verdict | null) => void;

interface Group {
  readonly pairCheck: PairCheck;
  /** Takes the hold; null when none is asked for. */
  readonly holder: Purse | null;
  /** One per wanted admission, in order of arrival. */
  readonly waiters: AdmissionDone[];
  /** Set on those that only want to see. */
  readonly onVerdict: VerdictDone | null;
}

const NO_CHECKS: readonly Check[] = [];

export class TurnBatch implements CallItems {
  readonly purses: PurseItem[] = [];
  readonly pairChecks: PairCheck[] = [];
  readonly tokens: TokenItem[] = [];
  readonly #groups: Group[] = [];
  readonly #groupOfPair = new Map<string, Group>();

  constructor(
    readonly slot: number,
    readonly known: Purses,
  ) {}

  /** Any hash tag of the batch, for a key in its slot; null when it is empty. */
  get tag(): string | null {
    return this.purses[0]?.purse.tag ?? this.pairChecks[0]?.terms.agentId ?? this.tokens[0]?.agentId ?? null;
  }

  /** `budgets`: those of the terms that are in this slot. */
  admit(
    terms: AgentTerms,
    providerSlug: string,
    budgets: readonly ScopeSpend[],
    holdNanos: number,
    done: AdmissionDone,
  ): void {
    const key = pairKey(terms.agentId, providerSlug);
    const known = this.#groupOfPair.get(key);
    if (known !== undefined && known.pairCheck.terms === terms && known.pairCheck.holdNanos === holdNanos) {
      known.pairCheck.wanted++;
      known.waiters.push(done);
      return;
    }
    const group = this.#push(terms, providerSlug, budgets, holdNanos, null);
    group.pairCheck.wanted = 1;
    group.waiters.push(done);
    this.#groupOfPair.set(key, group);
  }

  /** Budgets alone: a larger hold of a call under way, or those that are not in the agent's slot. */
  check(terms: AgentTerms, budgets: readonly ScopeSpend[], holdNanos: number, done: AdmissionDone): void {
    const group = this.#push(terms, null, budgets, holdNanos, null);
    group.pairCheck.wanted = 1;
    group.waiters.push(done);
  }

  look(terms: AgentTerms, providerSlug: string, onVerdict: VerdictDone): void {
    this.#push(terms, providerSlug, NO_BUDGETS, 0, onVerdict);
  }

  lookAtSpend(terms: AgentTerms, spend: ScopeSpend, onVerdict: VerdictDone): void {
    const { pairCheck } = this.#push(terms, null, [spend], 0, onVerdict);
    if (terms.hardBudget) this.purses[pairCheck.checks[0]!.purseIndex]!.holds = true;
  }

  /** Tells what the purse has to tell. */
  report(purse: Purse): void {
    const item = this.purses[this.#itemOf(purse)]!;
    if (purse.holdNanos > 0 || purse.hasReleases) item.holds = true;
  }

  addTokens(agentId: string, providerSlug: string, row: number, tokens: number): void {
    const known = this.tokens.find(
      (item) => item.agentId === agentId && item.providerSlug === providerSlug && item.row === row,
    );
    if (known === undefined) this.tokens.push({ agentId, providerSlug, row, tokens });
    else known.tokens += tokens;
  }

  /** It is sent now, or given up: what comes later for its purses goes into another one. */
  seal(): void {
    const { length } = this.purses;
    for (let i = 0; i < length; i++) {
      const item = this.purses[i]!;
      const { purse } = item;
      purse.turn = null;
      item.total = purse.totals[0] ?? null;
      item.sentNanos = item.total === null ? 0 : item.total.nanos;
      for (let past = 1; past < purse.totals.length; past++) {
        const total = purse.totals[past]!;
        this.purses.push({ purse, total, sentNanos: total.nanos, asked: false, holds: false });
      }
    }
  }

  /**
   * Answers everybody who waits with the store's verdicts. `late`: they have gone on without; what was taken for them is
   * given back.
   */
  deliver(reply: CallReply, late: boolean): void {
    for (let i = 0; i < this.#groups.length; i++) {
      const { pairCheck, holder, waiters, onVerdict } = this.#groups[i]!;
      const verdict = reply.verdicts[i]!;
      const takenNanos = holder === null ? 0 : pairCheck.holdNanos * verdict.admitted;
      if (takenNanos > 0) holder!.hold(takenNanos);
      if (late) {
        if (takenNanos > 0) holder!.release(takenNanos);
        continue;
      }
      if (onVerdict !== null) onVerdict(verdict);
      for (let n = 0; n < waiters.length; n++) waiters[n]!(admissionOf(verdict, n, reply.month, pairCheck.holdNanos));
    }
  }

  /** Lets everybody pass unchecked. Returns how many requests that were. */
  passUnchecked(): number {
    let passed = 0;
    for (const { pairCheck, waiters, onVerdict } of this.#groups) {
      if (onVerdict !== null) onVerdict(null);
      for (const done of waiters) done(uncheckedAdmission(pairCheck.terms));
      passed += waiters.length;
    }
    return passed;
  }

  #push(
    terms: AgentTerms,
    providerSlug: string | null,
    budgets: readonly ScopeSpend[],
    holdNanos: number,
    onVerdict: VerdictDone | null,
  ): Group {
    let checks = NO_CHECKS;
    let holder: Purse | null = null;
    if (budgets.length > 0) {
      const made: Check[] = [];
      for (let i = 0; i < budgets.length; i++) made.push(this.#checkOf(terms, budgets[i]!));
      checks = made;
      if (holdNanos > 0) {
        const item = this.purses[checks[0]!.purseIndex]!;
        item.holds = true;
        holder = item.purse;
      }
    }
    const pairCheck: PairCheck = { terms, providerSlug, wanted: 0, holdNanos, checks };
    const group: Group = { pairCheck, holder, waiters: [], onVerdict };
    this.#groups.push(group);
    this.pairChecks.push(pairCheck);
    return group;
  }

  #checkOf(terms: AgentTerms, { tag, row, budgetNanos, ledgerNanos, ledgerOwnNanos }: ScopeSpend): Check {
    const purse = this.known.of(tag);
    purse.learn(terms.month, ledgerNanos, ledgerOwnNanos);
    const purseIndex = this.#itemOf(purse);
    this.purses[purseIndex]!.asked = true;
    return { purseIndex, row, budgetNanos };
  }

  #itemOf(purse: Purse): number {
    if (purse.turn !== this) {
      purse.turn = this;
      purse.turnIndex = this.purses.length;
      this.purses.push({ purse, total: null, sentNanos: 0, asked: false, holds: false });
    }
    return purse.turnIndex;
  }
}

const NO_BUDGETS: readonly ScopeSpend[] = [];

/** What a request gets when nobody can be asked: the full limit, and no claim about when it resets but now. */
export function uncheckedAdmission({ limits, month, spends }: AgentTerms): Admission {
  const nowMs = Date.now();
  const nowMonth = monthOfMs(nowMs);
  return {
    outcome: 'unchecked',
    refusedBy: -1,
    passesAtSec: 0,
    rpmRemaining: limits[RPM_ROW]!,
    rpmResetAtSec: Math.ceil(nowMs / 1000),
    month: nowMonth,
    spentNanos: month === nowMonth ? spends[0]!.ledgerNanos : 0,
    heldNanos: 0,
    holdNanos: 0,
  };
}

/** The n-th of `wanted` requests that share a verdict. */
function admissionOf(verdict: Verdict, n: number, month: number, holdNanos: number): Admission {
  const passes = n < verdict.admitted;
  const refusedBy = passes ? -1 : verdict.refusedBy;
  return {
    outcome: refusedBy < 0 ? 'admitted' : LIMIT_TABLE[refusedBy]!.type,
    refusedBy,
    passesAtSec: passes ? 0 : verdict.freeAtSec,
    rpmRemaining: passes ? verdict.rpmRemaining + verdict.admitted - 1 - n : verdict.rpmRemaining,
    rpmResetAtSec: verdict.rpmResetAtSec ?? 0,
    month,
    spentNanos: verdict.spentNanos,
    heldNanos: verdict.heldNanos,
    holdNanos,
  };
}

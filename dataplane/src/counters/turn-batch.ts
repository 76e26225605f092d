/** What one turn of the event loop has for one slot: requests of one pair are one look, spends of one agent one sum. */
import {
  type CallReply,
  type Look,
  NO_BUDGET,
  pairKey,
  SPEND_UNASKED,
  type Spend,
  type Verdict,
} from './admit-call.js';
import type { AgentTerms } from './agent-terms.js';
import type { Admission, AdmissionRequest, StandingRequest } from './counters.js';
import { BUDGET_ROW, LIMIT_TABLE, RPD_ROW, RPM_ROW, UNLIMITED } from './limit-table.js';
import type { SpendMemory } from './spend-memory.js';

export type AdmissionDone = (admission: Admission) => void;
export type VerdictDone = (verdict: Verdict | null) => void;

interface Group {
  readonly look: Look;
  /** One per wanted admission, in order of arrival. */
  readonly waiters: AdmissionDone[];
  /** Set on looks that only look. */
  readonly onVerdict: VerdictDone | null;
}

export class TurnBatch {
  readonly looks: Look[] = [];
  readonly spends: Spend[] = [];
  readonly #groups: Group[] = [];
  readonly #groupOfPair = new Map<string, Group>();
  readonly #spendOfAgent = new Map<string, Spend>();

  constructor(readonly slot: number) {}

  get empty(): boolean {
    return this.looks.length === 0 && this.spends.length === 0;
  }

  /** Any agent id of the batch, for keys in its slot. */
  get agentId(): string {
    return this.looks[0]?.agentId ?? this.spends[0]?.agentId ?? '';
  }

  admit(request: AdmissionRequest, memory: SpendMemory, done: AdmissionDone): void {
    const { terms } = request;
    const key = pairKey(terms.agentId, request.providerSlug);
    const known = this.#groupOfPair.get(key);
    if (known !== undefined && sameTerms(known.look, terms)) {
      known.look.wanted++;
      known.waiters.push(done);
      return;
    }
    const look = lookOf(terms, request.providerSlug, budgetOf(terms), memory);
    look.wanted = 1;
    const group: Group = { look, waiters: [done], onVerdict: null };
    this.#groupOfPair.set(key, group);
    this.#push(group);
  }

  look(request: StandingRequest, providerSlug: string, memory: SpendMemory, onVerdict: VerdictDone): void {
    this.#push({ look: lookOf(request.terms, providerSlug, NO_BUDGET, memory), waiters: [], onVerdict });
  }

  addSpend(agentId: string, month: number, costNanos: number): void {
    const key = `${month}:${agentId}`;
    const known = this.#spendOfAgent.get(key);
    if (known !== undefined) {
      known.costNanos += costNanos;
      return;
    }
    const spend: Spend = { agentId, month, costNanos, baseNanos: 0 };
    this.#spendOfAgent.set(key, spend);
    this.spends.push(spend);
  }

  /** Answers everybody who waits with the store's verdicts, and learns the spend it reported. */
  settle(reply: CallReply, memory: SpendMemory): void {
    for (let i = 0; i < this.#groups.length; i++) {
      const { look, waiters, onVerdict } = this.#groups[i]!;
      const verdict = reply.verdicts[i]!;
      if (look.budgetNanos !== SPEND_UNASKED) memory.seen(look.agentId, reply.month, verdict.spentNanos);
      // The figure of the decision (admit.lua): the counter, or the ledger where it knows more.
      if (look.ledgerMonth === reply.month) verdict.spentNanos = Math.max(verdict.spentNanos, look.ledgerNanos);
      if (onVerdict !== null) onVerdict(verdict);
      for (let n = 0; n < waiters.length; n++) waiters[n]!(admissionOf(verdict, n));
    }
  }

  /**
   * Lets everybody pass unchecked (docs/contract.md#without-the-counter-store). Returns how many requests that were.
   */
  passUnchecked(): number {
    let passed = 0;
    for (const { look, waiters, onVerdict } of this.#groups) {
      if (onVerdict !== null) onVerdict(null);
      for (const done of waiters) done(uncheckedAdmission(look.rpmLimit, look.ledgerNanos));
      passed += waiters.length;
    }
    return passed;
  }

  #push(group: Group): void {
    this.#groups.push(group);
    this.looks.push(group.look);
  }
}

/** What a request gets when nobody can be asked: the full limit, and no claim about when it resets but now. */
export function uncheckedAdmission(rpmLimit: number, spentNanos: number): Admission {
  return {
    outcome: 'unchecked',
    refusedBy: -1,
    passesAtSec: 0,
    rpmRemaining: rpmLimit,
    rpmResetAtSec: Math.ceil(Date.now() / 1000),
    spentNanos,
  };
}

/** The n-th of `wanted` requests that share a verdict. */
function admissionOf(verdict: Verdict, n: number): Admission {
  const passes = n < verdict.admitted;
  const refusedBy = passes ? -1 : verdict.refusedBy;
  return {
    outcome: refusedBy < 0 ? 'admitted' : LIMIT_TABLE[refusedBy]!.type,
    refusedBy,
    passesAtSec: passes ? 0 : verdict.freeAtSec,
    rpmRemaining: passes ? verdict.rpmRemaining + verdict.admitted - 1 - n : verdict.rpmRemaining,
    rpmResetAtSec: verdict.rpmResetAtSec ?? 0,
    spentNanos: verdict.spentNanos,
  };
}

const budgetOf = ({ limits }: AgentTerms): number =>
  limits[BUDGET_ROW] === UNLIMITED ? SPEND_UNASKED : limits[BUDGET_ROW]!;

function sameTerms(look: Look, terms: AgentTerms): boolean {
  return (
    look.rpmLimit === terms.limits[RPM_ROW] &&
    look.rpdLimit === terms.limits[RPD_ROW] &&
    look.budgetNanos === budgetOf(terms) &&
    look.ledgerNanos === terms.spentNanos
  );
}

function lookOf(terms: AgentTerms, providerSlug: string, budgetNanos: number, memory: SpendMemory): Look {
  const { agentId, limits, month, spentNanos } = terms;
  const spend = memory.ledger(agentId, month, spentNanos);
  return {
    agentId,
    providerSlug,
    wanted: 0,
    rpmLimit: limits[RPM_ROW]!,
    rpdLimit: limits[RPD_ROW]!,
    budgetNanos,
    seenNanos: spend.seenNanos,
    seenMonth: spend.month,
    ledgerNanos: spentNanos,
    ledgerMonth: month,
  };
}

/**
 * What is counted when a call has ended lets nothing pass any more once it has reached its limit: budgets, soft and hard
 * ones, and tokens per minute (docs/contract.md#limits). Calls that are under way by then may exceed it, so what is looked
 * at is each admission by itself: the calls of its agent that had ended before it was sent, and whose figures had had time
 * to be told, must not have reached the limit yet.
 *
 * The figures of a call are known a moment after its end, unless something happens to its data plane or to the store
 * meanwhile; those of a process that ended too early never for certain. A store that was away may have lost them: a data
 * plane says a month's spend again with its next call of that agent, and tokens stay lost.
 */
import type {
  AgentLimits,
  CallTrace,
  FaultTrace,
  Interval,
  LedgerCall,
  ProviderObservation,
} from '../evidence/history.js';
import { overlaps } from '../evidence/history.js';
import { firstObservedAt, WINDOW_MS } from './rate-limits.js';

interface AdmissionHistory {
  readonly agents: readonly AgentLimits[];
  readonly calls: readonly CallTrace[];
  readonly observations: readonly ProviderObservation[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly faults: readonly FaultTrace[];
  readonly storeOutages: readonly Interval[];
}

interface AdmissionReport {
  readonly broken: string[];
  /** Limits that were reached, with calls that were sent behind that: how sharp the test was. */
  readonly reached: number;
}

/** Generous, for a busy machine: the store is told in the turn of the event loop in which an answer ends. */
export const REPORTING_DELAY_MS = 1_000;

interface LimitMeter {
  readonly what: string;
  readonly limit: number;
  readonly amountOf: (record: LedgerCall) => number;
  readonly windowMs: number;
  /** What the store has lost comes back. */
  readonly isToldAgain: boolean;
}

interface FinishedCall {
  readonly call: CallTrace;
  readonly amount: number;
  readonly seenAt: number;
  readonly toldAt: number;
}

export function checkLateAdmissions(history: AdmissionHistory): AdmissionReport {
  const { agents, calls, observations: sightings, ledgerCalls: booked } = history;
  const seenAt = firstObservedAt(sightings);
  const recordOf = new Map(
    booked.flatMap((record) => (record.callId === null ? [] : [[record.callId, record] as const])),
  );
  const broken: string[] = [];
  let reached = 0;
  for (const terms of agents) {
    const own = calls.filter(({ agent }) => agent === terms.agent);
    const retold = new RecoveredSpend(own, history);
    for (const meter of listLimitMeters(terms)) {
      const ended: FinishedCall[] = own.flatMap((call) => {
        const record = recordOf.get(call.id);
        if (record === undefined || !seenAt.has(call.id)) return [];
        const toldAt = reportedAtOf(call, history);
        return [{ call, amount: meter.amountOf(record), seenAt: seenAt.get(call.id)!, toldAt }];
      });
      let isReached = false;
      for (const call of own) {
        const sum = sumKnownBefore(call, seenAt.get(call.id) ?? call.endedAt, ended, meter, retold);
        if (sum < meter.limit) continue;
        isReached = true;
        const passed = seenAt.has(call.id) && !wasAdmittedUnchecked(call, seenAt.get(call.id)!, history);
        if (!passed) continue;
        broken.push(`${terms.agent}: ${call.id} passed when ${sum} of ${meter.limit} ${meter.what} were used`);
        break;
      }
      if (isReached) reached++;
    }
  }
  return { broken, reached };
}

function listLimitMeters({ budgetNanos, tpmLimit }: AgentLimits): LimitMeter[] {
  const budget = { what: 'nano-dollars', amountOf: ({ costNanos }: LedgerCall) => costNanos, isToldAgain: true };
  const tokens = { what: 'tokens of a minute', amountOf: (record: LedgerCall) => record.tokens, isToldAgain: false };
  return [
    ...(budgetNanos === null ? [] : [{ ...budget, limit: budgetNanos, windowMs: Number.POSITIVE_INFINITY }]),
    ...(tpmLimit === null ? [] : [{ ...tokens, limit: tpmLimit, windowMs: WINDOW_MS }]),
  ];
}

/** Sum of what must have been known when the call was sent, and counted until it was seen. */
function sumKnownBefore(
  call: CallTrace,
  seenAt: number,
  ended: readonly FinishedCall[],
  meter: LimitMeter,
  retold: RecoveredSpend,
): number {
  const gap = retold.outageBefore(call.sentAt);
  let sum = 0;
  for (const one of ended) {
    if (one.toldAt > call.sentAt || one.seenAt < seenAt - meter.windowMs) continue;
    const isLost = gap !== null && one.call.endedAt <= gap.to;
    if (isLost && !(meter.isToldAgain && retold.at(one.call, gap) <= call.sentAt)) continue;
    sum += one.amount;
  }
  return sum;
}

/** When what the store may have lost was said again by the process that had said it: with its next call of that agent. */
class RecoveredSpend {
  readonly #own: readonly CallTrace[];
  readonly #history: AdmissionHistory;
  readonly #asked = new Map<string, CallTrace | null>();
  readonly #known = new Map<string, number>();

  /** `own`: calls of one agent. */
  constructor(own: readonly CallTrace[], history: AdmissionHistory) {
    this.#own = own;
    this.#history = history;
  }

  outageBefore(at: number): Interval | null {
    return this.#history.storeOutages.findLast(({ from }) => from <= at) ?? null;
  }

  /** Infinity: it was not. */
  at({ id, plane, endedAt }: CallTrace, gap: Interval): number {
    const key = `${id} ${gap.to}`;
    let at = this.#known.get(key);
    if (at === undefined) {
      const asked = this.#firstStoreRequest(plane, gap.to);
      const between = { from: endedAt, to: asked?.endedAt ?? endedAt };
      const isGone = this.#history.faults.some(
        (one) => one.victim === plane && isProcessExit(one) && overlaps(one, between),
      );
      at = asked === null || isGone ? Number.POSITIVE_INFINITY : asked.endedAt + REPORTING_DELAY_MS;
      this.#known.set(key, at);
    }
    return at;
  }

  #firstStoreRequest(plane: string, after: number): CallTrace | null {
    const key = `${plane} ${after}`;
    let first = this.#asked.get(key);
    if (first === undefined) {
      first = null;
      for (const one of this.#own) {
        if (one.plane !== plane || one.sentAt <= after || !didQueryStore(one)) continue;
        if (first === null || one.endedAt < first.endedAt) first = one;
      }
      this.#asked.set(key, first);
    }
    return first;
  }
}

const wasAdmittedUnchecked = (
  call: CallTrace,
  seenAt: number,
  { storeOutages: storeAway }: AdmissionHistory,
): boolean => storeAway.some((gap) => overlaps(gap, { from: call.sentAt, to: seenAt }));

/** Infinity: nobody can say. */
function reportedAtOf({ plane, endedAt }: CallTrace, { faults, storeOutages: storeAway }: AdmissionHistory): number {
  for (let at = endedAt; ; ) {
    const wait = { from: at, to: at + REPORTING_DELAY_MS };
    const fault = faults.find((one) => one.victim === plane && overlaps(one, wait));
    if (fault !== undefined && isProcessExit(fault)) return Number.POSITIVE_INFINITY;
    const hit = fault ?? storeAway.find((gap) => overlaps(gap, wait));
    if (hit === undefined) return wait.to;
    at = hit.to + 1;
  }
}

const didQueryStore = ({ status }: CallTrace): boolean => status === 200 || status === 429;

const isProcessExit = ({ action }: FaultTrace): boolean => action === 'kill' || action === 'restart';

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
import type { AgentTerms, BookedCall, CallTrace, FaultTrace, Interval, Sighting } from '../history.js';
import { overlaps } from '../history.js';
import { seenFirst, WINDOW_MS } from './limits.js';

interface AdmissionHistory {
  readonly agents: readonly AgentTerms[];
  readonly calls: readonly CallTrace[];
  readonly sightings: readonly Sighting[];
  readonly booked: readonly BookedCall[];
  readonly faults: readonly FaultTrace[];
  readonly storeAway: readonly Interval[];
}

interface AdmissionReport {
  readonly broken: string[];
  /** Limits that were reached, with calls that were sent behind that: how sharp the test was. */
  readonly reached: number;
}

/** Generous, for a busy machine: the store is told in the turn of the event loop in which an answer ends. */
export const TOLD_MS = 1_000;

interface Meter {
  readonly what: string;
  readonly limit: number;
  readonly amountOf: (record: BookedCall) => number;
  readonly windowMs: number;
  /** What the store has lost comes back. */
  readonly isToldAgain: boolean;
}

interface Ended {
  readonly call: CallTrace;
  readonly amount: number;
  readonly seenAt: number;
  readonly toldAt: number;
}

export function noLateAdmissions(history: AdmissionHistory): AdmissionReport {
  const { agents, calls, sightings, booked } = history;
  const seenAt = seenFirst(sightings);
  const recordOf = new Map(
    booked.flatMap((record) => (record.callId === null ? [] : [[record.callId, record] as const])),
  );
  const broken: string[] = [];
  let reached = 0;
  for (const terms of agents) {
    const own = calls.filter(({ agent }) => agent === terms.agent);
    const retold = new Retold(own, history);
    for (const meter of metersOf(terms)) {
      const ended: Ended[] = own.flatMap((call) => {
        const record = recordOf.get(call.id);
        if (record === undefined || !seenAt.has(call.id)) return [];
        const toldAt = toldAtOf(call, history);
        return [{ call, amount: meter.amountOf(record), seenAt: seenAt.get(call.id)!, toldAt }];
      });
      let isReached = false;
      for (const call of own) {
        const sum = knownBefore(call, seenAt.get(call.id) ?? call.endedAt, ended, meter, retold);
        if (sum < meter.limit) continue;
        isReached = true;
        const passed = seenAt.has(call.id) && !isUnchecked(call, seenAt.get(call.id)!, history);
        if (!passed) continue;
        broken.push(`${terms.agent}: ${call.id} passed when ${sum} of ${meter.limit} ${meter.what} were used`);
        break;
      }
      if (isReached) reached++;
    }
  }
  return { broken, reached };
}

function metersOf({ budgetNanos, tpmLimit }: AgentTerms): Meter[] {
  const budget = { what: 'nano-dollars', amountOf: ({ costNanos }: BookedCall) => costNanos, isToldAgain: true };
  const tokens = { what: 'tokens of a minute', amountOf: (record: BookedCall) => record.tokens, isToldAgain: false };
  return [
    ...(budgetNanos === null ? [] : [{ ...budget, limit: budgetNanos, windowMs: Number.POSITIVE_INFINITY }]),
    ...(tpmLimit === null ? [] : [{ ...tokens, limit: tpmLimit, windowMs: WINDOW_MS }]),
  ];
}

/** Sum of what must have been known when the call was sent, and counted until it was seen. */
function knownBefore(call: CallTrace, seenAt: number, ended: readonly Ended[], meter: Meter, retold: Retold): number {
  const gap = retold.gapBefore(call.sentAt);
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
class Retold {
  readonly #own: readonly CallTrace[];
  readonly #history: AdmissionHistory;
  readonly #asked = new Map<string, CallTrace | null>();
  readonly #known = new Map<string, number>();

  /** `own`: calls of one agent. */
  constructor(own: readonly CallTrace[], history: AdmissionHistory) {
    this.#own = own;
    this.#history = history;
  }

  gapBefore(at: number): Interval | null {
    return this.#history.storeAway.findLast(({ from }) => from <= at) ?? null;
  }

  /** Infinity: it was not. */
  at({ id, plane, endedAt }: CallTrace, gap: Interval): number {
    const key = `${id} ${gap.to}`;
    let at = this.#known.get(key);
    if (at === undefined) {
      const asked = this.#firstAsked(plane, gap.to);
      const between = { from: endedAt, to: asked?.endedAt ?? endedAt };
      const isGone = this.#history.faults.some(
        (one) => one.victim === plane && endsProcess(one) && overlaps(one, between),
      );
      at = asked === null || isGone ? Number.POSITIVE_INFINITY : asked.endedAt + TOLD_MS;
      this.#known.set(key, at);
    }
    return at;
  }

  #firstAsked(plane: string, after: number): CallTrace | null {
    const key = `${plane} ${after}`;
    let first = this.#asked.get(key);
    if (first === undefined) {
      first = null;
      for (const one of this.#own) {
        if (one.plane !== plane || one.sentAt <= after || !askedTheStore(one)) continue;
        if (first === null || one.endedAt < first.endedAt) first = one;
      }
      this.#asked.set(key, first);
    }
    return first;
  }
}

const isUnchecked = (call: CallTrace, seenAt: number, { storeAway }: AdmissionHistory): boolean =>
  storeAway.some((gap) => overlaps(gap, { from: call.sentAt, to: seenAt }));

/** Infinity: nobody can say. */
function toldAtOf({ plane, endedAt }: CallTrace, { faults, storeAway }: AdmissionHistory): number {
  for (let at = endedAt; ; ) {
    const wait = { from: at, to: at + TOLD_MS };
    const fault = faults.find((one) => one.victim === plane && overlaps(one, wait));
    if (fault !== undefined && endsProcess(fault)) return Number.POSITIVE_INFINITY;
    const hit = fault ?? storeAway.find((gap) => overlaps(gap, wait));
    if (hit === undefined) return wait.to;
    at = hit.to + 1;
  }
}

const askedTheStore = ({ status }: CallTrace): boolean => status === 200 || status === 429;

const endsProcess = ({ action }: FaultTrace): boolean => action === 'kill' || action === 'restart';

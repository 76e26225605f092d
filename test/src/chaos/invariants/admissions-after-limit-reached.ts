/**
 * Limits on amounts that are counted after a call (budgets and tokens per minute, docs/contract.md#limits) admit no
 * call once they are reached. Calls in flight at that time may exceed them. So each admission is checked by itself: the
 * earlier calls of its agent whose amounts the store must have known must not have reached the limit.
 *
 * The store knows the amounts of a call a moment after its end, or after a fault of its data plane or of the store. The
 * amounts of a process that died too early are never certain. A store outage may lose amounts: a data plane reports a
 * month's spend again with the agent's next call, but tokens stay lost.
 */
import type {
  AgentLimits,
  CallTrace,
  FaultTrace,
  Interval,
  LedgerCall,
  ProviderObservation,
} from '../evidence/evidence-types.js';
import { overlaps } from '../evidence/evidence-types.js';
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
  readonly violations: string[];
  /** Limits that were reached, with calls sent afterwards: shows how much the run tested. */
  readonly reached: number;
}

/** Generous, for a busy machine: a data plane reports to the store in the event-loop tick in which a response ends. */
export const REPORTING_DELAY_MS = 1_000;

interface LimitMeter {
  readonly what: string;
  readonly limit: number;
  readonly amountOf: (record: LedgerCall) => number;
  readonly windowMs: number;
  /** Whether data planes report amounts again that the store has lost. */
  readonly isReportedAgain: boolean;
}

interface FinishedCall {
  readonly call: CallTrace;
  readonly amount: number;
  readonly seenAt: number;
  readonly reportedAt: number;
}

export function checkAdmissionsAfterLimitReached(history: AdmissionHistory): AdmissionReport {
  const { agents, calls, observations, ledgerCalls } = history;
  const seenAt = firstObservedAt(observations);
  const recordOf = new Map(
    ledgerCalls.flatMap((record) => (record.callId === null ? [] : [[record.callId, record] as const])),
  );
  const violations: string[] = [];
  let reached = 0;
  for (const limits of agents) {
    const own = calls.filter(({ agent }) => agent === limits.agent);
    const recoveredSpend = new RecoveredSpend(own, history);
    for (const meter of listLimitMeters(limits)) {
      const ended: FinishedCall[] = own.flatMap((call) => {
        const record = recordOf.get(call.id);
        if (record === undefined || !seenAt.has(call.id)) return [];
        const reportedAt = reportedAtOf(call, history);
        return [{ call, amount: meter.amountOf(record), seenAt: seenAt.get(call.id)!, reportedAt }];
      });
      let isReached = false;
      for (const call of own) {
        const sum = sumKnownBefore(call, seenAt.get(call.id) ?? call.endedAt, ended, meter, recoveredSpend);
        if (sum < meter.limit) continue;
        isReached = true;
        const passed = seenAt.has(call.id) && !wasAdmittedUnchecked(call, seenAt.get(call.id)!, history);
        if (!passed) continue;
        violations.push(`${limits.agent}: ${call.id} passed when ${sum} of ${meter.limit} ${meter.what} were used`);
        break;
      }
      if (isReached) reached++;
    }
  }
  return { violations, reached };
}

function listLimitMeters({ budgetNanos, tpmLimit }: AgentLimits): LimitMeter[] {
  const budget = { what: 'nano-dollars', amountOf: ({ costNanos }: LedgerCall) => costNanos, isReportedAgain: true };
  const tokens = {
    what: 'tokens of a minute',
    amountOf: (record: LedgerCall) => record.tokens,
    isReportedAgain: false,
  };
  return [
    ...(budgetNanos === null ? [] : [{ ...budget, limit: budgetNanos, windowMs: Number.POSITIVE_INFINITY }]),
    ...(tpmLimit === null ? [] : [{ ...tokens, limit: tpmLimit, windowMs: WINDOW_MS }]),
  ];
}

/**
 * Sum of the amounts that the store must have known when the call was sent, and counted until the provider received it.
 */
function sumKnownBefore(
  call: CallTrace,
  seenAt: number,
  ended: readonly FinishedCall[],
  meter: LimitMeter,
  recoveredSpend: RecoveredSpend,
): number {
  const gap = recoveredSpend.outageBefore(call.sentAt);
  let sum = 0;
  for (const one of ended) {
    if (one.reportedAt > call.sentAt || one.seenAt < seenAt - meter.windowMs) continue;
    const isLost = gap !== null && one.call.endedAt <= gap.to;
    if (isLost && !(meter.isReportedAgain && recoveredSpend.at(one.call, gap) <= call.sentAt)) continue;
    sum += one.amount;
  }
  return sum;
}

/** When a process reported the amounts again that the store may have lost: with the agent's next call. */
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

  /** Infinity: they were not reported again. */
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

const wasAdmittedUnchecked = (call: CallTrace, seenAt: number, { storeOutages }: AdmissionHistory): boolean =>
  storeOutages.some((gap) => overlaps(gap, { from: call.sentAt, to: seenAt }));

/** Infinity: unknown. */
function reportedAtOf({ plane, endedAt }: CallTrace, { faults, storeOutages }: AdmissionHistory): number {
  for (let at = endedAt; ; ) {
    const wait = { from: at, to: at + REPORTING_DELAY_MS };
    const fault = faults.find((one) => one.victim === plane && overlaps(one, wait));
    if (fault !== undefined && isProcessExit(fault)) return Number.POSITIVE_INFINITY;
    const hit = fault ?? storeOutages.find((gap) => overlaps(gap, wait));
    if (hit === undefined) return wait.to;
    at = hit.to + 1;
  }
}

const didQueryStore = ({ status }: CallTrace): boolean => status === 200 || status === 429;

const isProcessExit = ({ action }: FaultTrace): boolean => action === 'kill' || action === 'restart';

/**
 * Judges a simulation by what reached the provider. No 60 s hold more calls than the limit per minute and no day more
 * than the limit per day, but for two exceptions (docs/decisions.md): uses whose record a failover or FLUSHALL took, and
 * rights used after the machine's clock had stood still. No call is rejected that fits by uses, and none waits longer
 * than a term.
 */
import {
  type DataLoss,
  type Decision,
  type DecisionHistory,
  LIMITS_DELAY_US,
  type ProviderCall,
} from './decision-history.js';
import { ReferenceUses } from './reference-uses.js';
import { maxUnusedRights } from './rights-messages.js';
import { CALM_NETWORK, type Schedule } from './schedule.js';

interface Verdict {
  /** Empty: the schedule kept all promises. */
  readonly violations: string[];
  /** Windows over the limit by calls of an exception, and those of them in which some used rights. */
  windowsOverLimit: number;
  windowsOverLimitByRights: number;
  /** The most rights of one grant that an exception let through. */
  mostRightsOfGrant: number;
}

export function judge(schedule: Schedule, history: DecisionHistory): Verdict {
  const verdict: Verdict = {
    violations: [...history.misuses],
    windowsOverLimit: 0,
    windowsOverLimitByRights: 0,
    mostRightsOfGrant: 0,
  };
  const { days, countedTotals } = checkRejections(schedule, history, verdict);
  const exceptions = new Exceptions(schedule, history, countedTotals);
  checkMinutes(schedule, history, exceptions, verdict);
  checkDays(history, days, exceptions, verdict);
  exceptions.checkBounds(verdict);
  checkWaits(schedule, history, verdict);
  return verdict;
}

/** Finds out which calls the store could not count when it last decided for a window. */
class Exceptions {
  constructor(
    readonly schedule: Schedule,
    readonly history: DecisionHistory,
    /** For each decision the total of its writer that the server had counted before. */
    readonly countedTotals: readonly number[],
  ) {}

  /** `last`: the last decision that the calls of the window rest on. */
  isExempt(call: ProviderCall, last: Decision): boolean {
    if (call.isAfterStoppedClock) return true;
    const { right, basis } = call;
    const { loss } = basis;
    if (loss === null || loss.order > last.order) return false;
    if (right === null) return true;
    if (this.#isCounted(basis.message.writer, right, last)) return false;
    const { termUs } = this.schedule.rules;
    const wasUsed = this.#wasStatedToLostServer(call, last.order) || basis.atUs + termUs <= loss.atUs;
    // For one term the new server leaves room for the rights that were in use.
    return wasUsed || last.atUs > loss.nextDecisionUs + termUs;
  }

  /** At most the rights of one grant, for each pause and for each loss and writer. */
  checkBounds(verdict: Verdict): void {
    const { limits, rules, faults } = this.schedule;
    const all = [limits, ...faults.flatMap((fault) => (fault.kind === 'new limits' ? [fault.limits] : []))];
    const most = Math.max(...all.map((one) => maxUnusedRights(rules, one)));
    const counts = new Map<string, number>();
    for (const call of this.history.providerCalls) {
      const { writer } = call.basis.message;
      const { loss, atUs } = call.basis;
      if (call.right === null) continue;
      const isLost = loss !== null && !this.#wasStatedToLostServer(call, Number.POSITIVE_INFINITY);
      const keys = [
        ...(call.isAfterStoppedClock ? [`${writer} used after a stopped clock, granted at ${atUs} µs`] : []),
        ...(isLost ? [`${writer} lost at ${loss.atUs} µs`] : []),
      ];
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [key, count] of counts) {
      verdict.mostRightsOfGrant = Math.max(verdict.mostRightsOfGrant, count);
      if (count > most) verdict.violations.push(`${count} rights of ${key}, more than ${most}`);
    }
  }

  /** Whether a server that still had its data at the decision `last` had counted the use. */
  #isCounted(writer: string, right: number, last: Decision): boolean {
    return this.history.decisions.some(
      ({ order, message, loss }) =>
        message.writer === writer &&
        order <= last.order &&
        (loss === null || loss.order > last.order) &&
        this.countedTotals[order]! < right &&
        right <= message.total,
    );
  }

  /** Whether the use was stated to a server that had lost its data by the decision of the number `byOrder`. */
  #wasStatedToLostServer({ basis, right }: ProviderCall, byOrder: number): boolean {
    return this.history.decisions.some(
      ({ message, loss }) =>
        message.writer === basis.message.writer && loss !== null && loss.order <= byOrder && message.total >= right!,
    );
  }
}

/** Checks the calls of one window, given all of them. */
function checkWindow(
  name: string,
  calls: readonly ProviderCall[],
  limitOf: (call: ProviderCall) => number,
  exceptions: Exceptions,
  verdict: Verdict,
): void {
  // A change of limits takes effect within a second: the highest one in force for any of the calls.
  const limit = Math.max(...calls.map(limitOf));
  if (calls.length <= limit) return;
  const last = calls.reduce((latest, { basis }) => (basis.order > latest.order ? basis : latest), calls[0]!.basis);
  const exempt = calls.filter((call) => exceptions.isExempt(call, last));
  const counted = calls.length - exempt.length;
  if (counted > limit) {
    verdict.violations.push(`${counted} calls in ${name} until ${calls.at(-1)!.atUs} µs, limit ${limit}`);
    return;
  }
  verdict.windowsOverLimit++;
  if (exempt.some(({ right }) => right !== null)) verdict.windowsOverLimitByRights++;
}

function checkMinutes(
  { rules, limits, faults }: Schedule,
  { providerCalls }: DecisionHistory,
  exceptions: Exceptions,
  verdict: Verdict,
): void {
  const lowest = Math.min(
    limits.requestsPerMinute,
    ...faults.map((fault) => (fault.kind === 'new limits' ? fault.limits.requestsPerMinute : Infinity)),
  );
  const calls = providerCalls.toSorted((one, other) => one.atUs - other.atUs);
  let first = 0;
  calls.forEach(({ atUs }, last) => {
    while (calls[first]!.atUs <= atUs - rules.minuteUs) first++;
    if (last - first < lowest) return;
    const limitOf = ({ basis }: ProviderCall): number => basis.message.limits.requestsPerMinute;
    checkWindow('a minute', calls.slice(first, last + 1), limitOf, exceptions, verdict);
  });
}

/** A day of the store, with the time since the day before. */
interface StoreDay {
  readonly fromUs: number;
  readonly endUs: number;
  /** Order of the first decision with it: before, the server had other data. */
  readonly decidedFrom: number;
}

function checkDays(
  { providerCalls }: DecisionHistory,
  days: readonly StoreDay[],
  exceptions: Exceptions,
  verdict: Verdict,
): void {
  for (const { fromUs, endUs, decidedFrom } of days) {
    const calls = providerCalls.filter(({ decidedAtUs }) => decidedAtUs >= fromUs && decidedAtUs < endUs);
    if (!calls.some(({ basis }) => basis.order >= decidedFrom)) continue;
    checkWindow('a day', calls, ({ basis }) => basis.message.limits.requestsPerDay, exceptions, verdict);
  }
}

/** Checks that a rejected call did not fit by uses. */
function checkRejections(
  schedule: Schedule,
  { decisions, losses }: DecisionHistory,
  verdict: Verdict,
): { readonly days: readonly StoreDay[]; readonly countedTotals: readonly number[] } {
  const { rules, network, faults } = schedule;
  const isCalm = network === CALM_NETWORK && faults.length === 0;
  const days: StoreDay[] = [];
  const countedTotals: number[] = [];
  let reference = new ReferenceUses(rules);
  let decidedFrom = 0;
  const addDays = (untilUs: number): void => {
    reference.dayStartsUs.forEach((startUs, i) => {
      const fromUs = i === 0 ? Number.NEGATIVE_INFINITY : reference.dayStartsUs[i - 1]! + rules.dayUs;
      days.push({ fromUs, endUs: Math.min(startUs + rules.dayUs, untilUs), decidedFrom });
    });
  };
  const lossesToCome: DataLoss[] = [...losses];
  decisions.forEach((decision, i) => {
    const { atUs, message, reply } = decision;
    for (let loss = lossesToCome[0]; loss !== undefined && loss.order <= i; loss = lossesToCome[0]) {
      lossesToCome.shift();
      addDays(loss.atUs);
      decidedFrom = loss.order;
      reference = new ReferenceUses(rules);
      const kept = (earlier: Decision): boolean => earlier.loss === null || earlier.loss.order > loss!.order;
      for (const earlier of decisions.slice(0, i).filter(kept)) {
        reference.applyMessage(earlier);
        reference.applyReply(earlier);
      }
    }
    countedTotals.push(reference.applyMessage(decision));
    const { requestsPerMinute, requestsPerDay } = message.limits;
    if (reply.admittedCount < message.requestCount && reply.otherOutcome === 'rejected') {
      const minute = reference.minute(atUs) + reply.admittedCount;
      const day = reference.day(atUs) + reply.admittedCount;
      if (minute < requestsPerMinute && day < requestsPerDay)
        verdict.violations.push(`a call was rejected at ${atUs} µs with ${minute} of ${requestsPerMinute} used`);
    }
    if (isCalm && reference.unreturned(atUs) > 0)
      verdict.violations.push(`rights were not returned in time at ${atUs} µs, without any fault`);
    reference.applyReply(decision);
  });
  addDays(Number.POSITIVE_INFINITY);
  return { days, countedTotals };
}

/** No call gets a reply `wait` a term after its first one, unless the server or limits changed meanwhile. */
function checkWaits({ rules }: Schedule, { waits, losses, limitChangesUs }: DecisionHistory, verdict: Verdict): void {
  const disturbances = [
    ...losses.map(({ atUs, nextDecisionUs }) => ({ fromUs: atUs, untilUs: nextDecisionUs })),
    ...limitChangesUs.map((atUs) => ({ fromUs: atUs, untilUs: atUs + LIMITS_DELAY_US + rules.termUs })),
  ];
  for (const { firstAtUs, atUs } of waits) {
    if (atUs - firstAtUs < rules.termUs) continue;
    if (disturbances.some(({ fromUs, untilUs }) => fromUs <= atUs && untilUs >= firstAtUs)) continue;
    verdict.violations.push(`a call that waited since ${firstAtUs} µs had to wait on at ${atUs} µs`);
  }
}

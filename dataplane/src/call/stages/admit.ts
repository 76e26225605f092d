/**
 * Checks all limits in one atomic step, once for every send: a rejected call consumes nothing. With a hard budget, the
 * step also takes the call's reservation; a second send carries over the reservation of the first, where the same budgets
 * count it in the same windows. The request must be sent in the event-loop turn of the positive answer.
 */

import { WINDOW_MS } from '@acg/base/limit-definitions';
import type { AgentLimits } from '../../limits/agent-limits.js';
import type { Admission, Counters, ToolRate } from '../../limits/counters-interface.js';
import { DEFAULT_WINDOW_LENGTHS_MS } from '../../limits/limit-table.js';
import { findToolRate } from '../../mcp/tool-rate.js';
import { createLimitRejection } from '../../rejection/limit-rejection.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { computeNeededReservation } from '../../reservation/compute-reservation.js';
import { getCallLimits } from '../call-limits.js';
import type { CallMetering } from '../call-metering-interface.js';
import type { DialLimiter } from '../dial-limiter.js';
import { Phase, type RoutedExchange } from '../exchange.js';
import { findCalledTool } from '../mcp-call.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';
import { findAdmittedLimits, releaseLateReservation, releaseReservation } from '../settle.js';

/**
 * How long an admission stays valid while its closed connection is replaced: as long as the store's minute is longer
 * than a minute. A later send could be one too many in 60 s at the provider.
 */
const UNUSED_MS_MAX = DEFAULT_WINDOW_LENGTHS_MS.minute - WINDOW_MS.minute;

/** What the call asks of the limits. `carriedNanos`: reserved for its first send, and carried over. */
interface AdmissionAttempt {
  readonly limits: AgentLimits;
  readonly neededNanos: number;
  readonly carriedNanos: number;
}

export function createAdmitStage(
  counters: Pick<Counters, 'admit' | 'settle'>,
  metering: Pick<CallMetering, 'maxCostNanos'>,
  dialLimiter: Pick<DialLimiter, 'release'>,
  advance: Advance,
): RoutedStage {
  const decide = (exchange: RoutedExchange, attempt: AdmissionAttempt, admission: Admission): StageResult => {
    const { limits, carriedNanos } = attempt;
    const rejection =
      admission.outcome === 'unchecked' && limits.rejectsUnchecked
        ? REJECTIONS.limitsUnavailable
        : createLimitRejection(admission, limits, rateOfTool(exchange));
    if (rejection !== null) {
      exchange.reject(rejection);
      return DONE;
    }
    const state = exchange.admission;
    const isAdmitted = admission.outcome === 'admitted';
    if (carriedNanos > 0 && !isReservedIn(exchange, limits, admission.admittedAtSec)) {
      // A window ended meanwhile: what is carried over is reserved in the old one.
      if (isAdmitted)
        releaseLateReservation(counters, exchange, limits, admission.admittedAtSec, admission.reservationNanos);
      return ask(exchange, { ...attempt, carriedNanos: 0 });
    }
    if (carriedNanos === 0 && state.reservedNanos > 0) releaseReservation(counters, exchange);
    state.result = admission;
    state.admittedBy = limits;
    if (isAdmitted) state.reservedNanos += admission.reservationNanos;
    if (exchange.phase < Phase.ADMITTED) exchange.advanceTo(Phase.ADMITTED);
    return NEXT;
  };

  const ask = (exchange: RoutedExchange, attempt: AdmissionAttempt): StageResult => {
    const { limits, neededNanos, carriedNanos } = attempt;
    const reservationNanos = Math.max(0, neededNanos - carriedNanos);
    let waiting = false;
    let result: StageResult = WAIT;
    const { providerSlug } = exchange.routed.upstream;
    const toolRate = rateOfTool(exchange);
    counters.admit({ limits, providerSlug, reservationNanos, toolRate }, (admission) => {
      if (!waiting) {
        result = decide(exchange, attempt, admission);
      } else if (!exchange.hasEnded) {
        if (decide(exchange, attempt, admission) === NEXT) advance(exchange);
      } else if (admission.outcome === 'admitted') {
        exchange.admission.result ??= admission;
        releaseLateReservation(counters, exchange, limits, admission.admittedAtSec, admission.reservationNanos);
      }
    });
    waiting = true;
    return result;
  };

  return (exchange) => {
    if (isStillAdmitted(exchange)) {
      dialLimiter.release(exchange);
      return NEXT;
    }
    const neededNanos = computeNeededReservation(exchange, metering);
    if (typeof neededNanos !== 'number') {
      exchange.reject(neededNanos);
      return DONE;
    }
    const limits = getCallLimits(exchange, metering);
    const { reservedNanos } = exchange.admission;
    const isCarried = reservedNanos > 0 && isReservedIn(exchange, limits, Date.now() / 1000);
    const result = ask(exchange, { limits, neededNanos, carriedNanos: isCarried ? reservedNanos : 0 });
    // Only now: the precheck of the next call must come after this one in the store.
    dialLimiter.release(exchange);
    return result;
  };
}

/** Whether the call's reservation is in the budgets and windows in which `limits` would reserve at an instant. */
function isReservedIn(exchange: RoutedExchange, limits: AgentLimits, unixSec: number): boolean {
  const { admittedAtSec } = exchange.admission.result!;
  return listHardWindows(limits, unixSec) === listHardWindows(findAdmittedLimits(exchange), admittedAtSec);
}

const listHardWindows = ({ checkedBudgets }: AgentLimits, unixSec: number): string =>
  checkedBudgets
    .filter(({ mode }) => mode === 'hard')
    .map((row) => `${row.name}@${row.windowsAt(unixSec)[0]!.name}`)
    .join();

const rateOfTool = (exchange: RoutedExchange): ToolRate | null =>
  findToolRate(exchange.routed.upstream.policy, findCalledTool(exchange.admission.mcp));

/** Nothing was sent under the last admission, because its connection had closed, and the next one stands soon enough. */
const isStillAdmitted = ({ admission: { unusedSincePerfMs } }: RoutedExchange): boolean =>
  unusedSincePerfMs > 0 && performance.now() - unusedSincePerfMs <= UNUSED_MS_MAX;

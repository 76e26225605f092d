/**
 * Checks all limits in one atomic step: a rejected call consumes nothing. With a hard budget, the step also takes the
 * call's reservation.
 */
import type { Admission, Counters } from '../../limits/counters-interface.js';
import { createLimitRejection } from '../../rejection/limit-rejection.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { computeReservation } from '../../reservation/compute-reservation.js';
import type { CallMetering } from '../call-metering-interface.js';
import { Phase, type RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';
import { releaseReservation } from '../settle.js';

export function createAdmitStage(
  counters: Pick<Counters, 'admit' | 'settle'>,
  metering: Pick<CallMetering, 'maxCostNanos'>,
  advance: Advance,
): RoutedStage {
  const decide = (exchange: RoutedExchange, admission: Admission): StageResult => {
    exchange.admission.result = admission;
    const { agentLimits: limits } = exchange.routed.context;
    if (admission.outcome === 'admitted') exchange.admission.reservedNanos = admission.reservationNanos;
    const rejection =
      admission.outcome === 'unchecked' && limits.rejectsUnchecked
        ? REJECTIONS.limitsUnavailable
        : createLimitRejection(admission, limits.byRow, Date.now());
    if (rejection !== null) {
      exchange.reject(rejection);
      return DONE;
    }
    exchange.advanceTo(Phase.ADMITTED);
    return NEXT;
  };
  return (exchange) => {
    const { context, upstream } = exchange.routed;
    const reservationNanos = context.agentLimits.hardBudget ? computeReservation(exchange, metering) : 0;
    if (typeof reservationNanos !== 'number') {
      exchange.reject(reservationNanos);
      return DONE;
    }
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit(
      { limits: context.agentLimits, providerSlug: upstream.providerSlug, reservationNanos },
      (admission) => {
        if (!waiting) {
          result = decide(exchange, admission);
        } else if (!exchange.hasEnded) {
          if (decide(exchange, admission) === NEXT) advance(exchange);
        } else if (admission.outcome === 'admitted') {
          // The agent disconnected meanwhile: the call will not be settled.
          exchange.admission.result = admission;
          exchange.admission.reservedNanos = admission.reservationNanos;
          releaseReservation(counters, exchange);
        }
      },
    );
    waiting = true;
    return result;
  };
}

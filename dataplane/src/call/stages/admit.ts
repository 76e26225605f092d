/** All limits in one atomic step: what is refused consumes nothing. With a hard budget it also takes the call's hold. */
import type { Admission, Counters } from '../../limits/counters.js';
import { createLimitRejection } from '../../rejection/limit-rejection.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { computeReservation } from '../../reservation/compute-reservation.js';
import type { CallMetering } from '../call-metering.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';
import { releaseReservation } from '../settle.js';

export function createAdmitStage(
  counters: Pick<Counters, 'admit' | 'settle'>,
  metering: Pick<CallMetering, 'maxCostNanos'>,
  advance: Advance,
): RoutedStage {
  const decide = (x: RoutedExchange, admission: Admission): StageResult => {
    x.admission = admission;
    const { agentLimits: terms } = x.routed.context;
    if (admission.outcome === 'admitted') x.reservedNanos = admission.reservationNanos;
    const rejection =
      admission.outcome === 'unchecked' && terms.rejectsUnchecked
        ? REJECTIONS.limitsUnavailable
        : createLimitRejection(admission, terms.byRow, Date.now());
    if (rejection !== null) {
      x.reject(rejection);
      return DONE;
    }
    return NEXT;
  };
  return (x) => {
    const { context, upstream } = x.routed;
    const holdNanos = context.agentLimits.hardBudget ? computeReservation(x, metering) : 0;
    if (typeof holdNanos !== 'number') {
      x.reject(holdNanos);
      return DONE;
    }
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit(
      { limits: context.agentLimits, providerSlug: upstream.providerSlug, reservationNanos: holdNanos },
      (admission) => {
        if (!waiting) {
          result = decide(x, admission);
        } else if (!x.hasEnded) {
          if (decide(x, admission) === NEXT) advance(x);
        } else if (admission.outcome === 'admitted') {
          // The agent has gone meanwhile: nothing will be settled.
          x.admission = admission;
          x.reservedNanos = admission.reservationNanos;
          releaseReservation(counters, x);
        }
      },
    );
    waiting = true;
    return result;
  };
}

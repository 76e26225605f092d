/** All limits in one atomic step: what is refused consumes nothing. With a hard budget it also takes the call's hold. */
import type { Admission, Counters } from '../../counters/counters.js';
import type { CallMetering } from '../call-metering.js';
import type { RoutedExchange } from '../exchange.js';
import { holdOf } from '../hold-bound.js';
import { limitRefusal } from '../limit-refusal.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';
import { releaseHold } from '../settle.js';

export function createAdmit(
  counters: Pick<Counters, 'admit' | 'settle'>,
  metering: Pick<CallMetering, 'bound'>,
  advance: Advance,
): RoutedStage {
  const decide = (x: RoutedExchange, admission: Admission): StageResult => {
    x.admission = admission;
    const { terms } = x.routed.context;
    if (admission.outcome === 'admitted') x.holdNanos = admission.holdNanos;
    const rejection =
      admission.outcome === 'unchecked' && terms.refuseUnchecked
        ? REJECTIONS.limitsUnavailable
        : limitRefusal(admission, terms.limits, Date.now());
    if (rejection !== null) {
      x.reject(rejection);
      return DONE;
    }
    return NEXT;
  };
  return (x) => {
    const { context, upstream } = x.routed;
    const holdNanos = context.terms.hardBudget ? holdOf(x, metering) : 0;
    if (typeof holdNanos !== 'number') {
      x.reject(holdNanos);
      return DONE;
    }
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit({ terms: context.terms, providerSlug: upstream.providerSlug, holdNanos }, (admission) => {
      if (!waiting) {
        result = decide(x, admission);
      } else if (!x.over) {
        if (decide(x, admission) === NEXT) advance(x);
      } else if (admission.outcome === 'admitted') {
        // The agent has gone meanwhile: nothing will be settled.
        x.admission = admission;
        x.holdNanos = admission.holdNanos;
        releaseHold(counters, x);
      }
    });
    waiting = true;
    return result;
  };
}

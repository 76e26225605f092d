/** All limits in one atomic step: what is refused consumes nothing. */
import type { Admission, Counters } from '../../counters/counters.js';
import type { RoutedExchange } from '../exchange.js';
import { limitRefusal } from '../limit-refusal.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';

export function createAdmit(counters: Pick<Counters, 'admit'>, advance: Advance): RoutedStage {
  const decide = (x: RoutedExchange, admission: Admission): StageResult => {
    x.admission = admission;
    const rejection = limitRefusal(admission, x.routed.context.terms.limits, Date.now());
    if (rejection !== null) {
      x.reject(rejection);
      return DONE;
    }
    return NEXT;
  };
  return (x) => {
    const { context, upstream } = x.routed;
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit({ terms: context.terms, providerSlug: upstream.providerSlug, holdNanos: 0 }, (admission) => {
      if (!waiting) {
        result = decide(x, admission);
      } else if (!x.over && decide(x, admission) === NEXT) {
        advance(x);
      }
    });
    waiting = true;
    return result;
  };
}

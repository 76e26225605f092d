/** All limits in one atomic step: what is refused consumes nothing. */
import type { Admission, Counters } from '../../counters/counters.js';
import type { Exchange } from '../exchange.js';
import { limitRefusal } from '../limit-refusal.js';
import { DONE, NEXT, type Stage, type StageResult, WAIT } from '../pipeline.js';

export function createAdmit(counters: Pick<Counters, 'admit'>, advance: (x: Exchange) => void): Stage {
  const settle = (x: Exchange, admission: Admission): StageResult => {
    x.admission = admission;
    const rejection = limitRefusal(admission, x.context!.terms.limits, Date.now());
    if (rejection !== null) {
      x.reject(rejection);
      return DONE;
    }
    return NEXT;
  };
  return (x) => {
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit({ terms: x.context!.terms, providerSlug: x.upstream!.providerSlug }, (admission) => {
      if (!waiting) {
        result = settle(x, admission);
      } else if (!x.over && settle(x, admission) === NEXT) {
        advance(x);
      }
    });
    waiting = true;
    return result;
  };
}

/** Budgets: what they cannot see, or a hard one cannot bound, is refused; the body that says what a call may cost is read. */
import { planHold as plan } from '../hold-bound.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const planHold: RoutedStage = (x) => {
  const rejection = plan(x);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

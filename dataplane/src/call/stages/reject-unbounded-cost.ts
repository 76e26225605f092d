/**
 * Rejects a call whose cost a budget cannot see or a hard budget cannot bound. Sets the body's reader when the body
 * states the cost.
 */
import { precheckCostBound as precheck } from '../../reservation/compute-reservation.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const precheckCostBoundStage: RoutedStage = (exchange) => {
  const rejection = precheck(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

/** Budgets: what they cannot see, or a hard one cannot bound, is refused; the body that says what a call may cost is read. */
import { planReservation as plan } from '../../reservation/compute-reservation.js';
import { DONE, NEXT, type RoutedStage } from '../pipeline.js';

export const planReservationStage: RoutedStage = (exchange) => {
  const rejection = plan(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

/** The gateway's own headers of a forwarded answer, each with the line end before it. Every part is ours. */
import { RPM_ROW } from '../counters/limit-table.js';
import type { RoutedExchange } from './exchange.js';

/** Milliseconds with three decimals, without the cost of `toFixed`. */
const millis = (ms: number): number => Math.round(ms * 1000) / 1000;

export const serverTiming = ({ dispatchedTick, respondedTick, request: { startedTick } }: RoutedExchange): string =>
  `\r\nserver-timing: gateway;dur=${millis(dispatchedTick - startedTick)}, upstream;dur=${millis(respondedTick - dispatchedTick)}`;

/** Which of the three a header of the provider is; 0 = none. */
export function rateLimitBit(name: string): number {
  switch (name) {
    case 'x-ratelimit-limit':
      return 1;
    case 'x-ratelimit-remaining':
      return 2;
    case 'x-ratelimit-reset':
      return 4;
    default:
      return 0;
  }
}

/** Those that the provider does not send itself. `theirs`: the bits of those that it does. */
export function rateLimits({ admission, routed }: RoutedExchange, theirs: number): string {
  if (admission === null) return '';
  let own = '';
  if ((theirs & 1) === 0) own += `\r\nx-ratelimit-limit: ${routed.context.terms.limits[RPM_ROW]}`;
  if ((theirs & 2) === 0) own += `\r\nx-ratelimit-remaining: ${admission.rpmRemaining}`;
  if ((theirs & 4) === 0) own += `\r\nx-ratelimit-reset: ${admission.rpmResetAtSec}`;
  return own;
}

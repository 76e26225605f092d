/** The gateway's own headers of a forwarded response, each preceded by CRLF. Every part is written by the gateway. */

import type { RoutedExchange } from '../call/exchange.js';
import { RPM_ROW } from '../limits/limit-table.js';

/** Milliseconds with three decimals, without the cost of `toFixed`. */
const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

export const formatServerTiming = ({
  upstreamCall: { dispatchedAtPerfMs: dispatchedTick, respondedAtPerfMs: respondedTick },
  request: { startedAtPerfMs: startedTick },
}: RoutedExchange): string =>
  `\r\nserver-timing: gateway;dur=${roundMs(dispatchedTick - startedTick)}, upstream;dur=${roundMs(respondedTick - dispatchedTick)}`;

/** The bit of a provider's x-ratelimit header; 0 = another header. */
export function rateLimitHeaderBit(name: string): number {
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

/** Formats the rate-limit headers that the provider does not send itself. `theirs`: the bits of those that it sends. */
export function formatRateLimitHeaders({ admission: { result }, routed }: RoutedExchange, theirs: number): string {
  if (result === null) return '';
  let own = '';
  if ((theirs & 1) === 0) own += `\r\nx-ratelimit-limit: ${routed.context.agentLimits.byRow[RPM_ROW]}`;
  if ((theirs & 2) === 0) own += `\r\nx-ratelimit-remaining: ${result.rpmRemaining}`;
  if ((theirs & 4) === 0) own += `\r\nx-ratelimit-reset: ${result.rpmResetAtSec}`;
  return own;
}

/** Writes the head of a forwarded response: the provider's headers and the gateway's own. */

import type { RoutedExchange } from '../call/exchange.js';
import { RPM_ROW } from '../limits/limit-table.js';
import { statusLine } from '../rejection/rejections.js';
import type { ResponseHead } from '../upstream/filter-response-head.js';

/** Milliseconds with three decimals, without the cost of `toFixed`. */
const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

const formatServerTiming = ({
  upstreamCall: { dispatchedAtPerfMs: dispatchedTick, respondedAtPerfMs: respondedTick },
  request: { startedAtPerfMs: startedTick },
}: RoutedExchange): string =>
  `\r\nserver-timing: gateway;dur=${roundMs(dispatchedTick - startedTick)}, upstream;dur=${roundMs(respondedTick - dispatchedTick)}`;

/** The bit of a provider's x-ratelimit header; 0 = another header. */
function rateLimitHeaderBit(name: string): number {
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
function formatRateLimitHeaders({ admission: { result }, routed }: RoutedExchange, theirs: number): string {
  if (result === null) return '';
  let own = '';
  if ((theirs & 1) === 0) own += `\r\nx-ratelimit-limit: ${routed.context.agentLimits.byRow[RPM_ROW]}`;
  if ((theirs & 2) === 0) own += `\r\nx-ratelimit-remaining: ${result.rpmRemaining}`;
  if ((theirs & 4) === 0) own += `\r\nx-ratelimit-reset: ${result.rpmResetAtSec}`;
  return own;
}

/** `announcesClose`: says so where the connection closes after the response. */
export function writeForwardedHead(
  exchange: RoutedExchange,
  { headers, contentLength }: ResponseHead,
  isBodiless: boolean,
  announcesClose: boolean,
): void {
  const { res } = exchange;
  res.writeStatus(statusLine(exchange.upstreamCall.status));
  let own = `${exchange.request.id}${formatServerTiming(exchange)}`;
  const wouldReject = exchange.admission.result?.wouldReject ?? '';
  if (wouldReject !== '') own += `\r\nx-gateway-would-reject: ${wouldReject}`;
  let theirs = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1]!;
    if (name === 'date') continue; // the server writes its own
    if (name.startsWith('x-ratelimit-')) theirs |= rateLimitHeaderBit(name);
    if (typeof value === 'string') own += `\r\n${name}: ${value}`;
    else res.writeHeader(name, value);
  }
  own += formatRateLimitHeaders(exchange, theirs);
  if (isBodiless && contentLength >= 0 && exchange.upstreamCall.status !== 204)
    own += `\r\ncontent-length: ${contentLength}`;
  if (announcesClose && exchange.mustCloseConnection) own += '\r\nconnection: close';
  // One native call for all headers: the server joins name and value as they are. The values were checked.
  res.writeHeader('x-gateway-request-id', own);
}

/**
 * What follows when the connection of a call closes before its response: a new connection, and the request once more.
 * Every send is admitted: access is checked again, and the limits count the call once more. Its reservation is carried
 * over, and the request is built again, with the credential of the current context.
 */
import type { Rejection } from '../rejection/rejections.js';
import type { RoutedExchange } from './exchange.js';
import type { FailureHandler } from './failure-handler.js';
import { type Advance, CONNECT_AGAIN, DONE, type StageResult } from './pipeline.js';

/**
 * Sends the request of a forwarded call once more, over a new connection. Requires that `upstreamCall.repeatable` is set,
 * and that the relay has no response head. `onRejected` decides the response where the request may not be sent again, or
 * no connection could be made; it consumed nothing then.
 */
export type Resend = (exchange: RoutedExchange, onRejected: (rejection: Rejection) => void) => void;

/** `connectAgain`: continues with the first of the pipeline's sending stages. */
export const createResend =
  (connectAgain: Advance): Resend =>
  (exchange, onRejected) => {
    const { upstreamCall } = exchange;
    upstreamCall.operation = null;
    upstreamCall.connection = null;
    upstreamCall.onResendRejected = onRejected;
    connectAgain(exchange);
  };

/** The upstream closed two connections of the call while the store was asked. */
class ConnectionsClosedEarly extends Error {}

/**
 * The held connection has closed while the store was asked, before anything was sent. Replaces it once; the admission
 * stays valid for a short time (stages/admit.ts).
 */
export function replaceClosedConnection(
  exchange: RoutedExchange,
  failures: Pick<FailureHandler, 'settleAndRespondToConnectFailure'>,
): StageResult {
  const { admission, upstreamCall } = exchange;
  upstreamCall.heldConnection = null;
  if (admission.unusedSincePerfMs > 0) {
    failures.settleAndRespondToConnectFailure(exchange, new ConnectionsClosedEarly('closed before the request'));
    return DONE;
  }
  admission.unusedSincePerfMs = performance.now();
  return CONNECT_AGAIN;
}

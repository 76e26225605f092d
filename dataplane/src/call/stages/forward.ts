/** Sends the request upstream with a Relay as the handler of its response. */

import { isRepeatable } from '../../http1/http1-connection.js';
import type { UpstreamRequest } from '../../http1/upstream-request-interface.js';
import type { Counters } from '../../limits/counters-interface.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { ReservedStream } from '../../reservation/reserved-stream.js';
import { Relay, type RelayDeps } from '../../response/relay.js';
import { buildUpstreamRequest } from '../build-upstream-request.js';
import type { CallMetering } from '../call-metering-interface.js';
import type { FailureHandler } from '../failure-handler.js';
import { DONE, type RoutedStage, WAIT } from '../pipeline.js';
import { replaceClosedConnection } from '../resend.js';
import type { RejectedCredentials } from './rejected-credentials.js';
import { hasExpired } from './wait-for-credential.js';

export function createForwardStage(
  metering: Pick<
    CallMetering,
    'scanAndEditRequestBody' | 'createRequestScanner' | 'mustDropRangeHeaders' | 'maxCostNanos'
  >,
  counters: Pick<Counters, 'growReservation' | 'settle'>,
  support: RelayDeps,
  failures: Pick<FailureHandler, 'rejectOrRethrowDispatchError' | 'settleAndRespondToConnectFailure'>,
  rejectedCredentials: Pick<RejectedCredentials, 'guard'>,
): RoutedStage {
  return (exchange) => {
    if (exchange.access.revoked) {
      exchange.reject(REJECTIONS.accessRevoked); // while the store was asked
      return DONE;
    }
    if (hasExpired(exchange.routed.upstream)) {
      exchange.reject(REJECTIONS.credentialRefreshing); // while the call waited
      return DONE;
    }
    const { admission, upstreamCall } = exchange;
    const connection = upstreamCall.heldConnection!;
    if (!connection.isUsable) return replaceClosedConnection(exchange, failures);
    let call: UpstreamRequest;
    try {
      call = buildUpstreamRequest(exchange, metering);
    } catch (error) {
      failures.rejectOrRethrowDispatchError(exchange, error);
      return DONE;
    }
    const relay = new Relay(exchange, support);
    upstreamCall.heldConnection = null;
    upstreamCall.connection = connection;
    upstreamCall.operation = relay;
    upstreamCall.dispatchedAtPerfMs ||= performance.now() - upstreamCall.connectMs;
    upstreamCall.repeatable = connection.isKept && isRepeatable(call) ? { body: call.body as Buffer | null } : null;
    admission.unusedSincePerfMs = 0;
    try {
      const held = admission.reservedNanos > 0 && admission.reservedOutput !== null;
      const handler = held ? new ReservedStream(exchange, relay, counters, metering) : relay;
      connection.dispatch(call, rejectedCredentials.guard(exchange, call, handler));
    } catch (error) {
      connection.release();
      upstreamCall.connection = null;
      failures.rejectOrRethrowDispatchError(exchange, error);
      return DONE;
    }
    return WAIT;
  };
}

/** Sends the request upstream with a Relay as the handler of its response. */

import type { UpstreamRequest } from '../../http1/upstream-request-interface.js';
import type { Counters } from '../../limits/counters-interface.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { ReservedStream } from '../../reservation/reserved-stream.js';
import { Relay, type RelayDeps } from '../../response/relay.js';
import type { ConnectionPools } from '../../upstream/connections/connection-pools-per-origin-and-owner.js';
import { buildUpstreamRequest } from '../build-upstream-request.js';
import type { CallMetering } from '../call-metering-interface.js';
import { Phase } from '../exchange.js';
import type { FailureHandler } from '../failure-handler.js';
import { DONE, type RoutedStage, WAIT } from '../pipeline.js';

export function createForwardStage(
  pools: Pick<ConnectionPools, 'acquire'>,
  metering: Pick<
    CallMetering,
    'scanAndEditRequestBody' | 'createRequestScanner' | 'mustDropRangeHeaders' | 'maxCostNanos'
  >,
  counters: Pick<Counters, 'growReservation' | 'settle'>,
  support: RelayDeps,
  failures: Pick<FailureHandler, 'rejectOrRethrowDispatchError'>,
): RoutedStage {
  return (exchange) => {
    if (exchange.access.revoked) {
      exchange.reject(REJECTIONS.accessRevoked); // while the store was asked
      return DONE;
    }
    const { context, upstream } = exchange.routed;
    let call: UpstreamRequest;
    try {
      call = buildUpstreamRequest(exchange, metering);
    } catch (error) {
      failures.rejectOrRethrowDispatchError(exchange, error);
      return DONE;
    }
    const tenant = upstream.isTenantAddress ? context.orgId : null;
    const owner = upstream.isTenantAddress ? upstream.accountId : context.orgId;
    const connection = pools.acquire(upstream.origin, tenant, owner);
    const relay = new Relay(exchange, support);
    exchange.upstreamCall.connection = connection;
    exchange.upstreamCall.operation = relay;
    exchange.upstreamCall.dispatchedAtPerfMs = performance.now();
    try {
      const held = exchange.admission.reservedNanos > 0 && exchange.admission.reservedOutput !== null;
      connection.dispatch(call, held ? new ReservedStream(exchange, relay, counters, metering) : relay);
    } catch (error) {
      connection.release();
      exchange.upstreamCall.connection = null;
      failures.rejectOrRethrowDispatchError(exchange, error);
      return DONE;
    }
    // An upstream that cannot be reached may have finished the call within `dispatch`.
    if (!exchange.isFinished) exchange.advanceTo(Phase.FORWARDED);
    return WAIT;
  };
}

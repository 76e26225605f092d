/** Sends the request upstream with a Relay as the handler of its response. */

import type { UpstreamRequest } from '../../http1/upstream-request.js';
import type { Counters } from '../../limits/counters.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { ReservedStream } from '../../reservation/reserved-stream.js';
import { Relay, type RelayDeps } from '../../response/relay.js';
import type { ConnectionPools } from '../../upstream/connections/connection-pools.js';
import { buildUpstreamRequest } from '../build-upstream-request.js';
import type { CallMetering } from '../call-metering.js';
import type { FailureHandler } from '../failure-handler.js';
import { DONE, type RoutedStage, WAIT } from '../pipeline.js';

export function createForwardStage(
  pools: Pick<ConnectionPools, 'acquire'>,
  metering: Pick<CallMetering, 'prepareRequestBody' | 'createRequestScanner' | 'mustFetchWhole' | 'maxCostNanos'>,
  counters: Pick<Counters, 'growReservation' | 'settle'>,
  support: RelayDeps,
  failures: Pick<FailureHandler, 'onDispatchFailed'>,
): RoutedStage {
  return (x) => {
    if (x.revoked) {
      x.reject(REJECTIONS.accessRevoked); // while the store was asked
      return DONE;
    }
    const { context, upstream } = x.routed;
    let call: UpstreamRequest;
    try {
      call = buildUpstreamRequest(x, metering);
    } catch (error) {
      failures.onDispatchFailed(x, error);
      return DONE;
    }
    const tenant = upstream.isTenantAddress ? context.orgId : null;
    const owner = upstream.isTenantAddress ? upstream.accountId : context.orgId;
    const connection = pools.acquire(upstream.origin, tenant, owner);
    const relay = new Relay(x, support);
    x.connection = connection;
    x.upstreamOperation = relay;
    x.forwarded = true;
    x.dispatchedAtPerfMs = performance.now();
    try {
      const held = x.reservedNanos > 0 && x.reservedOutput !== null;
      connection.dispatch(call, held ? new ReservedStream(x, relay, counters, metering) : relay);
    } catch (error) {
      connection.release();
      x.connection = null;
      x.forwarded = false;
      failures.onDispatchFailed(x, error);
      return DONE;
    }
    return WAIT;
  };
}

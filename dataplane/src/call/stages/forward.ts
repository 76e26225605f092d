/** Sends the request upstream with a Relay as the handler of its response. */

import type { Counters } from '../../counters/counters.js';
import type { UpstreamCall } from '../../http1/upstream-call.js';
import type { UpstreamPools } from '../../upstream/pools.js';
import { buildCall } from '../build-call.js';
import type { CallMetering } from '../call-metering.js';
import type { Failures } from '../failures.js';
import { HeldStream } from '../held-stream.js';
import { DONE, type RoutedStage, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';
import { Relay, type RelaySupport } from '../relay.js';

export function createForward(
  pools: Pick<UpstreamPools, 'acquire'>,
  metering: Pick<CallMetering, 'request' | 'requestObserver' | 'fetchedWhole' | 'bound'>,
  counters: Pick<Counters, 'grow' | 'settle'>,
  support: RelaySupport,
  failures: Pick<Failures, 'notBegun'>,
): RoutedStage {
  return (x) => {
    if (x.revoked) {
      x.reject(REJECTIONS.accessRevoked); // while the store was asked
      return DONE;
    }
    const { context, upstream } = x.routed;
    let call: UpstreamCall;
    try {
      call = buildCall(x, metering);
    } catch (error) {
      failures.notBegun(x, error);
      return DONE;
    }
    const tenant = upstream.tenantAddress ? context.orgId : null;
    const owner = upstream.tenantAddress ? upstream.accountId : context.orgId;
    const connection = pools.acquire(upstream.origin, tenant, owner);
    const relay = new Relay(x, support);
    x.connection = connection;
    x.upstreamWork = relay;
    x.forwarded = true;
    x.dispatchedTick = performance.now();
    try {
      const held = x.holdNanos > 0 && x.heldOutput !== null;
      connection.dispatch(call, held ? new HeldStream(x, relay, counters, metering) : relay);
    } catch (error) {
      connection.release();
      x.connection = null;
      x.forwarded = false;
      failures.notBegun(x, error);
      return DONE;
    }
    return WAIT;
  };
}

/** Sends the request upstream with a Relay as the handler of its response. */

import { isInvalidRequest, type UpstreamPools } from '../../upstream/pools.js';
import { buildCall } from '../build-call.js';
import type { CallMetering } from '../call-metering.js';
import type { Exchange } from '../exchange.js';
import { DONE, type Stage, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';
import { Relay, type RelaySupport } from '../relay.js';

export function createForward(
  pools: Pick<UpstreamPools, 'acquire'>,
  metering: Pick<CallMetering, 'request' | 'requestObserver'>,
  support: RelaySupport,
): Stage {
  return (x: Exchange) => {
    const built = buildCall(x, metering);
    if (built.call === null) {
      x.reject(built.rejection);
      return DONE;
    }
    const upstream = x.upstream!;
    const { body } = built.call;
    const streamed = body !== null && !Buffer.isBuffer(body);
    const connection = pools.acquire(upstream.origin, upstream.tenantAddress, streamed);
    const relay = new Relay(x, support);
    x.connection = connection;
    x.relay = relay;
    x.forwarded = true;
    x.dispatchedTick = performance.now();
    try {
      connection.dispatch(built.call, relay);
    } catch (error) {
      connection.release();
      x.connection = null;
      x.forwarded = false;
      if (!isInvalidRequest(error)) throw error;
      x.reject(REJECTIONS.requestRefused);
      return DONE;
    }
    return WAIT;
  };
}

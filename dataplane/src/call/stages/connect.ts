/**
 * The stages that give the call a standing upstream connection, before the limits count it. Otherwise calls that were
 * counted in one minute would reach the provider in the next, after a dial of seconds. The connection is held until the
 * request is sent. Where it is not sent, the connection returns to its pool, also after the agent has disconnected.
 */
import { computeNeededReservation } from '../../reservation/compute-reservation.js';
import type { ConnectionPools } from '../../upstream/connections/connection-pools-per-origin-and-owner.js';
import { getCallLimits } from '../call-limits.js';
import type { CallMetering } from '../call-metering-interface.js';
import type { DialLimiter } from '../dial-limiter.js';
import type { RoutedExchange } from '../exchange.js';
import type { FailureHandler } from '../failure-handler.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';

export interface ConnectDeps {
  readonly pools: Pick<ConnectionPools, 'takeIdle' | 'create'>;
  readonly dialLimiter: Pick<DialLimiter, 'enter' | 'release'>;
  readonly metering: Pick<CallMetering, 'maxCostNanos'>;
  readonly failures: Pick<FailureHandler, 'settleAndRespondToConnectFailure'>;
}

/** The call waited too long for the dials of other calls of its agent. */
class DialWaitTimeout extends Error {
  readonly code = 'DIALS_BUSY';
}

/** Takes a kept connection. Where there is none, prechecks the limits and waits until the call may dial. */
export function createTakeConnectionStage(deps: ConnectDeps, advance: Advance): RoutedStage {
  const dialCallbacks = {
    onMayDial: advance,
    onTimedOut: (exchange: RoutedExchange) =>
      deps.failures.settleAndRespondToConnectFailure(exchange, new DialWaitTimeout('other calls dial for too long')),
  };
  return (exchange) => {
    if (takeIdleConnection(exchange, deps)) return NEXT;
    const reservationNanos = computeNeededReservation(exchange, deps.metering);
    if (typeof reservationNanos !== 'number') {
      exchange.reject(reservationNanos);
      return DONE;
    }
    exchange.access.needsRecheck = true;
    const limits = getCallLimits(exchange, deps.metering);
    // What the call has reserved for its first send is its own, or will be released.
    const missingNanos = Math.max(0, reservationNanos - exchange.admission.reservedNanos);
    deps.dialLimiter.enter(exchange, limits, missingNanos, dialCallbacks);
    return WAIT;
  };
}

/** Dials, unless a connection is held or has become idle meanwhile. */
export function createDialStage(deps: ConnectDeps, advance: Advance): RoutedStage {
  return (exchange) => {
    const { upstreamCall } = exchange;
    if (upstreamCall.heldConnection !== null || takeIdleConnection(exchange, deps)) return NEXT;
    const { origin, tenant, owner } = findPool(exchange);
    const connection = deps.pools.create(origin, tenant, owner, exchange.isWebSocket);
    const startedPerfMs = performance.now();
    upstreamCall.isDialing = true;
    connection.connect((error) => {
      upstreamCall.isDialing = false;
      upstreamCall.connectMs += performance.now() - startedPerfMs;
      if (error === null && !exchange.hasEnded) {
        upstreamCall.heldConnection = connection;
        advance(exchange);
        return;
      }
      if (error === null) connection.release(); // Before the next call of the lane looks for one.
      deps.dialLimiter.release(exchange);
      if (error !== null && !exchange.hasEnded) deps.failures.settleAndRespondToConnectFailure(exchange, error);
    });
    return WAIT;
  };
}

/** Returns whether the call holds a kept connection now. A second send never does: all kept ones may be stale. */
function takeIdleConnection(exchange: RoutedExchange, { pools }: Pick<ConnectDeps, 'pools'>): boolean {
  if (exchange.wasForwarded) return false;
  const { origin, tenant, owner } = findPool(exchange);
  exchange.upstreamCall.heldConnection = pools.takeIdle(origin, tenant, owner, exchange.isWebSocket);
  return exchange.upstreamCall.heldConnection !== null;
}

function findPool({ routed: { context, upstream } }: RoutedExchange) {
  const { origin, isTenantAddress, accountId } = upstream;
  return {
    origin,
    tenant: isTenantAddress ? context.orgId : null,
    owner: isTenantAddress ? accountId : context.orgId,
  };
}

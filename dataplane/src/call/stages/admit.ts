/**
 * Checks all limits in one atomic step, once for every send: a rejected call consumes nothing. With a hard budget, the
 * step also takes the call's reservation; a second send carries over the reservation of the first. The request must be
 * sent in the event-loop turn of the positive answer.
 */

import { WINDOW_MS } from '@acg/base/limit-definitions';
import type { Admission, Counters, ToolRate } from '../../limits/counters-interface.js';
import { DEFAULT_WINDOW_LENGTHS_MS } from '../../limits/limit-table.js';
import { findToolRate } from '../../mcp/tool-rate.js';
import { createLimitRejection } from '../../rejection/limit-rejection.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import { computeMissingReservation } from '../../reservation/compute-reservation.js';
import type { CallMetering } from '../call-metering-interface.js';
import type { DialLimiter } from '../dial-limiter.js';
import { Phase, type RoutedExchange } from '../exchange.js';
import { findCalledTool } from '../mcp-call.js';
import { type Advance, DONE, NEXT, type RoutedStage, type StageResult, WAIT } from '../pipeline.js';
import { releaseLateReservation } from '../settle.js';

/**
 * How long an admission stays valid while its closed connection is replaced: as long as the store's minute is longer
 * than a minute. A later send could be one too many in 60 s at the provider.
 */
const UNUSED_MS_MAX = DEFAULT_WINDOW_LENGTHS_MS.minute - WINDOW_MS.minute;

export function createAdmitStage(
  counters: Pick<Counters, 'admit' | 'settle'>,
  metering: Pick<CallMetering, 'maxCostNanos'>,
  dialLimiter: Pick<DialLimiter, 'release'>,
  advance: Advance,
): RoutedStage {
  const decide = (exchange: RoutedExchange, admission: Admission): StageResult => {
    const { agentLimits: limits } = exchange.routed.context;
    const rejection =
      admission.outcome === 'unchecked' && limits.rejectsUnchecked
        ? REJECTIONS.limitsUnavailable
        : createLimitRejection(admission, limits.byRow, Date.now(), rateOfTool(exchange));
    if (rejection !== null) {
      exchange.reject(rejection);
      return DONE;
    }
    exchange.admission.result = admission;
    if (admission.outcome === 'admitted') exchange.admission.reservedNanos += admission.reservationNanos;
    if (exchange.phase < Phase.ADMITTED) exchange.advanceTo(Phase.ADMITTED);
    return NEXT;
  };
  return (exchange) => {
    if (isStillAdmitted(exchange)) {
      dialLimiter.release(exchange);
      return NEXT;
    }
    const { context, upstream } = exchange.routed;
    const reservationNanos = computeMissingReservation(exchange, metering);
    if (typeof reservationNanos !== 'number') {
      exchange.reject(reservationNanos);
      return DONE;
    }
    let waiting = false;
    let result: StageResult = WAIT;
    counters.admit(
      {
        limits: context.agentLimits,
        providerSlug: upstream.providerSlug,
        reservationNanos,
        toolRate: rateOfTool(exchange),
      },
      (admission) => {
        if (!waiting) {
          result = decide(exchange, admission);
        } else if (!exchange.hasEnded) {
          if (decide(exchange, admission) === NEXT) advance(exchange);
        } else if (admission.outcome === 'admitted') {
          exchange.admission.result = admission;
          releaseLateReservation(counters, exchange, admission.reservationNanos);
        }
      },
    );
    waiting = true;
    // Only now: the precheck of the next call must come after this one in the store.
    dialLimiter.release(exchange);
    return result;
  };
}

const rateOfTool = (exchange: RoutedExchange): ToolRate | null =>
  findToolRate(exchange.routed.upstream.policy, findCalledTool(exchange.admission.mcp));

/** Nothing was sent under the last admission, because its connection had closed, and the next one stands soon enough. */
const isStillAdmitted = ({ admission: { unusedSincePerfMs } }: RoutedExchange): boolean =>
  unusedSincePerfMs > 0 && performance.now() - unusedSincePerfMs <= UNUSED_MS_MAX;

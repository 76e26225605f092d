/**
 * Waits until the request's body is either here whole or known to be too long, which then streams from its first bytes
 * on. A body that must be read before the call is allowed is here whole afterwards, or refused.
 */

import type { BufferedBodyMemory } from '../../concurrency/buffered-body-memory.js';
import type { Counters } from '../../limits/counters.js';
import type { RequestBody } from '../../listener/request-body.js';
import { precheckLimits } from '../../rejection/precheck-limits.js';
import { REJECTIONS } from '../../rejection/rejections.js';
import type { CallMetering } from '../call-metering.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';

interface BufferBodyDeps {
  readonly metering: Pick<CallMetering, 'bufferBytesWanted'>;
  readonly counters: Pick<Counters, 'peek'>;
  readonly bodyMemory: BufferedBodyMemory;
  readonly bufferedBodyBytesMax: number;
  /** Of a body that must be read before the call is allowed. */
  readonly readBodyBytesMax: number;
  readonly advance: Advance;
}

export function createBufferBodyStage(deps: BufferBodyDeps): RoutedStage {
  const look = (exchange: RoutedExchange): void => precheckLimitsWhileWaiting(exchange, deps.counters);
  return (exchange) => {
    const { body } = exchange;
    if (body === null) return NEXT;
    const says = exchange.request.contentLength;
    if (exchange.admission.bodyReader !== null && says > deps.readBodyBytesMax) {
      exchange.reject(REJECTIONS.bodyTooLarge);
      return DONE;
    }
    if (!body.isComplete || exchange.admission.bodyReader !== null) startBuffering(exchange, body, says, deps);
    if (body.isReady) return checkBufferedBody(exchange, body, deps) ? NEXT : DONE;
    exchange.access.needsRecheck = true;
    body.onReady = () => {
      body.onReady = null;
      if (!exchange.hasEnded && checkBufferedBody(exchange, body, deps)) deps.advance(exchange);
    };
    // Nearly every body comes in the same turn as its head, and needs no look of its own.
    setImmediate(look, exchange);
    return WAIT;
  };
}

function startBuffering(
  exchange: RoutedExchange,
  body: RequestBody,
  contentLength: number,
  deps: BufferBodyDeps,
): void {
  if (exchange.admission.bodyReader !== null) {
    body.bufferAndScan(deps.readBodyBytesMax, bodyMemoryFor(exchange, deps), exchange.admission.bodyReader);
    return;
  }
  const wanted = deps.metering.bufferBytesWanted(exchange);
  // A body that says it is longer than can be edited is not held back at all.
  if (wanted > deps.bufferedBodyBytesMax && contentLength <= wanted)
    body.bufferWhole(wanted, bodyMemoryFor(exchange, deps));
  else if (contentLength > deps.bufferedBodyBytesMax) body.streamFromFirstByte();
}

const bodyMemoryFor = (exchange: RoutedExchange, { bodyMemory: budget }: BufferBodyDeps) =>
  budget.forOrg(exchange.routed.context.orgId);

/** False: refused. */
function checkBufferedBody(exchange: RoutedExchange, body: RequestBody, { readBodyBytesMax }: BufferBodyDeps): boolean {
  if (exchange.admission.bodyReader === null) return true;
  const tooLarge = body.bytes > readBodyBytesMax;
  if (body.isComplete && !tooLarge) return true;
  exchange.reject(tooLarge ? REJECTIONS.bodyTooLarge : REJECTIONS.bodyMemoryFull);
  return false;
}

/** The body is not here yet: what is over its limits already need not send it. */
function precheckLimitsWhileWaiting(exchange: RoutedExchange, counters: Pick<Counters, 'peek'>): void {
  if (exchange.hasEnded || exchange.body!.isReady) return;
  const { context, upstream } = exchange.routed;
  counters.peek({ limits: context.agentLimits, providerSlugs: [upstream.providerSlug] }, (standing) => {
    if (standing === null || exchange.hasEnded || exchange.body!.isReady) return;
    const rejection = precheckLimits(standing, context.agentLimits.byRow, Date.now());
    if (rejection !== null) exchange.reject(rejection);
  });
}

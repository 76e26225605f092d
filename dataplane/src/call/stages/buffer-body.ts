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
  const look = (x: RoutedExchange): void => precheckLimitsWhileWaiting(x, deps.counters);
  return (x) => {
    const { body } = x;
    if (body === null) return NEXT;
    const says = x.request.contentLength;
    if (x.bodyReader !== null && says > deps.readBodyBytesMax) {
      x.reject(REJECTIONS.bodyTooLarge);
      return DONE;
    }
    if (!body.isComplete || x.bodyReader !== null) startBuffering(x, body, says, deps);
    if (body.isReady) return checkBufferedBody(x, body, deps) ? NEXT : DONE;
    x.needsRecheck = true;
    body.onReady = () => {
      body.onReady = null;
      if (!x.hasEnded && checkBufferedBody(x, body, deps)) deps.advance(x);
    };
    // Nearly every body comes in the same turn as its head, and needs no look of its own.
    setImmediate(look, x);
    return WAIT;
  };
}

function startBuffering(x: RoutedExchange, body: RequestBody, contentLength: number, deps: BufferBodyDeps): void {
  if (x.bodyReader !== null) {
    body.bufferAndScan(deps.readBodyBytesMax, bodyMemoryFor(x, deps), x.bodyReader);
    return;
  }
  const wanted = deps.metering.bufferBytesWanted(x);
  // A body that says it is longer than can be edited is not held back at all.
  if (wanted > deps.bufferedBodyBytesMax && contentLength <= wanted) body.bufferWhole(wanted, bodyMemoryFor(x, deps));
  else if (contentLength > deps.bufferedBodyBytesMax) body.streamFromFirstByte();
}

const bodyMemoryFor = (x: RoutedExchange, { bodyMemory: budget }: BufferBodyDeps) =>
  budget.forOrg(x.routed.context.orgId);

/** False: refused. */
function checkBufferedBody(x: RoutedExchange, body: RequestBody, { readBodyBytesMax }: BufferBodyDeps): boolean {
  if (x.bodyReader === null) return true;
  const tooLarge = body.bytes > readBodyBytesMax;
  if (body.isComplete && !tooLarge) return true;
  x.reject(tooLarge ? REJECTIONS.bodyTooLarge : REJECTIONS.bodyMemoryFull);
  return false;
}

/** The body is not here yet: what is over its limits already need not send it. */
function precheckLimitsWhileWaiting(x: RoutedExchange, counters: Pick<Counters, 'peek'>): void {
  if (x.hasEnded || x.body!.isReady) return;
  const { context, upstream } = x.routed;
  counters.peek({ limits: context.agentLimits, providerSlugs: [upstream.providerSlug] }, (standing) => {
    if (standing === null || x.hasEnded || x.body!.isReady) return;
    const rejection = precheckLimits(standing, context.agentLimits.byRow, Date.now());
    if (rejection !== null) x.reject(rejection);
  });
}

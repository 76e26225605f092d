/**
 * Waits until the request's body has arrived whole or is known to be too long; a long body streams from its first bytes
 * on. A body that must be read before the call is allowed has arrived whole afterwards, or the call is rejected.
 */

import type { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { bodyMemoryOf } from '../../concurrency/buffered-body-memory.js';
import type { Counters } from '../../limits/counters-interface.js';
import type { RequestBody } from '../../listener/buffered-or-streamed-request-body.js';
import { createMcpBodyTooLargeRejection } from '../../rejection/mcp-rejections.js';
import { precheckLimits } from '../../rejection/precheck-limits.js';
import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { limitsBeforeBody } from '../call-limits.js';
import type { CallMetering } from '../call-metering-interface.js';
import type { RoutedExchange } from '../exchange.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';

interface BufferBodyDeps {
  readonly metering: Pick<CallMetering, 'requestBytesToBufferForEdit'>;
  readonly counters: Pick<Counters, 'peek'>;
  readonly bodyMemory: DynamicShare;
  readonly bufferedBodyBytesMax: number;
  /** Maximum length of a body that must be read before the call is allowed, bytes. */
  readonly readBodyBytesMax: number;
  readonly advance: Advance;
}

export function createBufferBodyStage(deps: BufferBodyDeps): RoutedStage {
  const precheck = (exchange: RoutedExchange): void => precheckLimitsWhileWaiting(exchange, deps.counters);
  return (exchange) => {
    const { body } = exchange;
    if (body === null) return NEXT;
    const contentLength = exchange.request.contentLength;
    if (mustArriveWhole(exchange) && contentLength > deps.readBodyBytesMax) {
      exchange.reject(createTooLargeRejection(exchange));
      return DONE;
    }
    if (!body.isComplete || mustArriveWhole(exchange) || canReadModels(exchange, deps))
      bufferOrStreamBody(exchange, body, contentLength, deps);
    if (body.isReady) return checkBufferedBody(exchange, body, deps) ? NEXT : DONE;
    exchange.access.needsRecheck = true;
    body.onReady = () => {
      body.onReady = null;
      if (!exchange.hasEnded && checkBufferedBody(exchange, body, deps)) deps.advance(exchange);
    };
    // Nearly every body arrives in the same turn as its head and needs no precheck.
    setImmediate(precheck, exchange);
    return WAIT;
  };
}

function bufferOrStreamBody(
  exchange: RoutedExchange,
  body: RequestBody,
  contentLength: number,
  deps: BufferBodyDeps,
): void {
  const reader = exchange.admission.bodyReader ?? exchange.admission.mcp?.reader;
  if (reader != null && (mustArriveWhole(exchange) || canReadModels(exchange, deps))) {
    body.bufferAndScan(deps.readBodyBytesMax, bodyMemoryFor(exchange, deps), reader);
    return;
  }
  const wanted = exchange.admission.needsWholeBody
    ? deps.readBodyBytesMax
    : deps.metering.requestBytesToBufferForEdit(exchange);
  // A body whose declared length is too long to be edited streams at once.
  if (wanted > deps.bufferedBodyBytesMax && contentLength <= wanted)
    body.bufferWhole(wanted, bodyMemoryFor(exchange, deps));
  else if (contentLength > deps.bufferedBodyBytesMax) body.streamFromFirstByte();
}

/** Models decide which budgets count the call; a body that is too long for that streams. */
const canReadModels = ({ admission, request }: RoutedExchange, { readBodyBytesMax }: BufferBodyDeps): boolean =>
  admission.bodyReader !== null && request.contentLength <= readBodyBytesMax;

const mustArriveWhole = ({ admission }: RoutedExchange): boolean =>
  (admission.bodyReader !== null && admission.needsModels) ||
  admission.needsWholeBody ||
  (admission.mcp !== null && admission.mcp.reader !== null);

const createTooLargeRejection = ({ admission: { mcp } }: RoutedExchange): Rejection =>
  mcp === null ? REJECTIONS.bodyTooLarge : createMcpBodyTooLargeRejection(mcp.reader!.idText);

const bodyMemoryFor = (exchange: RoutedExchange, { bodyMemory }: BufferBodyDeps) =>
  bodyMemoryOf(bodyMemory, exchange.routed.context.orgId);

/** False: the exchange was rejected. */
function checkBufferedBody(exchange: RoutedExchange, body: RequestBody, { readBodyBytesMax }: BufferBodyDeps): boolean {
  if (!mustArriveWhole(exchange)) return true;
  const tooLarge = body.bytes > readBodyBytesMax;
  if (body.isComplete && !tooLarge) return true;
  exchange.reject(tooLarge ? createTooLargeRejection(exchange) : REJECTIONS.bodyMemoryFull);
  return false;
}

/** Rejects a call that is over its limits while its body is still arriving, so that the agent need not send it. */
function precheckLimitsWhileWaiting(exchange: RoutedExchange, counters: Pick<Counters, 'peek'>): void {
  if (exchange.hasEnded || exchange.body!.isReady) return;
  const { upstream } = exchange.routed;
  const limits = limitsBeforeBody(exchange);
  counters.peek({ limits, providerSlugs: [upstream.providerSlug] }, (snapshot) => {
    if (snapshot === null || exchange.hasEnded || exchange.body!.isReady) return;
    const rejection = precheckLimits(snapshot, limits);
    if (rejection !== null) exchange.reject(rejection);
  });
}

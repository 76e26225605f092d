/** What happens around a response: reading its head, and naming its failures. */

import type { Upstream } from '../context/agent-context.js';
import { BodyMask, maskPatterns } from '../upstream/mask.js';
import { classifyFailure, isInvalidRequest, type TransportFailure } from '../upstream/pools.js';
import { type ResponseHead, readResponseHead } from '../upstream/response-headers.js';
import { bodyRewrite, rewriteLocation } from '../upstream/rewrite.js';
import { DamagedBody } from './build-call.js';
import type { CallMetering } from './call-metering.js';
import type { Exchange } from './exchange.js';
import { REJECTIONS, type Rejection } from './rejections.js';
import type { BodyEdit, ResponsePlan } from './relay.js';

/** Enough to find a provider's throttling code in an error body (DESIGN §10). */
const FAILURE_HEAD_BYTES = 4096;
const STREAMED_MEDIA: ReadonlySet<string> = new Set([
  'text/event-stream',
  'application/stream+json',
  'application/x-ndjson',
  'application/vnd.amazon.eventstream',
]);

/** Made once per context and forgotten with it. */
const patternsOf = new WeakMap<Upstream, readonly Buffer[]>();

/** The byte patterns of an upstream's credential. */
export function maskPatternsOf(upstream: Upstream): readonly Buffer[] {
  let patterns = patternsOf.get(upstream);
  if (patterns === undefined) {
    patterns = maskPatterns(upstream.injection.secretForms);
    patternsOf.set(upstream, patterns);
  }
  return patterns;
}

function maskFor(upstream: Upstream): BodyMask | null {
  const patterns = maskPatternsOf(upstream);
  return patterns.length === 0 ? null : new BodyMask(patterns);
}

export function planResponse(
  x: Exchange,
  status: number,
  rawHeaders: readonly (Buffer | string)[],
  metering: Pick<CallMetering, 'response'>,
): ResponsePlan {
  const upstream = x.upstream!;
  const head = readResponseHead(rawHeaders, upstream.injection.secretForms);
  rewriteHeadLocation(head, upstream);
  x.streamed = STREAMED_MEDIA.has(head.mediaType);
  const exempt = upstream.failureExemptMarker !== null && upstream.failureStatuses.has(status);
  const edits: BodyEdit[] = [];
  let lengthChanges = false;
  const usageEdit = metering.response(x, head);
  if (usageEdit !== null) edits.push(usageEdit);
  const rewrite = bodyRewrite(upstream, x.target!.rest, head.mediaType, head.contentEncoding, proxyOrigin(x));
  if (rewrite !== null) edits.push(rewrite);
  lengthChanges = edits.length > 0;
  if (head.contentEncoding === '') {
    const mask = maskFor(upstream); // same length: content-length stands
    if (mask !== null) edits.push(mask);
  }
  return {
    head,
    edits: edits.length === 0 ? null : edits,
    lengthChanges,
    failureHeadBytes: exempt ? FAILURE_HEAD_BYTES : 0,
  };
}

function rewriteHeadLocation(head: ResponseHead, upstream: Upstream): void {
  if (head.locationAt === -1) return;
  const value = head.headers[head.locationAt]!;
  if (typeof value === 'string') head.headers[head.locationAt] = rewriteLocation(value, upstream);
}

/** How the agent reached the gateway. Only the front proxy knows about TLS; without one it is plain HTTP. */
function proxyOrigin(x: Exchange): string {
  const { headers, host } = x.request;
  let scheme = 'http';
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'x-forwarded-proto' && headers[i + 1] === 'https') scheme = 'https';
  }
  return `${scheme}://${host}`;
}

const FAILURES: Readonly<Record<TransportFailure, Rejection>> = {
  connect: REJECTIONS.upstreamUnreachable,
  reset: REJECTIONS.upstreamUnreachable,
  timeout: REJECTIONS.upstreamTimeout,
  egress_refused: REJECTIONS.egressRefused,
};

/** The upstream failed before its response head: sets the error class and returns the answer. */
export function failureAnswer(x: Exchange, error: Error): Rejection {
  // Nothing of a request that cannot be sent went out: the agent's fault, never the provider's.
  if (error instanceof DamagedBody || isInvalidRequest(error)) {
    x.errorClass = 'client_aborted';
    x.responseStatus = REJECTIONS.requestRefused.status;
    return REJECTIONS.requestRefused;
  }
  const failure = classifyFailure(error, x.sent);
  x.errorClass = failure;
  const rejection = FAILURES[failure];
  x.responseStatus = rejection.status;
  return rejection;
}

/** Error class of a response that broke off after its head. */
export const cutClass = (error: Error): string =>
  classifyFailure(error, true) === 'timeout' ? 'timeout' : 'upstream_cut';

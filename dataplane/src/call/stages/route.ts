/** Resolves the request target to the agent's provider account. */

import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { parsePresignedExpiryMs, planObjectRequest } from '../../s3/plan-object-request.js';
import { filterRequestHeaders } from '../../upstream/filter-request-headers.js';
import { isRequestLoop } from '../../upstream/loop-detection.js';
import { isPathAllowed, type ProxyTarget, parseProxyRequestTarget } from '../../upstream/parse-proxy-request-target.js';
import { type Exchange, Phase, type RouteResult } from '../exchange.js';
import { DONE, NEXT, type Stage } from '../pipeline.js';

/** Parses the target before authentication, so that an invalid target costs no lookup. */
export const parseRequestTarget: Stage = (exchange) => {
  const { rawPath, query } = exchange.request;
  const target = parseProxyRequestTarget(query === null ? rawPath : `${rawPath}?${query}`);
  if (typeof target === 'string') {
    exchange.reject(target === 'not_proxy' ? REJECTIONS.notFound : REJECTIONS.malformedTarget);
    return DONE;
  }
  exchange.access.target = target;
  return NEXT;
};

export const route: Stage = (exchange) => {
  const rejection = routeAndCheckUpstream(exchange);
  if (rejection === null) return NEXT;
  exchange.reject(rejection);
  return DONE;
};

/** Sets `routed`; null: found. Runs again when a newer context was loaded. */
export function routeAndCheckUpstream(exchange: Exchange): Rejection | null {
  const context = exchange.access.context!;
  const target = exchange.access.target!;
  const position = exchange.access.tokenPosition!;
  const { slug, shape } = target;
  const upstream = context.upstreams.get(slug);
  if (upstream === undefined) {
    return context.unassignedProviders.has(slug) ? REJECTIONS.notAssigned : REJECTIONS.unknownProvider;
  }
  const routed: RouteResult = { context, target, upstream, tokenPosition: position };
  exchange.routed = routed;
  if (exchange.phase < Phase.ROUTED) exchange.advanceTo(Phase.ROUTED);
  if (upstream.isTenantAddress && isRequestLoop(exchange.request.headers, upstream.accountId))
    return REJECTIONS.loopDetected;
  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
  const objectKeys = upstream.injection.kind === 'sigv4';
  if (objectKeys && position.form === 'presigned' && !isPresignedUrlUnexpired(exchange, target))
    return REJECTIONS.presignedUrlExpired;
  if (!isPathAllowed(shape, objectKeys, upstream.basePath)) return REJECTIONS.malformedTarget;
  return objectKeys ? planObjectStorageRequest(exchange, routed) : null;
}

function planObjectStorageRequest(
  exchange: Exchange,
  { target, upstream, tokenPosition: position }: RouteResult,
): Rejection | null {
  if (!isValidUtf8Path(target.providerPath)) return REJECTIONS.malformedTarget; // It cannot be signed.
  const headers = filterRequestHeaders(exchange.request.headers, position, upstream.injection);
  const plan = planObjectRequest(headers, target.query, position, exchange.body !== null);
  if (typeof plan === 'string') return REJECTIONS.requestNotForwardable;
  exchange.admission.objectRequest = plan;
  return null;
}

function isValidUtf8Path(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * True until the expiry that the presigned URL states. Its other signature parameters are not checked; the gateway
 * replaces them.
 */
function isPresignedUrlUnexpired(exchange: Exchange, target: ProxyTarget): boolean {
  const endMs = parsePresignedExpiryMs(target.query ?? '');
  return endMs !== null && exchange.request.startedAtMs < endMs;
}

/** Request target → the agent's account of that provider. */

import { REJECTIONS, type Rejection } from '../../rejection/rejections.js';
import { parsePresignedExpiryMs, planObjectRequest } from '../../s3/object-request.js';
import { isRequestLoop } from '../../upstream/loop-detection.js';
import { isPathAllowed, type ProxyTarget, parseProxyTarget } from '../../upstream/proxy-target.js';
import { filterRequestHeaders } from '../../upstream/request-headers.js';
import type { Exchange, RouteResult } from '../exchange.js';
import { DONE, NEXT, type Stage } from '../pipeline.js';

/** Reads the target before the token, so that nonsense costs no lookup. */
export const parseRequestTarget: Stage = (x) => {
  const { rawPath, query } = x.request;
  const target = parseProxyTarget(query === null ? rawPath : `${rawPath}?${query}`);
  if (typeof target === 'string') {
    x.reject(target === 'not_proxy' ? REJECTIONS.notFound : REJECTIONS.malformedTarget);
    return DONE;
  }
  x.target = target;
  return NEXT;
};

export const route: Stage = (x) => {
  const rejection = findUpstream(x);
  if (rejection === null) return NEXT;
  x.reject(rejection);
  return DONE;
};

/** Null: found. Again for a context that is newer than the one before. */
export function findUpstream(x: Exchange): Rejection | null {
  const context = x.context!;
  const target = x.target!;
  const position = x.position!;
  const { slug, shape } = target;
  const upstream = context.upstreams.get(slug);
  if (upstream === undefined) {
    return context.unassignedProviders.has(slug) ? REJECTIONS.notAssigned : REJECTIONS.unknownProvider;
  }
  const routed: RouteResult = { context, target, upstream, tokenPosition: position };
  x.routed = routed;
  if (upstream.isTenantAddress && isRequestLoop(x.request.headers, upstream.accountId)) return REJECTIONS.loopDetected;
  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
  const objectKeys = upstream.injection.kind === 'sigv4';
  if (objectKeys && position.form === 'presigned' && !isPresignedUrlValid(x, target))
    return REJECTIONS.presignedUrlExpired;
  if (!isPathAllowed(shape, objectKeys, upstream.basePath)) return REJECTIONS.malformedTarget;
  return objectKeys ? planObjectStorageRequest(x, routed) : null;
}

function planObjectStorageRequest(
  x: Exchange,
  { target, upstream, tokenPosition: position }: RouteResult,
): Rejection | null {
  if (!isValidUtf8Path(target.providerPath)) return REJECTIONS.malformedTarget; // cannot be signed
  const headers = filterRequestHeaders(x.request.headers, position, upstream.injection);
  const plan = planObjectRequest(headers, target.query, position, x.body !== null);
  if (typeof plan === 'string') return REJECTIONS.requestNotForwardable;
  x.objectRequest = plan;
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

/** A presigned URL ends when it says; its other signature parameters are worth nothing here and are replaced. */
function isPresignedUrlValid(x: Exchange, target: ProxyTarget): boolean {
  const endMs = parsePresignedExpiryMs(target.query ?? '');
  return endMs !== null && x.request.startedAtMs < endMs;
}

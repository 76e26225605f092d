/** Request target → the agent's account of that provider. */

import { planObjectRequest, presignedEndMs } from '../../s3/object-request.js';
import { isLoop } from '../../upstream/loop.js';
import { forwardedHeaders } from '../../upstream/request-headers.js';
import { type ProxyTarget, parseTarget, pathAllowed } from '../../upstream/target.js';
import type { Exchange, Routed } from '../exchange.js';
import { DONE, NEXT, type Stage } from '../pipeline.js';
import { REJECTIONS, type Rejection } from '../rejections.js';

/** Reads the target before the token, so that nonsense costs no lookup. */
export const parseRequestTarget: Stage = (x) => {
  const { rawPath, query } = x.request;
  const target = parseTarget(query === null ? rawPath : `${rawPath}?${query}`);
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
  const routed: Routed = { context, target, upstream, position };
  x.routed = routed;
  if (upstream.tenantAddress && isLoop(x.request.headers, upstream.accountId)) return REJECTIONS.loop;
  if (upstream.accountStatus !== 'active') return REJECTIONS.needsCredentials;
  const objectKeys = upstream.injection.kind === 'sigv4';
  if (objectKeys && position.form === 'presigned' && !presignedStands(x, target)) return REJECTIONS.presignedOver;
  if (!pathAllowed(shape, objectKeys, upstream.basePath)) return REJECTIONS.malformedTarget;
  return objectKeys ? planObject(x, routed) : null;
}

function planObject(x: Exchange, { target, upstream, position }: Routed): Rejection | null {
  if (!isUtf8(target.rest)) return REJECTIONS.malformedTarget; // cannot be signed
  const headers = forwardedHeaders(x.request.headers, position, upstream.injection);
  const plan = planObjectRequest(headers, target.query, position, x.body !== null);
  if (typeof plan === 'string') return REJECTIONS.requestRefused;
  x.objectRequest = plan;
  return null;
}

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A presigned URL ends when it says; its other signature parameters are worth nothing here and are replaced. */
function presignedStands(x: Exchange, target: ProxyTarget): boolean {
  const endMs = presignedEndMs(target.query ?? '');
  return endMs !== null && x.request.startedAtMs < endMs;
}
